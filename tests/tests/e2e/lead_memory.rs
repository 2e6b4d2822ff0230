//! Lead memory: 2.2, 2.3, 8; D45.

use std::time::Duration;

use recado_tests::{World, both_stores, keys, mobile, unknown_id};
use serde_json::{Value, json};

async fn merge(world: &World, contact: &str, body: Value) -> Value {
    let answer = world.operator("POST", &format!("C/contacts/{contact}/lead-memory"), body).await;
    assert!([200, 201].contains(&answer.status), "{}", answer.show());
    memory(world, contact).await
}

async fn put(world: &World, contact: &str, body: Value) -> recado_tests::ScriptedAnswer {
    world.operator("PUT", &format!("C/contacts/{contact}/lead-memory"), body).await
}

async fn memory(world: &World, contact: &str) -> Value {
    world.detail(contact).await["lead_memory"].clone()
}

fn numbered(name: &str, range: std::ops::Range<u32>) -> Vec<String> {
    range.map(|n| format!("{name} {n}")).collect()
}

// Presence.

#[both_stores]
async fn without_the_scope_the_key_is_absent_and_nothing_else_differs(world: World) {
    let contact = world.create_id(json!({"phone": mobile(1)})).await;
    merge(&world, &contact, json!({"summary": "quer comprar"})).await;
    let key = world.key_with(&["contacts:read"]).await;
    let path = format!("/api/v1/contacts/{contact}");
    let without = world.get_as(&key, &path).await.expect(200);
    let mut with = world.detail(&contact).await;
    assert!(!keys(&without).contains(&"lead_memory".to_owned()));
    assert!(with.as_object_mut().expect("an object").remove("lead_memory").is_some());
    assert_eq!(without, with);
}

#[both_stores]
async fn with_the_scope_and_no_memory_the_value_is_null(world: World) {
    let contact = world.create_id(json!({"phone": mobile(1)})).await;
    let detail = world.detail(&contact).await;
    assert_eq!(detail.get("lead_memory"), Some(&Value::Null));
}

#[both_stores]
async fn the_scope_alone_opens_nothing(world: World) {
    let contact = world.create_id(json!({"phone": mobile(1)})).await;
    let key = world.key_with(&["lead_memory:read"]).await;
    let answer = world.get_as(&key, &format!("/api/v1/contacts/{contact}")).await;
    answer.expect_error(403, "INSUFFICIENT_SCOPE");
}

#[both_stores]
async fn lists_of_contacts_never_show_it(world: World) {
    let contact = world.create_id(json!({"phone": mobile(1)})).await;
    merge(&world, &contact, json!({"summary": "quer comprar"})).await;
    assert!(!keys(&world.listed(&contact).await).contains(&"lead_memory".to_owned()));
}

// Merging.

#[both_stores]
async fn a_first_memory_has_version_1_and_empty_texts_for_what_is_missing(world: World) {
    let contact = world.create_id(json!({"phone": mobile(1)})).await;
    let memory = merge(&world, &contact, json!({"summary": "quer comprar"})).await;
    assert_eq!(
        memory,
        json!({
            "version": 1, "summary": "quer comprar", "sentiment": "", "intent": "",
            "consciousness_level": "",
            "bant": memory["bant"],
            "key_facts": [], "products_interested": [], "objections": [], "last_topic": "",
            "interaction_count": 1, "first_interaction_at": world.time(),
            "last_memory_update_at": world.time(),
        })
    );
    assert_eq!(
        memory["bant"],
        json!({"budget": "", "authority": "unknown", "need": "", "timeline": ""}),
        "the code for no word about it, and no authority_raw (D45)"
    );
}

/// D45.
#[both_stores]
async fn no_new_lead_memory_has_an_empty_authority(world: World) {
    let silences = [
        json!({}),
        json!({"bant": null}),
        json!({"bant": {"authority": ""}}),
        json!({"bant": {"authority": null, "authority_raw": null, "need": "bolo"}}),
    ];
    for (n, silence) in (1..).zip(silences) {
        let contact = world.create_id(json!({"phone": mobile(n)})).await;
        let merged = merge(&world, &contact, silence.clone()).await["bant"].clone();
        assert_eq!(merged["authority"], "unknown", "{silence}");
        assert_eq!(merged.get("authority_raw"), None, "{silence}");
        assert_eq!(put(&world, &contact, silence.clone()).await.status, 200);
        let stored = memory(&world, &contact).await["bant"].clone();
        assert_eq!(stored, merged, "PUT {silence}");
        let said = json!({"bant": {"authority": "é a dona"}});
        let bant = merge(&world, &contact, said).await["bant"].clone();
        assert_eq!(
            (&bant["authority"], &bant["authority_raw"]),
            (&json!("unknown"), &json!("é a dona"))
        );
    }
}

#[both_stores]
async fn a_merge_replaces_scalars_that_are_sent_and_keeps_the_others(world: World) {
    let contact = world.create_id(json!({"phone": mobile(1)})).await;
    let first = world.time();
    let all = json!({
        "summary": "a", "sentiment": "positive", "intent": "buy", "consciousness_level": "high",
        "last_topic": "preço",
    });
    merge(&world, &contact, all).await;
    world.advance(Duration::from_secs(60));
    let memory = merge(&world, &contact, json!({"summary": "b", "last_topic": ""})).await;
    assert_eq!(memory["summary"], "b");
    assert_eq!(memory["last_topic"], "");
    assert_eq!(memory["sentiment"], "positive");
    assert_eq!(memory["intent"], "buy");
    assert_eq!(memory["consciousness_level"], "high");
    assert_eq!(memory["version"], 2);
    assert_eq!(memory["interaction_count"], 2);
    assert_eq!(memory["first_interaction_at"], first);
    assert_eq!(memory["last_memory_update_at"], world.time());
}

