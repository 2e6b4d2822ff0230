//! The operator's import of one contact.

use recado_core::contacts::{ContactFilter, ExportQuery};
use recado_core::{Error, Rejection, Timestamp};
use recado_testkit::kit::body;
use recado_testkit::{Kit, MemoryStore};
use serde_json::{Value, json};
use std::sync::Arc;
use uuid::Uuid;

use super::{code, create, create_phone, refused, shown};

async fn import(kit: &Kit, new: Value) -> recado_core::ids::ContactId {
    kit.app.contacts().import(&kit.company, &body(new)).await.expect("acceptable").0
}

#[tokio::test]
async fn any_stored_field_is_kept_and_no_event_is_emitted() {
    let store = MemoryStore::new();
    let kit = Kit::on(Arc::new(store.clone())).await;
    let member = body(json!({ "display_name": "Bia" }));
    let member = kit.app.access().create_member(kit.company.id, &member).await.unwrap();
    let reason = body(json!({ "name": "Vendido" }));
    let reason = kit.app.tags().create_close_reason(kit.company.id, &reason).await.unwrap();
    let sent = json!({
        "identifier": "lid-1", "source_platform": "telegram", "phone": "34991230001",
        "name": "Ana", "wa_push_name": "aninha", "inbox_status": "resolved",
        "priority": "high", "crm_status": "customer", "is_ai_enabled": false,
        "is_archived": true, "is_pinned": true, "is_muted": true, "is_blocked": true,
        "external_ai_enabled": false, "opted_out_at": "2026-01-02T03:04:05.006Z",
        "last_message_at": "2026-01-02T03:04:05.006Z", "street": "Rua A", "country": "Brasil",
        "created_at": "2020-01-01T00:00:00.000Z", "updated_at": "2021-01-01T00:00:00.000Z",
        "assigned_to_member_id": member.id, "last_close_reason_id": reason.id,
    });
    let id = import(&kit, sent.clone()).await;
    let now = shown(&kit, id).await;
    for (field, value) in sent.as_object().unwrap() {
        match field.as_str() {
            "phone" => assert_eq!(now[field], "+5534991230001"),
            "assigned_to_member_id" => assert_eq!(now["assigned_to"]["display_name"], "Bia"),
            _ => assert_eq!(now[field], *value, "{field}"),
        }
    }
    assert_eq!(store.events(kit.company.id), []);
    let in_use = kit.app.access().delete_member(kit.company.id, member.id).await;
    assert_eq!(code(in_use), "IN_USE");
    let in_use = kit.app.tags().delete_close_reason(kit.company.id, reason.id).await;
    assert_eq!(code(in_use), "IN_USE");
}

#[tokio::test]
async fn phones_may_repeat_but_not_identifiers_of_a_channel() {
    let kit = Kit::new().await;
    let first = import(&kit, json!({ "phone": "34991230001" })).await;
    let again = body(json!({ "phone": "34991230001" }));
    match kit.app.contacts().import(&kit.company, &again).await {
        Err(Error::Rejected(error)) => {
            assert_eq!(error.code().as_str(), "CONTACT_EXISTS");
            assert_eq!(json!(error.extra()), json!({ "contact_id": first }));
        }
        other => panic!("the identifier is taken, not {other:?}"),
    }
    import(&kit, json!({ "phone": "34991230001", "source_platform": "telegram" })).await;
    import(&kit, json!({ "phone": "34991230001", "identifier": "lid-1" })).await;
    // The public API names the oldest of them.
    kit.clock.advance(std::time::Duration::from_secs(1));
    let older = json!({ "phone": "34991230001", "identifier": "lid-2",
                        "created_at": "2020-01-01T00:00:00Z" });
    let older = import(&kit, older).await;
    let taken = body(json!({ "phone": "34991230001" }));
    match kit.app.contacts().create(&kit.caller, &taken).await {
        Err(Error::Rejected(error)) => {
            assert_eq!(json!(error.extra()), json!({ "contact_id": older }));
        }
        other => panic!("the phone is taken, not {other:?}"),
    }
}

#[tokio::test]
async fn a_taken_email_is_shared() {
    let kit = Kit::new().await;
    import(&kit, json!({ "identifier": "a", "email": "a@b.co" })).await;
    let new = body(json!({ "identifier": "b", "email": "a@b.co", "shared_email": "c@b.co" }));
    let (id, warnings) = kit.app.contacts().import(&kit.company, &new).await.unwrap();
    assert_eq!(warnings.len(), 1);
    let now = shown(&kit, id).await;
    assert_eq!((&now["email"], &now["shared_email"]), (&Value::Null, &json!("a@b.co")));
}

/// R3.
#[tokio::test]
async fn references_to_nothing_and_times_to_come_are_refused_together() {
    let kit = Kit::new().await;
    let unknown = Uuid::from_u128(3).to_string();
    let wrong = json!({
        "assigned_to_member_id": unknown, "last_close_reason_id": unknown,
        "organization_id": unknown, "tag_ids": [unknown], "last_connection_id": unknown,
        "custom_fields": { (unknown.clone()): "1" }, "created_at": "2999-01-01T00:00:00Z",
        "pipeline_stage": {}, "crm_status": "friend",
    });
    let (code, details) = refused(kit.app.contacts().import(&kit.company, &body(wrong)).await);
    assert_eq!(code, "VALIDATION_ERROR");
    let text = details.to_string();
    for named in [
        "phone",
        "assigned_to_member_id",
        "last_close_reason_id",
        "organization_id",
        "tag_ids",
        "last_connection_id",
        "created_at",
        "pipeline_stage",
        "crm_status",
        &unknown,
    ] {
        assert!(text.contains(named), "{named} is not in {text}");
    }
}

