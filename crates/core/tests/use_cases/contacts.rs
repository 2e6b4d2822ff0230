//! Creating and changing contacts (4.3, 4.4).

use std::time::Duration;

use recado_core::Error;
use recado_core::access::RateDecision;
use recado_core::contacts::ContactFilter;
use recado_core::ids::{CompanyId, CustomFieldId, ListId};
use recado_core::page::PageRequest;
use recado_testkit::kit::body;
use recado_testkit::{Kit, MemoryStore};
use serde_json::{Value, json};
use std::sync::Arc;
use uuid::Uuid;

use super::{answer, code, create, create_phone, refused, shown, update};

async fn field(kit: &Kit, slug: &str) -> CustomFieldId {
    let new = body(json!({ "label": slug, "slug": slug }));
    kit.app.custom_fields().create(kit.company.id, &new).await.unwrap().id
}

async fn list(kit: &Kit) -> ListId {
    kit.app.lists().create(kit.company.id, &body(json!({ "name": "VIP" }))).await.unwrap().id
}

async fn total(kit: &Kit) -> u64 {
    let filter = ContactFilter::default();
    kit.app.contacts().page(&kit.caller, &filter, PageRequest::FIRST, false).await.unwrap().total
}

#[tokio::test]
async fn the_program_itself_needs_no_key_no_plan_and_no_allowance() {
    let kit = Kit::new().await;
    let plan = body(json!({ "plan": "starter" }));
    kit.app.access().change_company(kit.company.id, &plan).await.unwrap();
    let by_key = kit.app.access().authenticate(&kit.key).await.unwrap();
    let new = body(json!({ "phone": "(34) 9123-4567" }));
    let refused = kit.app.contacts().create(&by_key, &new).await.unwrap_err();
    assert!(matches!(refused, Error::Denied(_)), "{refused:?}");
    let itself = kit.app.access().trusted(kit.company.id).await.unwrap();
    kit.app.contacts().create(&itself, &new).await.unwrap();
    for _ in 0..1_000 {
        let charged = kit.app.access().charge(&itself, true).await.unwrap();
        assert_eq!(charged, RateDecision::Allowed);
    }
    let nobody = CompanyId::new(Uuid::from_u128(7));
    assert_eq!(code(kit.app.access().trusted(nobody).await), "NOT_FOUND");
}

/// D2, D19.
#[tokio::test]
async fn a_new_contact_has_the_defaults_and_what_was_sent() {
    let kit = Kit::new().await;
    let created = create(
        &kit,
        json!({ "phone": "(34) 9123-4567", "name": " Ana ", "email": " Ana@Example.com",
                "postal_code": "38400-100", "cpf": "529.982.247-25" }),
    )
    .await;
    let shown = answer(&created);
    assert_eq!(shown["phone"], "+5534991234567");
    assert_eq!(shown["identifier"], "5534991234567");
    assert_eq!(shown["name"], "Ana");
    assert_eq!(shown["display_name"], "Ana");
    assert_eq!(shown["email"], "ana@example.com");
    assert_eq!(shown["shared_email"], Value::Null);
    assert_eq!(shown["source_platform"], "whatsapp");
    assert_eq!(shown["inbox_status"], "open");
    assert_eq!(shown["priority"], "normal");
    assert_eq!(shown["crm_status"], "lead");
    assert_eq!(shown["is_ai_enabled"], true);
    assert_eq!(shown["created_at"], shown["updated_at"]);
    assert_eq!(created.warnings, []);
}

#[tokio::test]
async fn a_contact_without_a_name_is_shown_by_its_phone() {
    let kit = Kit::new().await;
    let created = create(&kit, json!({ "phone": "+5534991234567", "name": null })).await;
    assert_eq!(created.contact.name, "");
    assert_eq!(created.contact.display_name, "+55 34 99123-4567");
    let named = update(&kit, created.contact.id, json!({ "name": "Ana" })).await;
    assert_eq!(named.contact.display_name, "Ana");
    let unnamed = update(&kit, created.contact.id, json!({ "name": "" })).await;
    assert_eq!(unnamed.contact.display_name, "+55 34 99123-4567");
}

