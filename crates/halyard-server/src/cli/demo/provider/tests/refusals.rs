//! What is refused, with which of Stripe's codes.

use super::*;

#[tokio::test]
async fn parameters_out_of_rule_are_named() {
    let provider = start_with(Behaviour::default()).await;
    let address = provider.address();
    let long_key = format!("metadata[{}]=v", "k".repeat(41));
    let long_value = format!("metadata[k]={}", "v".repeat(501));
    let many_keys: Vec<String> = (0..51).map(|key| format!("metadata[k{key}]=v")).collect();
    let long_text = format!("description={}", "d".repeat(5_001));
    // Added to `currency=eur&source=tok_visa` or, with an amount in front, to a whole call.
    for (amount, extra, code, param) in [
        (None, "", "parameter_missing", "amount"),
        (Some("0"), "", "parameter_invalid_integer", "amount"),
        (Some("-5"), "", "parameter_invalid_integer", "amount"),
        (Some("19.99"), "", "parameter_invalid_integer", "amount"),
        (Some("1e3"), "", "parameter_invalid_integer", "amount"),
        (Some("%2B5"), "", "parameter_invalid_integer", "amount"),
        (Some("abc"), "", "parameter_invalid_integer", "amount"),
        (Some(""), "", "parameter_invalid_empty", "amount"),
        (Some("100000000"), "", "amount_too_large", "amount"),
        (Some("99999999999999999999999"), "", "amount_too_large", "amount"),
        (Some("5"), "currency=euro", "", "currency"),
        (Some("5"), "currency=e1r", "", "currency"),
        (Some("5"), "currency=", "parameter_invalid_empty", "currency"),
        (Some("5"), "colour=red", "parameter_unknown", "colour"),
        (Some("5"), "expand[]=customer", "parameter_unknown", "expand"),
        (Some("5"), "description=", "parameter_invalid_empty", "description"),
        (Some("5"), "description[a]=b", "", "description"),
        (Some("5"), &long_text, "", "description"),
        (Some("5"), "capture=false", "", "capture"),
        (Some("5"), "source=tok_nobody", "resource_missing", "source"),
        (Some("5"), "source=pm_card_visa", "resource_missing", "source"),
        (Some("5"), "customer=cus_nobody", "resource_missing", "customer"),
        (Some("5"), "metadata=text", "", "metadata"),
        (Some("5"), "metadata[a][b]=c", "", "metadata[a]"),
        (Some("5"), &long_key, "", &format!("metadata[{}]", "k".repeat(41))),
        (Some("5"), &long_value, "", "metadata[k]"),
        (Some("5"), &many_keys.join("&"), "", "metadata"),
        (Some("5"), "[odd=1", "", ""),
        (Some("5"), "amount[a]=1", "", ""),
    ] {
        let amount = amount.map(|amount| format!("&amount={amount}")).unwrap_or_default();
        let body = format!("currency=eur&source=tok_visa{amount}&{extra}");
        let reply = post("/v1/charges", &body).reply(address).await;
        assert_eq!(reply.status, 400, "{body}");
        assert_eq!(reply.error(), ("invalid_request_error", code, param), "{body}");
    }
    assert!(provider.charges().is_empty());
}

