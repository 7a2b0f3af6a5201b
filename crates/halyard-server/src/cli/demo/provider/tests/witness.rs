//! What a witness is told, and that it is told before the caller.

use std::sync::{Arc, Mutex};

use super::*;

fn charge(key: &str) -> Ask {
    post("/v1/charges", "amount=1200&currency=eur&customer=cus_ada").key(key)
}

#[tokio::test]
async fn every_deed_is_told_once_and_first() {
    let deeds = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&deeds);
    let behaviour = Behaviour {
        rate_limit_first: 1,
        retry_after_s: 7,
        hold_ms: HOUR_MS,
        hold_first: Some(1),
        ..Behaviour::default()
    };
    let behaviours = Behaviours::default()
        .customer("cus_ada", behaviour)
        .witness(move |deed| told.lock().unwrap().push(deed));
    let provider = start(behaviours).await;
    let address = provider.address();

    assert_eq!(charge("k1").reply(address).await.status, 429);
    // Its answer is held: the witness knows of the charge all the same.
    let held = charge("k1").send(address).await;
    until(&provider, |summary| summary.charges_succeeded == 1).await;
    assert!(charge("k1").reply(address).await.replayed());
    // The second charge is not held.
    assert_eq!(charge("k2").reply(address).await.status, 200);
    get("/v1/charges").reply(address).await;
    provider.release();
    read_reply(held).await;

    let deeds = deeds.lock().unwrap();
    let told: Vec<_> = deeds
        .iter()
        .map(|deed| (deed.status, deed.replayed, deed.hold_ms, deed.retry_after_s))
        .collect();
    let expected = [
        (429, false, 0, Some(7)),
        (200, false, HOUR_MS, None),
        (200, true, 0, None),
        (200, false, 0, None),
    ];
    assert_eq!(told, expected);
    assert!(deeds.iter().all(|deed| deed.customer.as_deref() == Some("cus_ada")));
    assert_eq!(deeds[1].body["amount"], 1200);
}