#[tokio::test]
async fn a_phone_is_taken_in_every_notation_and_on_every_channel() {
    let kit = Kit::new().await;
    let id = create_phone(&kit, "+5534991234567").await;
    for phone in ["+55 34 99123-4567", "34 9123-4567", "5534991234567", "0 34 99123 4567"] {
        let again = kit.app.contacts().create(&kit.caller, &body(json!({ "phone": phone }))).await;
        match again {
            Err(recado_core::Error::Rejected(error)) => {
                let extra = recado_core::Rejection::extra(&error);
                assert_eq!(json!(extra), json!({ "contact_id": id }), "{phone}");
            }
            other => panic!("{phone} is taken, not {other:?}"),
        }
    }
    // An imported contact, which is stored without its ninth digit, counts too.
    let imported = json!({ "identifier": "551187654321", "source_platform": "telegram" });
    kit.app.contacts().import(&kit.company, &body(imported)).await.unwrap();
    let again = json!({ "phone": "+5511987654321" });
    let again = kit.app.contacts().create(&kit.caller, &body(again)).await;
    assert_eq!(code(again), "CONTACT_EXISTS");
    assert_eq!(total(&kit).await, 2);
}

#[tokio::test]
async fn two_companies_may_have_the_same_phone_and_email() {
    let kit = Kit::new().await;
    let (_, other) = kit.another_company("Outra").await;
    let new = body(json!({ "phone": "+5534991234567", "email": "ana@example.com" }));
    let ours = kit.app.contacts().create(&kit.caller, &new).await.unwrap();
    let theirs = kit.app.contacts().create(&other, &new).await.unwrap();
    assert_eq!((ours.warnings, theirs.warnings), (vec![], vec![]));
    let unknown = kit.app.contacts().get(&other, ours.contact.id, false).await;
    assert!(matches!(unknown, Err(recado_core::Error::Rejected(_))));
    let change = body(json!({ "name": "x" }));
    let unknown = kit.app.contacts().update(&other, ours.contact.id, &change).await;
    assert_eq!(code(unknown), "NOT_FOUND");
    let unknown = kit.app.contacts().delete(&other, ours.contact.id).await;
    assert_eq!(code(unknown), "NOT_FOUND");
}

#[tokio::test]
async fn one_answer_names_everything_that_is_wrong() {
    let kit = Kit::new().await;
    let unknown = Uuid::from_u128(5);
    let wrong = json!({
        "phone": "12", "name": 1, "email": "x", "birthday": "1990-02-30", "cpf": "123",
        "cnpj": "1", "postal_code": "9", "rg": [], "custom_fields": { "nope": "1", (unknown.to_string()): "2" },
        "list_ids": ["nope"], "nickname": "y",
    });
    let (code, details) = refused(kit.app.contacts().create(&kit.caller, &body(wrong)).await);
    assert_eq!(code, "VALIDATION_ERROR");
    let text = details.to_string();
    for named in [
        "phone",
        "name",
        "email",
        "birthday",
        "cpf",
        "cnpj",
        "postal_code",
        "rg",
        "nope",
        "nickname",
        &unknown.to_string(),
    ] {
        assert!(text.contains(named), "{named} is not in {text}");
    }
    assert_eq!(total(&kit).await, 0);
}

