//! Charges, payment intents, customers and lists, as the official clients read them.

use super::*;

#[tokio::test]
async fn a_charge_pays_or_is_declined_by_its_card() {
    let provider = start(Behaviours::default()).await;
    let address = provider.address();
    let body = "amount=1900&currency=EUR&source=tok_visa&description=March&metadata[job]=j1\
                &metadata[empty]=";
    let paid = post("/v1/charges", body).reply(address).await;
    assert_eq!(paid.status, 200);
    let charge = &paid.body;
    assert_eq!(
        (charge["object"].as_str(), charge["status"].as_str()),
        (Some("charge"), Some("succeeded"))
    );
    assert_eq!((charge["amount"].as_u64(), charge["currency"].as_str()), (Some(1900), Some("eur")));
    assert_eq!(
        (charge["paid"].as_bool(), charge["description"].as_str()),
        (Some(true), Some("March"))
    );
    assert_eq!(charge["metadata"], serde_json::json!({ "job": "j1" }));
    assert_eq!(charge["source"]["last4"], "4242");
    let found = get(&format!("/v1/charges/{}", paid.id())).reply(address).await;
    assert_eq!((found.status, &found.body), (200, charge));

    for (token, code, reason) in [
        ("tok_chargeDeclined", "card_declined", "generic_decline"),
        ("tok_visa_chargeDeclined", "card_declined", "generic_decline"),
        ("tok_chargeDeclinedInsufficientFunds", "card_declined", "insufficient_funds"),
        ("tok_chargeDeclinedExpiredCard", "expired_card", "expired_card"),
        ("tok_chargeDeclinedProcessingError", "processing_error", "processing_error"),
    ] {
        let body = format!("amount=1900&currency=eur&source={token}");
        let refused = post("/v1/charges", &body).reply(address).await;
        assert_eq!((refused.status, refused.error()), (402, ("card_error", code, "")), "{token}");
        assert_eq!(refused.body["error"]["decline_code"], reason);
        assert!(refused.body["error"]["doc_url"].is_string());
        let id = refused.body["error"]["charge"].as_str().unwrap();
        let failed = get(&format!("/v1/charges/{id}")).reply(address).await;
        assert_eq!(
            (failed.body["status"].as_str(), failed.body["failure_code"].as_str()),
            (Some("failed"), Some(code))
        );
    }
    let summary = provider.summary();
    assert_eq!((summary.charges_succeeded, summary.charges_failed), (1, 5));
    let rows = get("/test/charges").reply(address).await;
    assert_eq!(rows.body.as_array().map(Vec::len), Some(6));
    assert_eq!(
        (rows.body[0]["status"].as_str(), rows.body[1]["status"].as_str()),
        (Some("succeeded"), Some("failed"))
    );
}

#[tokio::test]
async fn a_customer_pays_with_the_default_source() {
    let provider = start(Behaviours::default()).await;
    let address = provider.address();
    let body = "email=ada@example.com&name=Ada&source=tok_visa&metadata[plan]=pro";
    let ada = post("/v1/customers", body).reply(address).await;
    assert_eq!((ada.status, ada.body["object"].as_str()), (200, Some("customer")));
    assert_eq!(ada.body["metadata"]["plan"], "pro");
    let card = ada.body["default_source"].as_str().unwrap();
    let found = get(&format!("/v1/customers/{}", ada.id())).reply(address).await;
    assert_eq!(found.body, ada.body);

    let with = |extra: &str| format!("amount=100&currency=eur&customer={}{extra}", ada.id());
    for extra in [String::new(), format!("&source={card}")] {
        let paid = post("/v1/charges", &with(&extra)).reply(address).await;
        assert_eq!((paid.status, paid.body["customer"].as_str()), (200, Some(ada.id().as_str())));
        assert_eq!(paid.body["source"]["id"], card);
    }
    let foreign = post("/v1/charges", &with("&source=tok_visa")).reply(address).await;
    assert_eq!((foreign.status, foreign.error().1), (400, "missing"));
    let intent = post("/v1/payment_intents", &with("&confirm=true")).reply(address).await;
    assert_eq!((intent.status, intent.body["status"].as_str()), (200, Some("succeeded")));

    let nothing = post("/v1/customers", "name=Nothing").reply(address).await;
    let body = format!("amount=100&currency=eur&customer={}", nothing.id());
    let unpaid = post("/v1/charges", &body).reply(address).await;
    assert_eq!((unpaid.status, unpaid.error().0), (402, "card_error"));
    let failing = post("/v1/customers", "source=tok_chargeCustomerFail").reply(address).await;
    let body = format!("amount=100&currency=eur&customer={}", failing.id());
    assert_eq!(post("/v1/charges", &body).reply(address).await.error().1, "card_declined");
    assert_eq!(provider.summary().customers[&ada.id()].amount_succeeded, 300);
}

