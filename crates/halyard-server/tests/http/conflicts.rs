//! What is refused because of what is there already: states, keys, ids, items of a batch.

use serde_json::{Value, json};

use crate::refusals::{check, pointers};
use crate::served::Served;

#[tokio::test]
async fn states_that_do_not_allow_it() {
    let served = Served::start().await;
    let id = served.create(json!({"task": "t"})).await;
    let at = |action: &str| format!("/v1/jobs/{id}/{action}");
    let retry = || async { served.post(&at("retry"), json!({})).await };
    check(&retry().await, 409, "job_not_retryable", &["queued"]);
    let (_, token) = served.claim().await;
    check(&retry().await, 409, "job_running", &[]);
    let delete = served.call("DELETE", &format!("/v1/jobs/{id}"), Value::Null).await;
    check(&delete, 409, "job_running", &[]);

    let save = |token: &str, value: Value| {
        let body = json!({"token": token, "name": "n", "value": value});
        async { served.post(&at("checkpoints"), body).await }
    };
    assert_eq!(save(&token, json!(1)).await.status, 201);
    assert_eq!(save(&token, json!(1.0)).await.status, 200);
    let reply = save(&token, json!(2)).await;
    check(&reply, 409, "checkpoint_conflict", &["n"]);
    assert_eq!(reply.json["checkpoint"]["value"], 1);
    check(&save(&"0".repeat(32), json!(1)).await, 409, "lease_lost", &[]);
    check(&save("nonsense", json!(1)).await, 409, "lease_lost", &[]);

    served.finish(&id, &token, json!({"outcome": "completed", "result": 7})).await;
    check(&retry().await, 409, "job_not_retryable", &["completed", "allow_completed"]);
    for action in ["cancel", "run-now"] {
        check(&served.post(&at(action), json!({})).await, 409, "job_finished", &["completed"]);
    }
    let allowed = |life: i64| json!({"allow_completed": true, "life": life});
    check(&served.post(&at("retry"), allowed(2)).await, 400, "invalid_field", &["life", "1"]);
    check(&served.post(&at("retry"), allowed(0)).await, 400, "invalid_field", &["life", "0"]);
    let from = json!({"allow_completed": true, "from": "x"});
    check(&served.post(&at("retry"), from).await, 400, "invalid_field", &["from", "\"x\""]);
    let both = json!({"from": "n", "fresh": true});
    check(&served.post(&at("retry"), both).await, 400, "invalid_field", &["from", "fresh"]);
    assert_eq!(served.post(&at("retry"), allowed(1)).await.json["repeated"], false);
    assert_eq!(served.post(&at("retry"), allowed(1)).await.json["repeated"], true);
}

#[tokio::test]
async fn keys_and_ids_that_stand_for_something_else() {
    let served = Served::start().await;
    let create = |payload: Value, if_failed: &str| {
        let body = json!({"task": "t", "idempotency_key": "k", "payload": payload,
            "if_failed": if_failed});
        served.post("/v1/jobs", body)
    };
    let first = create(json!({"a": 1, "b": [1, 2]}), "return").await;
    let id = first.json["id"].as_str().unwrap();
    let reply = create(json!({"a": 2, "b": [1, 3]}), "return").await;
    check(&reply, 422, "idempotency_key_reused", &[id, "/a"]);
    assert_eq!(reply.json["job_id"], id);
    assert_eq!(reply.json["changed"], json!(["/a", "/b/1"]));

    served.post(&format!("/v1/jobs/{id}/cancel"), json!({})).await;
    let heir = create(json!({"a": 2}), "replace").await;
    assert_eq!(heir.status, 201, "{heir:?}");
    let reply = served.post(&format!("/v1/jobs/{id}/retry"), json!({})).await;
    check(&reply, 409, "idempotency_key_taken", &[heir.json["id"].as_str().unwrap()]);

    let again = |task: &str| served.post("/v1/jobs", json!({"task": task, "id": id}));
    check(&again("other").await, 409, "id_taken", &[id, "task"]);

    let keyed = |body: Value| async {
        served.call_with("POST", "/v1/jobs", &[("Idempotency-Key", "\"r1\"")], body).await
    };
    let made = keyed(json!({"task": "t"})).await;
    assert_eq!((made.status, made.header("idempotent-replayed")), (201, Some("false")));
    let same = keyed(json!({ "task": "t" })).await;
    assert_eq!((same.status, same.header("idempotent-replayed")), (200, Some("true")));
    assert_eq!(same.json["id"], made.json["id"]);
    let reply = keyed(json!({"task": "u"})).await;
    check(&reply, 422, "idempotency_key_reused", &["Idempotency-Key"]);
    assert_eq!(reply.json["job_id"], made.json["id"]);
}