#[tokio::test]
async fn custom_fields_of_others_or_out_of_use_are_refused() {
    let kit = Kit::new().await;
    let (other, _) = kit.another_company("Outra").await;
    let new = body(json!({ "label": "x", "slug": "x" }));
    let theirs = kit.app.custom_fields().create(other.id, &new).await.unwrap().id;
    let (active, inactive) = (field(&kit, "a").await, field(&kit, "b").await);
    let change = body(json!({ "status": "inactive" }));
    kit.app.custom_fields().change(kit.company.id, inactive, &change).await.unwrap();
    for id in [theirs, inactive] {
        let fields = json!({ id.to_string(): "1", active.to_string(): "2" });
        let new = json!({ "phone": "+5534991234567", "custom_fields": fields });
        let (code, details) = refused(kit.app.contacts().create(&kit.caller, &body(new)).await);
        assert_eq!(code, "VALIDATION_ERROR");
        let named = details["custom_fields"].to_string();
        assert!(named.contains(&id.to_string()), "{details}");
        assert!(!named.contains(&active.to_string()), "{details}");
        assert!(details["hint"].is_string(), "{details}");
    }
}

/// R19.
#[tokio::test]
async fn a_list_that_is_missing_or_inactive_stops_the_creation() {
    let kit = Kit::new().await;
    let (good, inactive) = (list(&kit).await, list(&kit).await);
    let change = body(json!({ "is_active": false }));
    kit.app.lists().change(kit.company.id, inactive, &change).await.unwrap();
    let unknown = ListId::new(Uuid::from_u128(9));
    let new = json!({ "phone": "+5534991234567", "list_ids": [good, inactive, unknown] });
    let (code, details) = refused(kit.app.contacts().create(&kit.caller, &body(new)).await);
    assert_eq!((code.as_str(), &details["list_ids"]), ("NOT_FOUND", &json!([inactive, unknown])));
    assert_eq!(total(&kit).await, 0);
    let new = json!({ "phone": "+5534991234567", "list_ids": [good, good] });
    let id = create(&kit, new).await.contact.id;
    assert_eq!(shown(&kit, id).await["lists"], json!([{ "id": good, "name": "VIP" }]));
    let counted = kit.app.lists().get(kit.company.id, good).await.unwrap();
    assert_eq!(counted.contacts_count, 1);
}

#[tokio::test]
async fn a_taken_email_goes_to_shared_email_and_promotes_nobody() {
    let kit = Kit::new().await;
    let holder = create(&kit, json!({ "phone": "34991230001", "email": "a@b.co" })).await;
    let second = create(&kit, json!({ "phone": "34991230002", "email": "A@b.co" })).await;
    let (holder, id) = (holder.contact.id, second.contact.id);
    assert_eq!(answer(&second)["email"], Value::Null);
    assert_eq!(answer(&second)["shared_email"], "a@b.co");
    assert_eq!(second.warnings[0].code, "EMAIL_BELONGS_TO_ANOTHER_CONTACT");
    assert_eq!(second.warnings[0].field, "email");

    // A taken address leaves the own one as it is.
    update(&kit, id, json!({ "email": "own@b.co" })).await;
    assert_eq!(shown(&kit, id).await["shared_email"], Value::Null);
    let warned = update(&kit, id, json!({ "email": "a@b.co" })).await;
    assert_eq!(warned.warnings.len(), 1);
    let now = shown(&kit, id).await;
    assert_eq!((&now["email"], &now["shared_email"]), (&json!("own@b.co"), &json!("a@b.co")));

    // The address becomes free: no contact gets it automatically, and the next one that sets it has
    // it.
    update(&kit, holder, json!({ "email": null })).await;
    let now = shown(&kit, id).await;
    assert_eq!((&now["email"], &now["shared_email"]), (&json!("own@b.co"), &json!("a@b.co")));
    let stored = update(&kit, id, json!({ "email": "a@b.co" })).await;
    assert_eq!(stored.warnings, []);
    let now = shown(&kit, id).await;
    assert_eq!((&now["email"], &now["shared_email"]), (&json!("a@b.co"), &Value::Null));
    // One's own address is not another contact's.
    assert_eq!(update(&kit, id, json!({ "email": "a@b.co" })).await.warnings, []);
    update(&kit, id, json!({ "email": "" })).await;
    let now = shown(&kit, id).await;
    assert_eq!((&now["email"], &now["shared_email"]), (&Value::Null, &Value::Null));
}

