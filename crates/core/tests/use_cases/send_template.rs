//! Templates that the company's software sends by API (D40).

use recado_core::access::{KeyDraft, Scope, Scopes};
use recado_core::conversations::ActionName;
use recado_core::sending::{SendError, TemplateSentView};
use recado_core::{Error, Rejection};
use recado_testkit::kit::body;
use recado_testkit::{StoreFailure, StoreOp};
use serde_json::{Value, json};

use super::shop::{Shop, refusal, uncertain};
use super::{code, create_phone, refused, shown};

const PHONE: &str = "+5534991230001";

async fn send(shop: &Shop, said: Value) -> Result<TemplateSentView, Error<SendError>> {
    shop.app().sending().send_template(&shop.kit().caller, &body(said)).await
}

fn hello() -> Value {
    json!({ "name": "hello", "category": "MARKETING", "body": "Olá {{1}}" })
}

fn to_ana() -> Value {
    json!({ "to": PHONE, "template": "hello", "variables": { "1": "Ana" } })
}

#[tokio::test]
async fn a_template_is_sent_by_name_or_id_and_the_answer_names_it() {
    let shop = Shop::new().await;
    let made = shop.template(hello()).await;
    for name in ["hello".to_owned(), made.id.to_string()] {
        let mut said = to_ana();
        said["template"] = json!(name);
        let sent = serde_json::to_value(send(&shop, said).await.unwrap()).unwrap();
        assert_eq!(sent["template_id"], json!(made.id));
        let message = shop.messaging.newest().await;
        assert_eq!(sent["message_id"], message["id"]);
        assert_eq!((&message["content"], &message["status"]), (&json!("Olá Ana"), &json!("sent")));
        assert_eq!(message["type"], "template");
    }
    assert_eq!(shop.events(), ["contact.created", "message.sent", "message.sent"]);
}

/// D40.
#[tokio::test]
async fn of_everything_that_is_wrong_the_first_is_reported() {
    let shop = Shop::new().await;
    let made = shop.template(hello()).await;
    shop.change_template(made.id, json!({ "status": "PENDING" })).await;
    let contact = create_phone(shop.kit(), PHONE).await;
    shop.opt_out(contact).await;
    shop.block(contact).await;
    shop.messaging.set_connected(false).await;
    let nobody = uuid::Uuid::from_u128(7).to_string();
    let mut said = json!({ "to": "123", "connection_id": nobody, "variables": { "1": 5 } });
    let (missing, details) = refused(send(&shop, said.clone()).await);
    assert_eq!((missing.as_str(), &details["fields"]), ("MISSING_FIELD", &json!(["template"])));
    said["template"] = json!("none");
    assert_eq!(code(send(&shop, said.clone()).await), "VALIDATION_ERROR");
    said["variables"] = json!({ "1": "{{name}}" });
    assert_eq!(code(send(&shop, said.clone()).await), "INVALID_PHONE");
    said["to"] = json!(PHONE);
    assert_eq!(code(send(&shop, said.clone()).await), "NOT_FOUND");
    said["connection_id"] = json!(shop.messaging.connection);
    assert_eq!(code(send(&shop, said.clone()).await), "TEMPLATE_NOT_FOUND");
    said["template"] = json!("hello");
    assert_eq!(code(send(&shop, said.clone()).await), "TEMPLATE_NOT_APPROVED");
    shop.change_template(made.id, json!({ "status": "APPROVED" })).await;
    for wrong in [json!({ "1": "{{name}}" }), json!({}), json!({ "2": "Ana" }), json!(null)] {
        said["variables"] = wrong;
        let (invalid, details) = refused(send(&shop, said.clone()).await);
        assert_eq!(
            (invalid.as_str(), &details["fields"]),
            ("VALIDATION_ERROR", &json!(["variables"]))
        );
    }
    said["variables"] = json!({ "1": "Ana" });
    shop.store.fail_contact_reads();
    assert_eq!(code(send(&shop, said.clone()).await), "CONTACT_STATE_UNAVAILABLE");
    shop.store.heal();
    assert_eq!(code(send(&shop, said.clone()).await), "CONTACT_OPTED_OUT");
    shop.act(contact, ActionName::OptIn, json!({})).await;
    assert_eq!(code(send(&shop, said.clone()).await), "CONTACT_BLOCKED");
    shop.act(contact, ActionName::Unblock, json!({})).await;
    assert_eq!(code(send(&shop, said.clone()).await), "CONNECTION_REQUIRED");
    assert_eq!(shop.calls(), 0);
    shop.messaging.set_connected(true).await;
    send(&shop, said).await.unwrap();
}

