//! Whom a send by phone and contact means, and why no connection reaches them (D71).

use recado_core::Error;
use recado_core::ids::{ConnectionId, ContactId};
use recado_core::sending::{NoConnection, Order, SendError, SendTarget, SentView};
use recado_testkit::kit::body;
use serde_json::{Value, json};

use super::gateway_scene::*;
use super::{create_phone, refused};

const LID: &str = "123456@lid";

async fn import(scene: &Scene, new: Value) -> ContactId {
    scene.kit.app.contacts().import(&scene.kit.company, &body(new)).await.unwrap().0
}

async fn send(scene: &Scene, to: &str, contact: ContactId) -> Result<SentView, Error<SendError>> {
    let text = body(json!({ "to": to, "contact_id": contact, "message": "Oi" }));
    scene.kit.app.sending().send_text(&scene.kit.caller, &text).await
}

/// D71.
#[tokio::test]
async fn of_several_contacts_with_a_phone_the_named_one_is_meant() {
    let scene = scene("waha").await;
    let phone = "+5511987654321";
    let mut contacts = Vec::new();
    for identifier in ["5511987654321", LID, "654321@lid"] {
        contacts.push(import(&scene, json!({ "phone": phone, "identifier": identifier })).await);
    }
    for contact in contacts {
        assert_eq!(send(&scene, phone, contact).await.unwrap().contact_id, contact);
    }
}

/// D71.
#[tokio::test]
async fn a_phone_and_a_contact_that_are_two_people_are_refused_by_name() {
    let scene = scene("waha").await;
    create_phone(&scene.kit, PHONE).await;
    let other = create_phone(&scene.kit, "+5511987654321").await;
    let (code, details) = refused(send(&scene, PHONE, other).await);
    assert_eq!(code, "VALIDATION_ERROR");
    for field in ["to", "contact_id"] {
        assert!(details.to_string().contains(&format!("\"{field}\"")), "{field}: {details}");
    }
    assert!(scene.kit.provider.sent().is_empty());
}

/// D71.
#[tokio::test]
async fn a_connection_that_knows_no_name_of_a_contact_is_refused_for_that() {
    let scene = scene("waha").await;
    let official = connect(&scene.kit, "cloud_api", json!({})).await;
    let contact = import(&scene, json!({ "identifier": LID })).await;
    let send = async |connection: Option<ConnectionId>| {
        let target = SendTarget::Contact(contact);
        let order = Order::text(scene.kit.company.id, target, connection, "Oi".to_owned());
        scene.kit.app.sending().deliver(order).await
    };
    match send(Some(official)).await {
        Err(Error::Rejected(SendError::ConnectionRequired(why))) => {
            assert_eq!(why, NoConnection::Nameless);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(send(None).await.unwrap().message.connection, scene.connection());
}