#[tokio::test]
async fn a_change_merges_custom_fields_and_an_empty_value_removes_one() {
    let kit = Kit::new().await;
    let (a, b) = (field(&kit, "a").await, field(&kit, "b").await);
    let fields = json!({ a.to_string(): "1", b.to_string(): "2" });
    let new = json!({ "phone": "34991230001", "custom_fields": fields });
    let id = create(&kit, new).await.contact.id;
    update(&kit, id, json!({ "custom_fields": { a.to_string(): "3" } })).await;
    let now = shown(&kit, id).await;
    assert_eq!(now["custom_fields"], json!({ a.to_string(): "3", b.to_string(): "2" }));
    update(&kit, id, json!({ "custom_fields": { b.to_string(): "" } })).await;
    assert_eq!(shown(&kit, id).await["custom_fields"], json!({ a.to_string(): "3" }));
    for null in
        [json!({ "custom_fields": null }), json!({ "custom_fields": { a.to_string(): null } })]
    {
        let refusal = kit.app.contacts().update(&kit.caller, id, &body(null)).await;
        assert_eq!(code(refusal), "VALIDATION_ERROR");
    }
    assert_eq!(shown(&kit, id).await["custom_fields"], json!({ a.to_string(): "3" }));
}

#[tokio::test]
async fn what_was_read_can_be_sent_back_whole() {
    let kit = Kit::new().await;
    let field = field(&kit, "a").await;
    let new = json!({ "phone": "34991230001", "email": "a@b.co", "birthday": "1990-02-28",
                      "cpf": "52998224725", "custom_fields": { field.to_string(): "1" } });
    let id = create(&kit, new).await.contact.id;
    kit.clock.advance(Duration::from_secs(5));
    let detail = kit.app.contacts().get(&kit.caller, id, false).await.unwrap();
    let sent_back = serde_json::to_value(detail).unwrap();
    let before = shown(&kit, id).await;
    update(&kit, id, sent_back).await;
    assert_eq!(shown(&kit, id).await, before, "not even updated_at moves");
}

#[tokio::test]
async fn phone_and_identifier_stay_and_their_own_values_are_accepted() {
    let kit = Kit::new().await;
    let id = create_phone(&kit, "+5534991234567").await;
    for same in ["34 9123-4567", "+5534991234567", "(34) 99123-4567"] {
        update(&kit, id, json!({ "phone": same, "identifier": same })).await;
    }
    update(&kit, id, json!({ "identifier": "5534991234567" })).await;
    for (field, other) in [
        ("phone", json!("34991230002")),
        ("phone", json!("x")),
        ("phone", Value::Null),
        ("identifier", json!("5511987654321")),
        ("identifier", Value::Null),
    ] {
        let change = body(json!({ field: other, "name": "changed" }));
        let (code, details) = refused(kit.app.contacts().update(&kit.caller, id, &change).await);
        assert_eq!(code, "VALIDATION_ERROR", "{field} {other}");
        assert!(details["fields"].to_string().contains(field), "{details}");
    }
    assert_eq!(shown(&kit, id).await["name"], "");

    // The shown phone of a contact without one is its identifier (D16).
    let group = json!({ "identifier": "grupo@g.us", "is_group": true });
    let (group, _) = kit.app.contacts().import(&kit.company, &body(group)).await.unwrap();
    assert_eq!(shown(&kit, group).await["phone"], "grupo@g.us");
    update(&kit, group, json!({ "phone": "grupo@g.us", "identifier": "grupo@g.us" })).await;
    let change = body(json!({ "phone": "34991230002" }));
    let refusal = kit.app.contacts().update(&kit.caller, group, &change).await;
    assert_eq!(code(refusal), "VALIDATION_ERROR");
}

