//! Lead memories over the store (2.3, D45).

use std::time::Duration;

use recado_core::ids::ContactId;
use recado_core::leads::LeadMemory;
use recado_core::store::RecordsExt;
use recado_testkit::Kit;
use recado_testkit::kit::body;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{code, create_phone, interleaving, refused};

async fn merge(kit: &Kit, contact: ContactId, sent: Value) -> Value {
    let memory = kit.app.leads().merge(kit.company.id, contact, &body(sent)).await;
    serde_json::to_value(memory.expect("the memory is acceptable")).expect("a memory is JSON")
}

async fn kept(kit: &Kit, contact: ContactId) -> Value {
    let memory = kit.app.leads().get(kit.company.id, contact).await;
    serde_json::to_value(memory.expect("the contact is there")).expect("a memory is JSON")
}

/// R42.
#[tokio::test]
async fn a_memory_grows_with_every_merge() {
    let kit = Kit::new().await;
    let contact = create_phone(&kit, "34991230001").await;
    assert_eq!(kept(&kit, contact).await, Value::Null);
    let first = merge(&kit, contact, json!({ "summary": "a", "key_facts": ["Tem loja"] })).await;
    assert_eq!((&first["version"], &first["interaction_count"]), (&json!(1), &json!(1)));
    kit.clock.advance(Duration::from_secs(5));
    let sent =
        json!({ "intent": "comprar", "key_facts": ["TEM LOJA", "Tem pressa"], "version": 40 });
    let second = merge(&kit, contact, sent).await;
    assert_eq!((&second["version"], &second["interaction_count"]), (&json!(2), &json!(2)));
    assert_eq!((&second["summary"], &second["intent"]), (&json!("a"), &json!("comprar")));
    assert_eq!(second["key_facts"], json!(["Tem loja", "Tem pressa"]));
    assert_eq!(second["first_interaction_at"], first["first_interaction_at"]);
    assert_ne!(second["last_memory_update_at"], first["last_memory_update_at"]);
    assert_eq!(kept(&kit, contact).await, second);
}

#[tokio::test]
async fn a_put_takes_the_place_of_all_there_was() {
    let kit = Kit::new().await;
    let contact = create_phone(&kit, "34991230001").await;
    merge(&kit, contact, json!({ "summary": "a", "objections": ["caro"] })).await;
    let put = async |sent: Value| kit.app.leads().put(kit.company.id, contact, &body(sent)).await;
    let old = json!({ "bant": { "authority": "Sócio" }, "last_topic": "preço" });
    let memory = serde_json::to_value(put(old).await.unwrap()).unwrap();
    assert_eq!(memory["version"], 2);
    assert_eq!((&memory["summary"], &memory["objections"]), (&json!(""), &json!([])));
    assert_eq!(
        memory["bant"],
        json!({ "budget": "", "authority": "Sócio", "need": "", "timeline": "" })
    );
    let (code, details) = refused(put(json!({ "objections": vec!["x"; 11] })).await);
    assert_eq!((code.as_str(), &details["fields"]), ("VALIDATION_ERROR", &json!(["objections"])));
    assert_eq!(kept(&kit, contact).await, memory);
}

#[tokio::test]
async fn a_memory_that_moves_in_keeps_its_counters_and_times() {
    let kit = Kit::new().await;
    let contact = create_phone(&kit, "34991230001").await;
    let moved = json!({
        "version": 7, "summary": "antiga", "interaction_count": 31,
        "first_interaction_at": "2021-03-04T05:06:07.089Z",
        "last_memory_update_at": "2022-03-04T05:06:07.089Z",
    });
    for _ in 0..2 {
        let leads = kit.app.leads();
        let memory = leads.put(kit.company.id, contact, &body(moved.clone())).await.unwrap();
        let memory = serde_json::to_value(memory).unwrap();
        for (field, given) in moved.as_object().unwrap() {
            assert_eq!(&memory[field], given, "{field}");
        }
        assert_eq!(kept(&kit, contact).await, memory);
    }
    let grown = merge(&kit, contact, json!({ "intent": "comprar" })).await;
    assert_eq!((&grown["version"], &grown["interaction_count"]), (&json!(8), &json!(32)));
    assert_eq!(grown["first_interaction_at"], moved["first_interaction_at"]);
}

#[tokio::test]
async fn merges_at_once_lose_nothing() {
    let kit = interleaving().await;
    let contact = create_phone(&kit, "34991230001").await;
    let fact = |fact: &'static str| merge(&kit, contact, json!({ "key_facts": [fact] }));
    tokio::join!(fact("a"), fact("b"), fact("c"), fact("d"));
    let memory = kept(&kit, contact).await;
    let mut facts: Vec<&str> =
        memory["key_facts"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    facts.sort_unstable();
    assert_eq!((facts, &memory["version"]), (vec!["a", "b", "c", "d"], &json!(4)));
}

#[tokio::test]
async fn only_contacts_of_the_company_have_a_memory_and_it_goes_with_them() {
    let kit = Kit::new().await;
    let contact = create_phone(&kit, "34991230001").await;
    merge(&kit, contact, json!({ "summary": "a" })).await;
    let (other, _) = kit.another_company("Outra").await;
    let leads = kit.app.leads();
    let sent = body(json!({ "summary": "b" }));
    assert_eq!(code(leads.get(other.id, contact).await), "NOT_FOUND");
    assert_eq!(code(leads.merge(other.id, contact, &sent).await), "NOT_FOUND");
    assert_eq!(code(leads.put(other.id, contact, &sent).await), "NOT_FOUND");
    let unknown = ContactId::new(Uuid::from_u128(1));
    assert_eq!(code(leads.put(kit.company.id, unknown, &sent).await), "NOT_FOUND");
    kit.app.contacts().delete(&kit.caller, contact).await.unwrap();
    assert_eq!(code(leads.get(kit.company.id, contact).await), "NOT_FOUND");
    assert_eq!(kit.app.store().get::<LeadMemory>((kit.company.id, contact)).await.unwrap(), None);
}