#[tokio::test]
async fn a_refusal_leaves_neither_contact_nor_message() {
    let shop = Shop::new().await;
    shop.template(hello()).await;
    shop.messaging.set_connected(false).await;
    let rows = shop.model.row_count();
    assert_eq!(code(send(&shop, to_ana()).await), "CONNECTION_REQUIRED");
    assert_eq!(
        code(send(&shop, json!({ "to": PHONE, "template": "hello" })).await),
        "VALIDATION_ERROR"
    );
    assert_eq!(shop.model.row_count(), rows);
}

#[tokio::test]
async fn a_group_is_no_recipient() {
    let shop = Shop::new().await;
    shop.template(hello()).await;
    let mut said = to_ana();
    said["to"] = json!("120363041234567890@g.us");
    assert_eq!(code(send(&shop, said).await), "INVALID_PHONE");
}

#[tokio::test]
async fn of_several_languages_the_one_that_was_asked_for_is_sent_else_brazilian_else_the_oldest() {
    let shop = Shop::new().await;
    let mut made = Vec::new();
    for language in ["en", "es", "pt_BR"] {
        let mut new = hello();
        new["language"] = json!(language);
        made.push(shop.template(new).await.id);
        shop.advance(std::time::Duration::from_secs(1));
    }
    let chosen = async |language: Value| {
        let mut said = to_ana();
        said["language"] = language;
        send(&shop, said).await.map(|sent| sent.template_id)
    };
    assert_eq!(chosen(json!("es")).await.unwrap(), made[1]);
    assert_eq!(chosen(Value::Null).await.unwrap(), made[2]);
    assert_eq!(code(chosen(json!("fr")).await), "TEMPLATE_NOT_FOUND");
    shop.app().templates().delete(shop.kit().company.id, made[2]).await.unwrap();
    assert_eq!(chosen(Value::Null).await.unwrap(), made[0]);
}

#[tokio::test]
async fn a_template_that_is_bound_to_a_connection_is_sent_through_no_other() {
    let shop = Shop::new().await;
    let own = shop.connection("cloud_api", true).await;
    let mut new = hello();
    new["connection_id"] = json!(own);
    shop.template(new).await;
    send(&shop, to_ana()).await.unwrap();
    let mut said = to_ana();
    said["connection_id"] = json!(own);
    send(&shop, said.clone()).await.unwrap();
    let sent = shop.kit().provider.sent();
    assert!(sent.iter().all(|sent| sent.connection == own), "{sent:?}");
    said["connection_id"] = json!(shop.messaging.connection);
    assert_eq!(code(send(&shop, said).await), "TEMPLATE_NOT_FOUND");
    let off = recado_core::connections::ConnectionStatus::Disconnected;
    shop.app().connections().set_status(shop.kit().company.id, own, off).await.unwrap();
    assert_eq!(code(send(&shop, to_ana()).await), "CONNECTION_REQUIRED");
    assert_eq!(shop.calls(), 2);
}

#[tokio::test]
async fn only_connections_whose_gateway_has_templates_count() {
    let shop = Shop::new().await;
    shop.template(hello()).await;
    let waha = shop.connection("waha", true).await;
    send(&shop, to_ana()).await.unwrap();
    assert_eq!(shop.kit().provider.sent()[0].connection, shop.messaging.connection);
    let mut said = to_ana();
    said["connection_id"] = json!(waha);
    assert_eq!(code(send(&shop, said).await), "CONNECTION_REQUIRED");
    shop.messaging.set_connected(false).await;
    assert_eq!(code(send(&shop, to_ana()).await), "CONNECTION_REQUIRED");
}

#[tokio::test]
async fn of_several_usable_connections_one_has_to_be_named_until_the_contact_was_met_on_one() {
    let shop = Shop::new().await;
    shop.template(hello()).await;
    let second = shop.connection("cloud_api", true).await;
    assert_eq!(code(send(&shop, to_ana()).await), "CONNECTION_REQUIRED");
    let mut said = to_ana();
    said["connection_id"] = json!(second);
    send(&shop, said).await.unwrap();
    send(&shop, to_ana()).await.unwrap();
    let sent = shop.kit().provider.sent();
    assert!(sent.iter().all(|sent| sent.connection == second) && sent.len() == 2);
}

#[tokio::test]
async fn the_same_template_may_be_sent_again_at_once_and_many_times() {
    let shop = Shop::new().await;
    shop.template(hello()).await;
    let sends = (0..10).map(|_| send(&shop, to_ana()));
    for sent in futures_util::future::join_all(sends).await {
        sent.unwrap();
    }
    assert_eq!((shop.calls(), shop.count_events("contact.created")), (10, 1));
}