#[tokio::test]
async fn each_verb_has_its_own_parameters() {
    let provider = start(Behaviours::default()).await;
    let address = provider.address();
    for (target, body, code, param) in [
        ("/v1/charges", "amount=5&source=tok_visa", "parameter_missing", "currency"),
        ("/v1/charges", "amount=5&currency=eur", "parameter_missing", "source"),
        ("/v1/payment_intents", "amount=5&currency=eur&confirm=yes", "", "confirm"),
        (
            "/v1/payment_intents",
            "amount=5&currency=eur&capture_method=manual",
            "",
            "capture_method",
        ),
        (
            "/v1/payment_intents",
            "amount=5&currency=eur&source=tok_visa",
            "parameter_unknown",
            "source",
        ),
        (
            "/v1/payment_intents",
            "amount=5&currency=eur&payment_method=pm_x",
            "resource_missing",
            "payment_method",
        ),
        ("/v1/customers", "colour=red&size=1", "parameter_unknown", "colour"),
    ] {
        let reply = post(target, body).reply(address).await;
        assert_eq!(reply.status, 400, "{target} {body}");
        assert_eq!(reply.error(), ("invalid_request_error", code, param), "{target} {body}");
    }
    for (query, code, param) in [
        ("limit=0", "parameter_invalid_integer", "limit"),
        ("limit=101", "parameter_invalid_integer", "limit"),
        ("colour=red", "parameter_unknown", "colour"),
    ] {
        let reply = get(&format!("/v1/charges?{query}")).reply(address).await;
        assert_eq!((reply.status, reply.error().1, reply.error().2), (400, code, param), "{query}");
    }
    assert!(provider.charges().is_empty());
}

#[tokio::test]
async fn only_the_secret_key_opens() {
    let provider = start(Behaviours::default()).await;
    let address = provider.address();
    let good = format!("Bearer {SECRET_KEY_DEFAULT}");
    for (authorization, status) in [
        (None, 401),
        (Some("Bearer"), 401),
        (Some("Bearer sk_test_wrong"), 401),
        (Some("Basic c2tfdGVzdA=="), 401),
        (Some(&good[7..]), 401),
        (Some(good.as_str()), 200),
        (Some(&good.replace("Bearer", "bearer")), 200),
    ] {
        for ask in [get("/v1/charges"), post("/v1/customers", "name=Ada")] {
            let reply = ask.authorization(authorization).reply(address).await;
            assert_eq!(reply.status, status, "{authorization:?}");
            assert!(reply.header("request-id").unwrap().starts_with("req_"));
            assert_eq!(reply.header("stripe-version"), Some("2025-01-01"));
            if status == 401 {
                assert_eq!(reply.error().0, "invalid_request_error");
                assert!(!reply.text.contains(SECRET_KEY_DEFAULT));
            }
        }
    }
    assert_eq!(provider.summary().unauthorized, 10);
}

#[tokio::test]
async fn what_is_not_there_is_a_404() {
    let provider = start(Behaviours::default()).await;
    let address = provider.address();
    for (ask, code) in [
        (get("/v1/charges/ch_none"), "resource_missing"),
        (get("/v1/customers/cus_none"), "resource_missing"),
        (get("/v1/payment_intents/pi_none"), "resource_missing"),
        (post("/v1/payment_intents/pi_none/confirm", ""), "resource_missing"),
        (get("/v1/refunds"), ""),
        (get("/v1"), ""),
        (get("/"), ""),
        (post("/v1/charges/ch_none", ""), ""),
        (Ask { method: "DELETE", ..get("/v1/customers/cus_none") }, ""),
    ] {
        let reply = ask.reply(address).await;
        assert_eq!(reply.status, 404, "{ask:?}");
        assert_eq!(reply.error().0, "invalid_request_error", "{ask:?}");
        assert_eq!(reply.error().1, code, "{ask:?}");
    }
}

#[tokio::test]
async fn bodies_are_forms_of_bounded_size() {
    let provider = start(Behaviours::default()).await;
    let address = provider.address();
    let body = r#"{"amount":5,"currency":"eur","source":"tok_visa"}"#;
    assert_eq!(json("POST", "/v1/charges", body).reply(address).await.status, 400);
    let fields = "a=1&".repeat(1_001);
    assert_eq!(post("/v1/charges", &fields).reply(address).await.status, 400);
    let large = "d".repeat(65 * 1024);
    let large = post("/v1/charges", &format!("description={large}")).reply(address).await;
    assert_eq!((large.status, large.error().0), (413, "invalid_request_error"));
    assert!(provider.charges().is_empty());
}