#[tokio::test]
async fn a_known_id_drops_no_key() {
    let served = Served::start().await;
    let create = |id: Option<&str>, key: Option<&str>| {
        let body = json!({"task": "t", "id": id, "idempotency_key": key});
        served.post("/v1/jobs", body)
    };
    let bare = create(None, None).await;
    let bare_id = bare.json["id"].as_str().unwrap();
    let reply = create(Some(bare_id), Some("k")).await;
    check(&reply, 409, "id_taken", &[bare_id, "made without an idempotency key"]);
    assert_eq!(reply.json["job_id"], bare_id);

    let keyed = create(None, Some("k")).await;
    assert_eq!(keyed.status, 201, "the refused create took no key");
    let keyed_id = keyed.json["id"].as_str().unwrap();
    let reply = create(Some(keyed_id), Some("l")).await;
    check(&reply, 409, "id_taken", &[keyed_id, "made with another idempotency key"]);
    assert_eq!(create(Some(keyed_id), None).await.status, 200);

    let freed =
        served.call("DELETE", &format!("/v1/jobs/{keyed_id}/idempotency-key"), Value::Null).await;
    assert_eq!(freed.status, 204, "{freed:?}");
    let repeat = create(Some(keyed_id), Some("k")).await;
    assert_eq!((repeat.status, &repeat.json["id"]), (200, &keyed.json["id"]));
}

#[tokio::test]
async fn a_bad_item_refuses_its_batch_and_a_refused_one_does_not() {
    let served = Served::start().await;
    let item = |key: &str, n: i64| json!({"task": "t", "idempotency_key": key, "payload": n});
    let mut jobs: Vec<Value> = (0..100).map(|n| item(&format!("k{n}"), n)).collect();
    jobs[97] = item("k3", 3);
    jobs[50] = json!({"task": 5, "priority": 1000});
    let reply = served.post("/v1/jobs/batch", json!({"jobs": jobs})).await;
    check(&reply, 400, "invalid_field", &["task"]);
    assert_eq!(pointers(&reply), ["/jobs/50/task", "/jobs/50/priority"]);
    assert_eq!(served.get("/v1/jobs").await.json["data"], json!([]));

    jobs[50] = item("k3", 4);
    let reply = served.post("/v1/jobs/batch", json!({"jobs": jobs})).await;
    let results = reply.json["results"].as_array().unwrap();
    let status = |index: usize| results[index]["status"].as_u64().unwrap();
    assert_eq!((status(3), status(50), status(97)), (201, 422, 200));
    assert_eq!(results[97]["job"]["id"], results[3]["job"]["id"]);
    assert_eq!(results[50]["error"]["code"], "idempotency_key_reused");
    assert_eq!(results[50]["error"]["request_id"], reply.header("x-request-id").unwrap());
    let again = served.post("/v1/jobs/batch", json!({"jobs": jobs})).await;
    for (first, second) in results.iter().zip(again.json["results"].as_array().unwrap()) {
        assert_eq!(first["job"]["id"], second["job"]["id"]);
        assert_ne!(second["status"], 201);
    }
    let none = served.post("/v1/jobs/batch", json!({"jobs": []})).await;
    assert_eq!((none.status, &none.json), (200, &json!({"results": []})));
    let many = json!({"jobs": vec![json!({"task": "t"}); 1001]});
    check(&served.post("/v1/jobs/batch", many).await, 400, "invalid_field", &["1000"]);
}