#[tokio::test]
async fn an_import_without_a_creation_time_is_met_by_a_running_export() {
    let kit = Kit::new().await;
    for n in 0..3 {
        create_phone(&kit, &format!("3499123000{n}")).await;
    }
    let query =
        |cursor| ExportQuery { filter: ContactFilter::default(), cursor, limit: 2, clicks: false };
    let part = kit.app.contacts().export(&kit.caller, &query(None)).await.unwrap();
    kit.clock.set(Timestamp::from_millis(0));
    import(&kit, json!({ "identifier": "late" })).await;
    let rest = kit.app.contacts().export(&kit.caller, &query(part.next_cursor)).await.unwrap();
    assert_eq!((rest.items.len(), rest.total), (2, 4));
}

/// R12.
#[tokio::test]
async fn an_identifier_that_looks_like_a_phone_is_no_phone() {
    let kit = Kit::new().await;
    let id = import(&kit, json!({ "identifier": "5534991230001" })).await;
    assert_eq!(shown(&kit, id).await["phone"], "5534991230001", "a phone would begin with +");
}

#[tokio::test]
async fn an_organization_of_the_company_may_be_named() {
    let kit = Kit::new().await;
    let new = json!({ "phone": "34991230001", "cnpj": "19.131.243/0001-97" });
    let organization = create(&kit, new).await.contact.organization_id.unwrap();
    let id = import(&kit, json!({ "phone": "34991230002", "organization_id": organization })).await;
    assert_eq!(shown(&kit, id).await["organization"]["id"], organization.to_string());
}

/// D17.
#[tokio::test]
async fn a_phone_that_a_contact_has_as_identifier_only_is_taken() {
    let kit = Kit::new().await;
    let imported = json!({ "identifier": "5534991230002", "phone": "34991230001",
                           "source_platform": "telegram" });
    let id = import(&kit, imported).await;
    for form in ["34991230002", "+553491230002"] {
        let new = body(json!({ "phone": form }));
        match kit.app.contacts().create(&kit.caller, &new).await {
            Err(Error::Rejected(error)) => {
                assert_eq!(json!(error.extra()), json!({ "contact_id": id }), "{form}");
            }
            other => panic!("the phone is taken, not {other:?}"),
        }
    }
}

/// R286.
#[tokio::test]
async fn a_rehearsal_answers_as_the_import_would_and_writes_nothing() {
    let kit = Kit::new().await;
    let rehearsal = kit.app.rehearsal();
    let new = body(json!({ "phone": "34991230001" }));
    for _ in 0..2 {
        rehearsal.contacts().import_with_events(&kit.company, &new).await.expect("acceptable");
    }
    let wrong = body(json!({ "phone": "34991230001", "email": "nobody" }));
    assert_eq!(code(rehearsal.contacts().import(&kit.company, &wrong).await), "VALIDATION_ERROR");
    let unknown = kit.app.contacts().by_phone(&kit.company, "34991230001").await;
    assert_eq!(code(unknown), "NOT_FOUND");
    import(&kit, json!({ "phone": "34991230001" })).await;
    let taken = rehearsal.contacts().import(&kit.company, &new).await;
    assert_eq!(code(taken), "CONTACT_EXISTS", "it reads what is there");
}

/// R288.
#[tokio::test]
async fn a_phone_in_any_form_stands_for_the_one_contact_that_has_it() {
    let kit = Kit::new().await;
    let id = import(&kit, json!({ "phone": "+5534991230001" })).await;
    for form in ["34991230001", "(34) 9123-0001", "+55 34 99123-0001", "553491230001"] {
        let found = kit.app.contacts().by_phone(&kit.company, form).await;
        assert_eq!(found.expect("a contact"), id, "{form}");
    }
    let by_phone = async |phone| code(kit.app.contacts().by_phone(&kit.company, phone).await);
    assert_eq!(by_phone("34991230002").await, "NOT_FOUND");
    assert_eq!(by_phone("nobody").await, "INVALID_PHONE");
    import(&kit, json!({ "phone": "34991230001", "source_platform": "telegram" })).await;
    assert_eq!(by_phone("34991230001").await, "AMBIGUOUS_CONTACT");
}

/// R9.
#[tokio::test]
async fn a_tag_is_added_to_those_that_a_contact_has_and_only_once() {
    let kit = Kit::new().await;
    let company = kit.company.id;
    let mut tags = Vec::new();
    for name in ["a", "b"] {
        let new = body(json!({ "name": name, "color": "#fff" }));
        tags.push(kit.app.tags().create(company, &new).await.unwrap().id);
    }
    let id = import(&kit, json!({ "phone": "34991230001", "tag_ids": [tags[0]] })).await;
    let before = shown(&kit, id).await["updated_at"].clone();
    kit.clock.advance(std::time::Duration::from_secs(1));
    kit.app.contacts().add_tag(company, id, tags[0]).await.unwrap();
    assert_eq!(shown(&kit, id).await["updated_at"], before, "it had the tag");
    for _ in 0..2 {
        kit.app.contacts().add_tag(company, id, tags[1]).await.unwrap();
    }
    let after = shown(&kit, id).await;
    assert_eq!(after["tags"].as_array().map(Vec::len), Some(2), "{after}");
    assert_ne!(after["updated_at"], before);
    let nobody = recado_core::ids::ContactId::new(Uuid::nil());
    assert_eq!(code(kit.app.contacts().add_tag(company, nobody, tags[0]).await), "NOT_FOUND");
    let no_tag = recado_core::ids::TagId::new(Uuid::nil());
    assert_eq!(code(kit.app.contacts().add_tag(company, id, no_tag).await), "NOT_FOUND");
}
