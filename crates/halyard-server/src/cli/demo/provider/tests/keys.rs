//! `Idempotency-Key`: what is replayed, what is refused, and what leaves the key free.

use super::*;

const ADA: &str = "amount=1900&currency=eur&customer=cus_ada&metadata[job]=j1";

fn charge(key: &str) -> Ask {
    post("/v1/charges", ADA).key(key)
}

#[track_caller]
fn check_replay(first: &Reply, second: &Reply) {
    assert!(!first.replayed(), "{first:?}");
    assert!(second.replayed(), "{second:?}");
    assert_eq!((first.status, &first.text), (second.status, &second.text));
    assert_eq!(second.header("original-request"), first.header("request-id"));
    assert_ne!(second.header("request-id"), first.header("request-id"));
}

#[tokio::test]
async fn a_repeat_is_replayed_and_charges_nothing() {
    let provider = start_with(Behaviour::default()).await;
    let address = provider.address();
    let first = charge("k1").reply(address).await;
    assert_eq!((first.status, first.header("idempotency-key")), (200, Some("k1")));
    // The same parameters in another order are the same call.
    let shuffled = "metadata[job]=j1&customer=cus_ada&currency=eur&amount=1900";
    check_replay(&first, &post("/v1/charges", shuffled).key("k1").reply(address).await);
    check_replay(&first, &charge("k1").reply(address).await);
    let other = charge("k2").reply(address).await;
    assert_ne!(other.id(), first.id());
    let unkeyed = post("/v1/charges", ADA).reply(address).await;
    assert_ne!(unkeyed.id(), first.id());
    let summary = provider.summary();
    assert_eq!((summary.calls, summary.replays, summary.charges_succeeded), (5, 2, 3));
    let ada = &summary.customers["cus_ada"];
    assert_eq!(
        (ada.calls, ada.replays, ada.charges_succeeded, ada.amount_succeeded),
        (5, 2, 3, 5700)
    );
    let keys: Vec<_> = provider.charges().into_iter().map(|row| row.idempotency_key).collect();
    assert_eq!(keys, [Some("k1".to_owned()), Some("k2".to_owned()), None]);
}

#[tokio::test]
async fn a_key_belongs_to_one_call() {
    let provider = start_with(Behaviour::default()).await;
    let address = provider.address();
    let first = charge("k1").reply(address).await;
    let others = [
        post("/v1/charges", "amount=2000&currency=eur&customer=cus_ada&metadata[job]=j1"),
        post("/v1/charges", "amount=1900&currency=eur&customer=cus_ada&metadata[job]=j2"),
        post("/v1/charges", "amount=1900&currency=eur&customer=cus_ada"),
        post("/v1/charges", "nonsense=1"),
        post("/v1/payment_intents", ADA),
    ];
    for other in others {
        let reply = other.clone().key("k1").reply(address).await;
        assert_eq!(reply.status, 400, "{other:?}");
        assert_eq!(reply.error().0, "idempotency_error", "{other:?}");
        assert!(!reply.replayed());
    }
    assert_eq!((provider.summary().charges_succeeded, provider.summary().key_reused), (1, 5));
    check_replay(&first, &charge("k1").reply(address).await);
    for key in ["", &"k".repeat(256)] {
        assert_eq!(charge(key).reply(address).await.error().0, "invalid_request_error");
    }
    assert_eq!(charge(&"k".repeat(255)).reply(address).await.status, 200);
}