#[tokio::test]
async fn a_payment_intent_is_tried_until_it_pays() {
    let provider = start(Behaviours::default()).await;
    let address = provider.address();
    let body = "amount=1900&currency=eur&payment_method_types[]=card";
    let created = post("/v1/payment_intents", body).reply(address).await;
    assert_eq!(created.body["status"], "requires_payment_method");
    let one = format!("/v1/payment_intents/{}", created.id());
    let confirm = format!("{one}/confirm");

    let bare = post(&confirm, "").reply(address).await;
    assert_eq!((bare.status, bare.error().1), (400, "payment_intent_unexpected_state"));
    let declined =
        post(&confirm, "payment_method=pm_card_visa_chargeDeclined").reply(address).await;
    assert_eq!((declined.status, declined.error().1), (402, "card_declined"));
    let inside = &declined.body["error"]["payment_intent"];
    assert_eq!(
        (inside["id"].as_str(), inside["status"].as_str()),
        (Some(created.id().as_str()), Some("requires_payment_method"))
    );
    let after = get(&one).reply(address).await;
    assert_eq!(after.body["last_payment_error"]["code"], "card_declined");

    let paid = post(&confirm, "payment_method=pm_card_visa&off_session=true").reply(address).await;
    assert_eq!((paid.status, paid.body["status"].as_str()), (200, Some("succeeded")));
    assert_eq!(paid.body["amount_received"], 1900);
    let charge = format!("/v1/charges/{}", paid.body["latest_charge"].as_str().unwrap());
    assert_eq!(get(&charge).reply(address).await.body["payment_intent"], created.id());
    let again = post(&confirm, "payment_method=pm_card_visa").reply(address).await;
    assert_eq!((again.status, again.error().1), (400, "payment_intent_unexpected_state"));
    assert_eq!((provider.summary().charges_succeeded, provider.summary().charges_failed), (1, 1));

    let ready = "amount=5&currency=eur&payment_method=pm_card_visa";
    let ready = post("/v1/payment_intents", ready).reply(address).await;
    assert_eq!(ready.body["status"], "requires_confirmation");
    let ready = post(&format!("/v1/payment_intents/{}/confirm", ready.id()), "");
    assert_eq!(ready.reply(address).await.body["status"], "succeeded");
    let bare = "amount=5&currency=eur&confirm=true";
    let bare = post("/v1/payment_intents", bare).reply(address).await;
    assert_eq!((bare.status, bare.error().1), (400, "parameter_missing"));
}

#[tokio::test]
async fn lists_go_from_new_to_old_page_by_page() {
    let provider = start_with(Behaviour::default()).await;
    let address = provider.address();
    for amount in 1..=12 {
        let who = if amount % 2 == 0 { "customer=cus_ada" } else { "source=tok_visa" };
        let body = format!("amount={amount}&currency=eur&{who}");
        assert_eq!(post("/v1/charges", &body).reply(address).await.status, 200);
    }
    let amounts = |reply: &Reply| -> Vec<u64> {
        let data = reply.body["data"].as_array().unwrap();
        data.iter().map(|charge| charge["amount"].as_u64().unwrap()).collect()
    };
    let default = get("/v1/charges").reply(address).await;
    assert_eq!(
        (amounts(&default), default.body["has_more"].as_bool()),
        ((3..=12).rev().collect(), Some(true))
    );
    assert_eq!(
        (default.body["object"].as_str(), default.body["url"].as_str()),
        (Some("list"), Some("/v1/charges"))
    );
    let mut seen = Vec::new();
    let mut target = "/v1/charges?limit=5".to_owned();
    loop {
        let page = get(&target).reply(address).await;
        seen.extend(amounts(&page));
        if page.body["has_more"] == false {
            break;
        }
        let last = page.body["data"].as_array().unwrap().last().unwrap()["id"].as_str().unwrap();
        target = format!("/v1/charges?limit=5&starting_after={last}");
    }
    assert_eq!(seen, (1..=12).rev().collect::<Vec<_>>());
    let ada = get("/v1/charges?customer=cus_ada&limit=6").reply(address).await;
    assert_eq!(
        (amounts(&ada), ada.body["has_more"].as_bool()),
        (vec![12, 10, 8, 6, 4, 2], Some(false))
    );
    let lost = get("/v1/charges?starting_after=ch_none").reply(address).await;
    assert_eq!((lost.status, lost.error().2), (400, "starting_after"));

    post("/v1/customers", "email=b@example.com").reply(address).await;
    for (target, count) in [
        ("/v1/customers", 2),
        ("/v1/customers?email=b%40example.com", 1),
        ("/v1/payment_intents", 0),
    ] {
        let list = get(target).reply(address).await;
        assert_eq!(list.body["data"].as_array().map(Vec::len), Some(count), "{target}");
    }
}

#[tokio::test]
async fn a_script_can_change_while_the_provider_runs() {
    let provider = start(Behaviours::default()).await;
    let address = provider.address();
    let ask = post("/v1/charges", "amount=5&currency=eur&customer=cus_bo");
    assert_eq!(ask.reply(address).await.status, 400);
    let put = |body| json("PUT", "/test/customers/cus_bo", body);
    assert_eq!(put(r#"{"decline":"insufficient_funds"}"#).reply(address).await.status, 200);
    let declined = ask.reply(address).await;
    assert_eq!((declined.status, declined.error().1), (402, "card_declined"));
    assert_eq!(put("{}").reply(address).await.status, 200);
    assert_eq!(ask.reply(address).await.status, 200);
    assert_eq!(put(r#"{"declined":true}"#).reply(address).await.status, 422);
    let bo = &get("/test/summary").reply(address).await.body["customers"]["cus_bo"];
    assert_eq!(
        (bo["charges_succeeded"].as_u64(), bo["charges_failed"].as_u64()),
        (Some(1), Some(1))
    );
}

#[tokio::test]
async fn stopping_answers_what_is_under_way() {
    let slow = Behaviour { work_ms: HOUR_MS, hold_ms: HOUR_MS, ..Behaviour::default() };
    let provider = start_with(slow).await;
    let address = provider.address();
    let _unused = TcpStream::connect(address).await.unwrap();
    let body = "amount=5&currency=eur&customer=cus_ada";
    let under_way = post("/v1/charges", body).send(address).await;
    until(&provider, |summary| summary.under_way == 1).await;
    let stopped = tokio::time::timeout(DEADLINE, provider.stop()).await;
    assert!(matches!(stopped, Ok(Ok(()))), "{stopped:?}");
    assert_eq!(read_reply(under_way).await.status, 200);
    assert!(TcpStream::connect(address).await.is_err());
}