#[tokio::test]
async fn a_refused_change_changes_nothing_and_an_empty_one_is_fine() {
    let kit = Kit::new().await;
    let id = create_phone(&kit, "34991230001").await;
    let before = shown(&kit, id).await;
    kit.clock.advance(Duration::from_secs(1));
    let unknown = ListId::new(Uuid::from_u128(9));
    for (change, refusal) in [
        (json!({ "name": "x", "nmae": "y" }), "VALIDATION_ERROR"),
        (json!({ "name": "x", "list_ids": [unknown] }), "NOT_FOUND"),
        (json!({ "name": "x", "list_ids": null }), "VALIDATION_ERROR"),
        (json!({ "name": "x", "cpf": "11111111111" }), "VALIDATION_ERROR"),
    ] {
        let outcome = kit.app.contacts().update(&kit.caller, id, &body(change)).await;
        assert_eq!(code(outcome), refusal);
    }
    update(&kit, id, json!({})).await;
    assert_eq!(shown(&kit, id).await, before);
    update(&kit, id, json!({ "name": "Ana" })).await;
    assert_ne!(shown(&kit, id).await["updated_at"], before["updated_at"]);
}

#[tokio::test]
async fn null_and_the_empty_text_clear() {
    let kit = Kit::new().await;
    let new = json!({ "phone": "34991230001", "name": "Ana", "observation": "x", "rg": "1",
                      "city": "y", "birthday": "1990-02-28", "cpf": "52998224725" });
    let id = create(&kit, new).await.contact.id;
    let cleared = json!({ "name": null, "observation": "", "rg": null, "city": "  ",
                          "birthday": "", "cpf": null });
    update(&kit, id, cleared).await;
    let now = shown(&kit, id).await;
    assert_eq!(now["name"], "");
    for field in ["observation", "rg", "city", "birthday", "cpf"] {
        assert_eq!(now[field], Value::Null, "{field}");
    }
}

#[tokio::test]
async fn a_creation_emits_one_event_with_the_contact_as_it_was_answered() {
    let store = MemoryStore::new();
    let kit = Kit::on(Arc::new(store.clone())).await;
    let created = create(&kit, json!({ "phone": "34991230001", "email": "a@b.co" })).await;
    let again = body(json!({ "phone": "34991230001" }));
    assert_eq!(code(kit.app.contacts().create(&kit.caller, &again).await), "CONTACT_EXISTS");
    update(&kit, created.contact.id, json!({ "name": "Ana" })).await;
    let events = store.events(kit.company.id);
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].contact, Some(created.contact.id));
    assert_eq!(events[0].at, created.contact.created_at);
    let data: Value = serde_json::from_str(&events[0].data).unwrap();
    assert_eq!(data, answer(&created));
}