#[tokio::test]
async fn a_contact_whose_external_ai_is_off_gets_templates_and_no_free_text() {
    let shop = Shop::new().await;
    shop.template(hello()).await;
    let contact = create_phone(shop.kit(), PHONE).await;
    shop.act(contact, ActionName::Handoff, json!({})).await;
    assert_eq!(code(shop.messaging.send(PHONE, "Oi").await), "EXTERNAL_AI_DISABLED");
    send(&shop, to_ana()).await.unwrap();
    assert_eq!(shown(shop.kit(), contact).await["external_ai_enabled"], false);
}

/// D39.
#[tokio::test]
async fn only_an_accepted_template_reopens_the_conversation() {
    let shop = Shop::new().await;
    shop.template(hello()).await;
    let contact = create_phone(shop.kit(), PHONE).await;
    shop.act(contact, ActionName::Close, json!({})).await;
    for (failure, reported) in [(refusal(), "PROVIDER_ERROR"), (uncertain(), "PROVIDER_ERROR")] {
        shop.kit().provider.then(Err(failure));
        let Err(Error::Rejected(error)) = send(&shop, to_ana()).await else {
            panic!("not refused")
        };
        assert_eq!(error.code().as_str(), reported);
        assert_eq!(error.details().unwrap()["message_id"], shop.messaging.newest().await["id"]);
        assert_eq!(shown(shop.kit(), contact).await["inbox_status"], "resolved");
    }
    send(&shop, to_ana()).await.unwrap();
    assert_eq!(shown(shop.kit(), contact).await["inbox_status"], "open");
}

#[tokio::test]
async fn a_phone_of_several_contacts_is_ambiguous() {
    let shop = Shop::new().await;
    shop.template(hello()).await;
    for identifier in ["a", "b"] {
        let new = body(json!({
            "identifier": identifier, "source_platform": "telegram", "phone": PHONE,
        }));
        shop.app().contacts().import(&shop.kit().company, &new).await.unwrap();
    }
    assert_eq!(code(send(&shop, to_ana()).await), "AMBIGUOUS_CONTACT");
}

#[tokio::test]
async fn a_template_of_another_company_is_unknown() {
    let shop = Shop::new().await;
    let (other, _) = shop.kit().another_company("Outra").await;
    let mut new = hello();
    new["status"] = json!("APPROVED");
    let made = shop.app().templates().create(other.id, &body(new)).await.unwrap();
    for name in ["hello".to_owned(), made.template.id.to_string()] {
        let mut said = to_ana();
        said["template"] = json!(name);
        assert_eq!(code(send(&shop, said).await), "TEMPLATE_NOT_FOUND");
    }
}

#[tokio::test]
async fn a_key_without_the_scope_sends_nothing() {
    let shop = Shop::new().await;
    shop.template(hello()).await;
    let scopes = Scopes::of(&[Scope::MessagesRead]);
    let access = shop.app().access();
    let made = access.create_key(shop.kit().company.id, KeyDraft::new("reader", scopes)).await;
    let caller = access.authenticate(made.unwrap().secret.expose()).await.unwrap();
    let denied = shop.app().sending().send_template(&caller, &body(to_ana())).await;
    assert!(matches!(denied, Err(Error::Denied(_))), "{denied:?}");
    assert_eq!(shop.calls(), 0);
}

#[tokio::test]
async fn a_position_is_written_without_a_sign_or_leading_zeros() {
    let shop = Shop::new().await;
    shop.template(hello()).await;
    for key in ["01", "+1", "0", " 1", "1000", "x"] {
        let said = json!({ "to": PHONE, "template": "hello", "variables": { key: "Ana" } });
        let (code, details) = refused(send(&shop, said).await);
        assert_eq!(code, "VALIDATION_ERROR", "{key:?}");
        assert_eq!(details["fields"], json!(["variables"]), "{key:?}");
    }
    assert_eq!(shop.calls(), 0);
}

/// R102.
#[tokio::test]
async fn a_message_that_could_not_be_stored_is_unavailable_and_never_sent() {
    for failure in
        [StoreFailure::Unavailable, StoreFailure::UnknownBefore, StoreFailure::UnknownAfter]
    {
        let shop = Shop::new().await;
        shop.template(hello()).await;
        shop.store.fail_nth(StoreOp::Commit, 0, failure);
        let outcome = send(&shop, to_ana()).await;
        assert!(
            matches!(outcome, Err(Error::Rejected(SendError::NotStored(_)))),
            "{failure:?}: {outcome:?}"
        );
        assert_eq!(code(outcome), "UNAVAILABLE");
        shop.store.heal();
        shop.app().sending().recover().await.unwrap();
        assert_eq!(shop.calls(), 0, "{failure:?}");
    }
}
