//! Marks that a message was read, and signs that somebody types (X14).

use recado_core::gateway::{Provider, ProviderError, Typing, TypingIn};
use recado_core::groups::GroupCode;
use recado_core::transport::TransportError;
use recado_providers::cloud_api::CloudApi;
use recado_testkit::gateways::{FakeCloud, InProcess, SendBehaviour, graph_failure};
use recado_testkit::{ScriptedTransport, contents};
use serde_json::json;

use crate::support::*;

#[tokio::test]
async fn a_message_is_marked_as_read_by_its_id() {
    let fake = FakeCloud::new();
    let connection = connection_with(&fake.settings(&FakeCloud::base()));
    let target = contents::received("wamid.IN1", MARIA);
    let marked = CloudApi::new().mark_read(&InProcess(fake.clone()), &connection, &target).await;
    assert_eq!(marked, Ok(()));
    assert_eq!(fake.read(), ["wamid.IN1"]);
    assert!(fake.typed().is_empty() && fake.accepted().is_empty());
    assert_eq!(fake.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn a_mark_that_fails_says_why() {
    let fake = FakeCloud::new();
    let connection = connection_with(&fake.settings(&FakeCloud::base()));
    let target = contents::received("wamid.IN1", MARIA);
    fake.script_marks([graph_failure(131_009, "too old"), SendBehaviour::Broken(502)]);
    for expected in ["131009: too old", "HTTP 502"] {
        let marked =
            CloudApi::new().mark_read(&InProcess(fake.clone()), &connection, &target).await;
        assert_eq!(marked, Err(ProviderError::Failed(expected.to_owned())));
    }
    let lost = ScriptedTransport::new();
    lost.otherwise(Err(TransportError::Broken { after_sending: true }));
    let marked = CloudApi::new().mark_read(&lost, &plain(), &target).await;
    assert!(matches!(marked, Err(ProviderError::Failed(_))), "{marked:?}");
}

/// R333.
#[tokio::test]
async fn typing_is_shown_as_the_answer_to_the_newest_message_which_is_read_by_it() {
    let whose = |last: Option<&str>, group: Option<GroupCode>| TypingIn {
        recipient: MARIA.to_owned(),
        group,
        last_inbound: last.map(|id| contents::received(id, MARIA)),
    };
    let group = GroupCode::parse("120363000000000001@g.us", "g.us");
    for (whose, state, is_shown) in [
        (whose(Some("wamid.IN1"), None), Typing::Text, true),
        (whose(Some("wamid.IN1"), None), Typing::Recording, true),
        (whose(Some("wamid.IN1"), None), Typing::Paused, false),
        (whose(None, None), Typing::Text, false),
        (whose(Some("wamid.IN1"), group), Typing::Text, false),
    ] {
        let fake = FakeCloud::new();
        let connection = connection_with(&fake.settings(&FakeCloud::base()));
        let transport = InProcess(fake.clone());
        let shown = CloudApi::new().typing(&transport, &connection, &whose, state).await;
        let expected = if is_shown { Ok(()) } else { Err(ProviderError::Unsupported) };
        assert_eq!(shown, expected, "{state}");
        assert_eq!(fake.requests(), usize::from(is_shown), "{state}");
        assert_eq!(fake.read().len(), usize::from(is_shown), "{state}");
        assert_eq!(fake.typed(), fake.read(), "{state}");
        assert_eq!(fake.violations(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn the_request_is_the_one_that_the_api_documents() {
    let transport = ScriptedTransport::new();
    transport.then_json(200, &json!({"success": true}));
    let whose = TypingIn {
        recipient: MARIA.to_owned(),
        group: None,
        last_inbound: Some(contents::received("wamid.IN1", MARIA)),
    };
    let shown = CloudApi::new().typing(&transport, &plain(), &whose, Typing::Text).await;
    assert_eq!(shown, Ok(()));
    let request = transport.requests().remove(0);
    assert_eq!(request.url, format!("https://graph.facebook.com/v23.0/{NUMBER}/messages"));
    assert_eq!(
        body_of(&request),
        json!({"messaging_product": "whatsapp", "status": "read", "message_id": "wamid.IN1",
            "typing_indicator": {"type": "text"}})
    );
}