#[tokio::test]
async fn an_operators_change_sets_tags_exactly() {
    let kit = Kit::new().await;
    let mut tags = Vec::new();
    for name in ["a", "b", "c"] {
        let new = body(json!({ "name": name, "color": "#fff" }));
        tags.push(kit.app.tags().create(kit.company.id, &new).await.unwrap().id);
    }
    let id = create_phone(&kit, "34991230001").await;
    let patch = async |change: Value| {
        kit.app.contacts().patch_as_operator(kit.company.id, id, &body(change)).await
    };
    let given = async || {
        let shown = shown(&kit, id).await;
        let tags = shown["tags"].as_array().unwrap().iter();
        tags.map(|tag| tag["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    patch(json!({ "tag_ids": [tags[1], tags[0], tags[0]] })).await.unwrap();
    assert_eq!(given().await, ["a", "b"]);
    kit.clock.advance(Duration::from_secs(1));
    let before = shown(&kit, id).await["updated_at"].clone();
    patch(json!({ "tag_ids": [tags[0], tags[1]] })).await.unwrap();
    assert_eq!(shown(&kit, id).await["updated_at"], before, "nothing changed");
    patch(json!({ "tag_ids": [tags[2], tags[1]], "is_pinned": true })).await.unwrap();
    assert_eq!(given().await, ["b", "c"]);
    assert_ne!(shown(&kit, id).await["updated_at"], before);
    patch(json!({ "crm_status": "customer" })).await.unwrap();
    assert_eq!(given().await, ["b", "c"], "tags that are not sent stay");
    let unknown = patch(json!({ "tag_ids": [Uuid::from_u128(4)], "is_pinned": false })).await;
    assert_eq!(code(unknown), "VALIDATION_ERROR");
    assert_eq!(shown(&kit, id).await["is_pinned"], true);
    patch(json!({ "tag_ids": [] })).await.unwrap();
    assert_eq!(given().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_cursor_is_bound_to_its_company_and_filters() {
    use recado_core::contacts::ExportQuery;
    let kit = Kit::new().await;
    let (_, other) = kit.another_company("Outra").await;
    for n in 0..3 {
        create_phone(&kit, &format!("3499123000{n}")).await;
    }
    let query = |cursor: Option<String>, filter: ContactFilter, limit| ExportQuery {
        filter,
        cursor,
        limit,
        clicks: false,
    };
    let all = ContactFilter::default();
    let contacts = kit.app.contacts();
    let first = contacts.export(&kit.caller, &query(None, all.clone(), 1)).await.unwrap();
    let cursor = first.next_cursor;
    // The size may change, and a cursor may be used again.
    for limit in [1, 2, 2] {
        let part = contacts.export(&kit.caller, &query(cursor.clone(), all.clone(), limit)).await;
        let part = part.unwrap();
        assert_eq!((part.items.len(), part.total), (limit as usize, 3));
        assert_eq!(part.next_cursor.is_none(), limit == 2);
    }
    let groups = ContactFilter { is_group: Some(true), ..all.clone() };
    let foreign = contacts.export(&other, &query(cursor.clone(), all.clone(), 1)).await;
    let filtered = contacts.export(&kit.caller, &query(cursor, groups, 1)).await;
    let garbage = contacts.export(&kit.caller, &query(Some("x".to_owned()), all, 1)).await;
    for outcome in [foreign, filtered, garbage] {
        let (code, details) = refused(outcome);
        assert_eq!((code.as_str(), &details["parameter"]), ("INVALID_PARAMETER", &json!("cursor")));
    }
}

/// R8.
#[tokio::test]
async fn an_empty_text_counts_as_absent_in_a_creation_but_for_the_phone() {
    let kit = Kit::new().await;
    let fields = ["name", "email", "birthday", "cpf", "postal_code", "city", "observation"];
    let mut new = json!({ "phone": "34991230001", "cnpj": "" });
    for field in fields {
        new[field] = json!("");
    }
    let plain = create_phone(&kit, "34991230002").await;
    let (made, plain) = (create(&kit, new).await.contact.id, shown(&kit, plain).await);
    let made = shown(&kit, made).await;
    for field in fields.into_iter().chain(["organization"]) {
        assert_eq!(made[field], plain[field], "{field}");
    }
    let empty = kit.app.contacts().create(&kit.caller, &body(json!({ "phone": "" }))).await;
    assert_eq!(refused(empty).1["fields"], json!(["phone"]));
}

/// D20.
#[tokio::test]
async fn clearing_an_email_that_is_empty_leaves_the_shared_one() {
    let kit = Kit::new().await;
    create(&kit, json!({ "phone": "34991230001", "email": "a@b.co" })).await;
    for (n, cleared) in [(2, json!("")), (3, Value::Null)] {
        let new = json!({ "phone": format!("3499123000{n}"), "email": "a@b.co" });
        let id = create(&kit, new).await.contact.id;
        assert_eq!(shown(&kit, id).await["shared_email"], "a@b.co");
        update(&kit, id, json!({ "email": cleared })).await;
        assert_eq!(shown(&kit, id).await["shared_email"], "a@b.co");
        let named = body(json!({ "shared_email": null }));
        kit.app.contacts().patch_as_operator(kit.company.id, id, &named).await.unwrap();
        assert_eq!(shown(&kit, id).await["shared_email"], Value::Null);
    }
}
