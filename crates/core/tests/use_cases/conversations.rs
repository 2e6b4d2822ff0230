//! Operators' actions on conversations: what they refer to, and what is read (D42, D44a).

use recado_core::ManageResult;
use recado_core::conversations::ActionName;
use recado_core::ids::ContactId;
use recado_testkit::Kit;
use recado_testkit::kit::body;
use serde_json::{Value, json};
use uuid::Uuid;

use super::messaging::Messaging;
use super::{create_phone, refused, shown};

const PHONE: &str = "+5534991230001";

async fn act(kit: &Kit, id: ContactId, action: ActionName, with: Value) -> ManageResult<()> {
    kit.app.conversations().act(kit.company.id, id, action, &body(with)).await
}

#[tokio::test]
async fn a_conversation_is_taken_over_by_members_of_the_company_only() {
    let kit = Kit::new().await;
    let contact = create_phone(&kit, PHONE).await;
    let nobody = json!({ "member_id": Uuid::from_u128(3) });
    let (code, details) = refused(act(&kit, contact, ActionName::TakeOver, nobody).await);
    assert_eq!(code, "VALIDATION_ERROR");
    assert!(details.to_string().contains("member_id"), "{details}");
    assert_eq!(shown(&kit, contact).await["assigned_to"], Value::Null);
    let member = body(json!({ "display_name": "Bia" }));
    let member = kit.app.access().create_member(kit.company.id, &member).await.unwrap();
    let member = json!({ "member_id": member.id });
    act(&kit, contact, ActionName::TakeOver, member).await.unwrap();
    assert_eq!(shown(&kit, contact).await["assigned_to"]["display_name"], "Bia");
}

#[tokio::test]
async fn a_conversation_is_closed_for_reasons_of_the_company_only() {
    let kit = Kit::new().await;
    let contact = create_phone(&kit, PHONE).await;
    let unknown = json!({ "close_reason_id": Uuid::from_u128(3) });
    let (code, details) = refused(act(&kit, contact, ActionName::Close, unknown).await);
    assert_eq!(code, "VALIDATION_ERROR");
    assert!(details.to_string().contains("close_reason_id"), "{details}");
    assert_eq!(shown(&kit, contact).await["inbox_status"], "open");
    let reason = body(json!({ "name": "Vendido" }));
    let reason = kit.app.tags().create_close_reason(kit.company.id, &reason).await.unwrap();
    let reason = json!({ "close_reason_id": reason.id });
    act(&kit, contact, ActionName::Close, reason.clone()).await.unwrap();
    let now = shown(&kit, contact).await;
    assert_eq!(now["inbox_status"], "resolved");
    assert_eq!(now["last_close_reason_id"], reason["close_reason_id"]);
}

/// D44a.
#[tokio::test]
async fn reading_writes_down_when_and_resets_the_counts() {
    let messaging = Messaging::on(Kit::new().await).await;
    let kit = &messaging.kit;
    let contact = create_phone(kit, PHONE).await;
    messaging.hear("m1", "5534991230001", "Oi").await;
    let before = shown(kit, contact).await;
    assert_eq!(before["connections"][0]["unread_count"], 1);
    assert_eq!(before["last_read_at"], Value::Null);
    act(kit, contact, ActionName::Read, json!({})).await.unwrap();
    let after = shown(kit, contact).await;
    assert_eq!(after["connections"][0]["unread_count"], 0);
    assert_eq!(after["last_read_at"], json!(kit.app.now()));
}