#[tokio::test]
async fn a_record_lasts_a_day() {
    let provider = start_with(Behaviour::default()).await;
    let address = provider.address();
    let first = charge("k1").reply(address).await;
    // A minute short of a day, so that the test's own run time does not matter.
    let ahead = format!("{{\"advance_ms\":{}}}", super::super::keys::KEPT_MS - 60_000);
    json("POST", "/test/clock", &ahead).reply(address).await;
    check_replay(&first, &charge("k1").reply(address).await);
    json("POST", "/test/clock", r#"{"advance_ms":60000}"#).reply(address).await;
    let anew = charge("k1").reply(address).await;
    assert!(!anew.replayed());
    assert_ne!(anew.id(), first.id());
    check_replay(&anew, &charge("k1").reply(address).await);
}

#[tokio::test]
async fn a_key_is_in_use_while_the_first_call_is_under_way() {
    let provider = start_with(Behaviour { work_ms: HOUR_MS, ..Behaviour::default() }).await;
    let address = provider.address();
    let first = charge("k1").send(address).await;
    until(&provider, |summary| summary.under_way == 1).await;
    for _ in 0..3 {
        let meanwhile = charge("k1").reply(address).await;
        assert_eq!(meanwhile.status, 409);
        assert_eq!(meanwhile.error(), ("idempotency_error", "idempotency_key_in_use", ""));
    }
    let changed = post("/v1/charges", "amount=1&currency=eur&customer=cus_ada").key("k1");
    assert_eq!(changed.reply(address).await.status, 400);
    assert_eq!(provider.summary().charges_succeeded, 0);
    json("POST", "/test/release", "").reply(address).await;
    let first = read_reply(first).await;
    assert_eq!(first.status, 200);
    check_replay(&first, &charge("k1").reply(address).await);
    let summary = provider.summary();
    assert_eq!((summary.charges_succeeded, summary.key_in_use, summary.under_way), (1, 3, 0));
}

#[tokio::test]
async fn of_many_at_once_one_charges() {
    let provider = start_with(Behaviour::default()).await;
    let address = provider.address();
    let calls: Vec<_> =
        (0..50).map(|_| tokio::spawn(async move { charge("k1").reply(address).await })).collect();
    let mut first = 0;
    for call in calls {
        let reply = call.await.unwrap();
        assert!(matches!(reply.status, 200 | 409), "{reply:?}");
        first += u32::from(reply.status == 200 && !reply.replayed());
    }
    assert_eq!((first, provider.summary().charges_succeeded), (1, 1));
}

#[tokio::test]
async fn a_held_answer_is_replayed_at_once() {
    let provider = start_with(Behaviour { hold_ms: HOUR_MS, ..Behaviour::default() }).await;
    let address = provider.address();
    let first = charge("k1").send(address).await;
    until(&provider, |summary| summary.charges_succeeded == 1).await;
    let second = charge("k1").reply(address).await;
    assert!(second.replayed());
    provider.release();
    check_replay(&read_reply(first).await, &second);
    assert_eq!(provider.summary().charges_succeeded, 1);
}

#[tokio::test]
async fn a_client_that_hangs_up_is_charged_all_the_same() {
    let provider = start_with(Behaviour { work_ms: HOUR_MS, ..Behaviour::default() }).await;
    let address = provider.address();
    let mut gone = charge("k1").send(address).await;
    until(&provider, |summary| summary.under_way == 1).await;
    gone.shutdown().await.unwrap();
    // The server closes its side when it gives the connection up, and the handler with it.
    let mut nothing = Vec::new();
    gone.read_to_end(&mut nothing).await.unwrap();
    assert_eq!(nothing, b"");
    assert_eq!(charge("k1").reply(address).await.status, 409);
    provider.release();
    until(&provider, |summary| summary.charges_succeeded == 1).await;
    let repeat = charge("k1").reply(address).await;
    assert_eq!((repeat.status, repeat.replayed()), (200, true));
    assert_eq!(provider.summary().charges_succeeded, 1);
}

#[tokio::test]
async fn a_decline_is_replayed() {
    let provider = start_with(Behaviour::default()).await;
    let address = provider.address();
    let calls = [
        ("/v1/charges", "amount=5&currency=eur&source=tok_chargeDeclined"),
        (
            "/v1/payment_intents",
            "amount=5&currency=eur&confirm=true&payment_method=pm_card_chargeDeclined",
        ),
        ("/v1/customers", "source=tok_chargeDeclined"),
    ];
    for (target, body) in calls {
        let ask = post(target, body).key(target);
        let first = ask.reply(address).await;
        assert_eq!((first.status, first.error().1), (402, "card_declined"));
        check_replay(&first, &ask.reply(address).await);
    }
    assert_eq!(provider.summary().charges_failed, 2);
}

#[tokio::test]
async fn a_500_is_replayed_if_it_was_recorded() {
    for error_recorded in [true, false] {
        let once = Behaviour { error_first: 1, error_recorded, ..Behaviour::default() };
        let provider = start_with(once).await;
        let address = provider.address();
        let first = charge("k1").reply(address).await;
        assert_eq!((first.status, first.error().0), (500, "api_error"));
        let second = charge("k1").reply(address).await;
        if error_recorded {
            check_replay(&first, &second);
            assert_eq!(charge("k2").reply(address).await.status, 200);
        } else {
            assert_eq!((second.status, second.replayed()), (200, false));
        }
        assert_eq!(provider.summary().charges_succeeded, 1);
    }
}

#[tokio::test]
async fn refusals_before_the_endpoint_ran_leave_the_key_free() {
    let limited = Behaviour { rate_limit_first: 2, retry_after_s: 7, ..Behaviour::default() };
    let provider = start_with(limited).await;
    let address = provider.address();
    let wrong_key = charge("k1").authorization(Some("Bearer sk_test_wrong"));
    assert_eq!(wrong_key.reply(address).await.status, 401);
    for body in [
        "amount=0&currency=eur&source=tok_visa",
        "currency=eur&source=tok_visa",
        "amount=1900&currency=eur&source=tok_visa&colour=red",
        "amount=1900&currency=eur&source=tok_nobody",
        "amount=1900&currency=eur&customer=cus_nobody",
    ] {
        assert_eq!(post("/v1/charges", body).key("k1").reply(address).await.status, 400, "{body}");
    }
    let lost = post("/v1/payment_intents/pi_none/confirm", "").key("k1").reply(address).await;
    assert_eq!(lost.status, 404);
    for _ in 0..2 {
        let limited = charge("k1").reply(address).await;
        assert_eq!((limited.status, limited.header("retry-after")), (429, Some("7")));
        assert_eq!(limited.error().1, "rate_limit");
    }
    let first = charge("k1").reply(address).await;
    assert_eq!((first.status, first.replayed()), (200, false));
    check_replay(&first, &charge("k1").reply(address).await);
    let summary = provider.summary();
    assert_eq!((summary.rate_limited, summary.unauthorized, summary.charges_succeeded), (2, 1, 1));
}