#[both_stores]
async fn counters_and_times_of_a_merge_are_ours(world: World) {
    let contact = world.create_id(json!({"phone": mobile(1)})).await;
    merge(&world, &contact, json!({"summary": "a"})).await;
    let body = json!({
        "summary": "b", "version": 99, "interaction_count": 99,
        "last_memory_update_at": "2020-01-01T00:00:00.000Z",
    });
    world.operator("POST", &format!("C/contacts/{contact}/lead-memory"), body).await;
    let memory = memory(&world, &contact).await;
    assert!(memory["version"].as_u64() < Some(3), "{memory}");
    assert!(memory["interaction_count"].as_u64() < Some(3), "{memory}");
    assert_eq!(memory["last_memory_update_at"], world.time());
}

#[both_stores]
async fn wrong_types_and_unknown_fields_are_refused(world: World) {
    let contact = world.create_id(json!({"phone": mobile(1)})).await;
    let path = format!("C/contacts/{contact}/lead-memory");
    for body in [
        json!({"summary": 5}),
        json!({"key_facts": "one"}),
        json!({"key_facts": [5]}),
        json!({"bant": "rich"}),
        json!({"bant": {"budget": 5}}),
        json!({"bant": {"nope": "x"}}),
        json!({"nope": "x"}),
    ] {
        let answer = world.operator("POST", &path, body).await;
        assert!(!answer.expect_invalid().is_empty());
    }
    assert_eq!(memory(&world, &contact).await, Value::Null);
    let path = format!("C/contacts/{}/lead-memory", unknown_id());
    for method in ["POST", "PUT"] {
        let answer = world.operator(method, &path, json!({"summary": "a"})).await;
        answer.expect_error(404, "NOT_FOUND");
    }
}

// PUT.

#[both_stores]
async fn put_stores_an_old_record_as_it_is(world: World) {
    let contact = world.create_id(json!({"phone": mobile(1)})).await;
    let bant = json!({
        "budget": "", "authority": "fala que decide com o marido", "need": "", "timeline": "",
    });
    let body = json!({"summary": "antiga", "bant": bant, "key_facts": ["um", "um"]});
    assert_eq!(put(&world, &contact, body).await.status, 200);
    let shown = memory(&world, &contact).await;
    assert_eq!(shown["bant"], bant, "there is no authority_raw");
    assert_eq!(shown["summary"], "antiga");
    assert_eq!(put(&world, &contact, json!({"summary": "outra"})).await.status, 200);
    let shown = memory(&world, &contact).await;
    assert_eq!(shown["summary"], "outra");
    assert_eq!(shown["key_facts"], json!([]), "PUT replaces");
}

#[both_stores]
async fn a_memory_that_moves_in_keeps_its_counters_and_times(world: World) {
    let contact = world.create_id(json!({"phone": mobile(1)})).await;
    let moved = json!({
        "version": 7, "interaction_count": 31,
        "first_interaction_at": "2021-03-04T05:06:07.089Z",
        "last_memory_update_at": "2022-03-04T05:06:07.089Z",
    });
    assert_eq!(put(&world, &contact, moved.clone()).await.status, 200);
    let shown = memory(&world, &contact).await;
    for (field, given) in moved.as_object().expect("an object") {
        assert_eq!(&shown[field], given, "{field}");
    }
    let answer = put(&world, &contact, json!({"version": 0})).await;
    assert_eq!(answer.expect_invalid(), ["version"]);
}

#[both_stores]
async fn a_put_over_the_cap_is_refused(world: World) {
    let contact = world.create_id(json!({"phone": mobile(1)})).await;
    for (name, cap) in [("key_facts", 20), ("products_interested", 10), ("objections", 10)] {
        let answer = put(&world, &contact, json!({name: numbered("a", 0..cap + 1)})).await;
        assert_eq!(answer.expect_invalid(), [name]);
        assert_eq!(memory(&world, &contact).await, Value::Null);
    }
    for (name, cap) in [("key_facts", 20), ("products_interested", 10), ("objections", 10)] {
        let answer = put(&world, &contact, json!({name: numbered("a", 0..cap)})).await;
        assert_eq!(answer.status, 200, "{}", answer.show());
        assert_eq!(memory(&world, &contact).await[name], json!(numbered("a", 0..cap)));
    }
}

// Around it.

#[both_stores]
async fn sending_it_back_in_a_patch_is_ignored(world: World) {
    let contact = world.create_id(json!({"phone": mobile(1)})).await;
    merge(&world, &contact, json!({"summary": "quer comprar"})).await;
    let before = world.detail(&contact).await;
    let mut body = before.clone();
    body["lead_memory"]["summary"] = json!("forged");
    world.patch_contact(&contact, body).await.expect(200);
    assert_eq!(world.detail(&contact).await, before);
}

#[both_stores]
async fn it_goes_with_its_contact(world: World) {
    let contact = world.create_id(json!({"phone": mobile(1)})).await;
    merge(&world, &contact, json!({"summary": "segredo da cliente"})).await;
    world.delete(&format!("/api/v1/contacts/{contact}")).await.expect_deleted();
    let again = world.create_id(json!({"phone": mobile(1)})).await;
    assert_eq!(memory(&world, &again).await, Value::Null);
}
