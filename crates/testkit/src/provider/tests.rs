use recado_core::connections::{ConnectionKind, ConnectionSettings, ConnectionStatus, GatewayName};
use recado_core::contacts::Platform;
use recado_core::gateway::{Content, FileKind, MediaContent};
use recado_core::ids::{CompanyId, ConnectionId};
use recado_core::messages::Offer;
use uuid::Uuid;

use super::*;
use crate::{ScriptedTransport, TestClock, contents};

fn connection() -> Connection {
    Connection {
        id: ConnectionId::new(Uuid::from_u128(1)),
        company: CompanyId::new(Uuid::from_u128(2)),
        kind: ConnectionKind::Qr,
        platform: Platform::whatsapp(),
        name: "Loja".to_owned(),
        identifier: "551133224455".to_owned(),
        gateway: GatewayName::new("simulated"),
        settings: ConnectionSettings::default(),
        is_active: true,
        status: ConnectionStatus::Connected,
        created_at: TestClock::START,
        updated_at: TestClock::START,
        last_heard_at: None,
    }
}

fn outgoing(reference: u128) -> Outgoing {
    Outgoing {
        reference: MessageId::new(Uuid::from_u128(reference)),
        recipient: "5534991234567".to_owned(),
        group: None,
        content: Content::Text("oi".to_owned()),
        quoted: None,
    }
}

async fn send(provider: &ScriptedProvider, reference: u128) -> SendResult {
    provider.send(&ScriptedTransport::new(), &connection(), &outgoing(reference)).await
}

#[tokio::test]
async fn answers_come_from_the_script_first() {
    let provider = ScriptedProvider::new();
    provider.then(Err(SendFailure::uncertain("no answer"))).then_accept("wamid.7");
    assert_eq!(send(&provider, 1).await, Err(SendFailure::uncertain("no answer")));
    assert_eq!(
        send(&provider, 2).await.map(|a| a.provider_id.as_str().to_owned()).as_deref(),
        Ok("wamid.7")
    );
    assert_eq!(send(&provider, 3).await.map(|a| a.provider_id), Ok(ScriptedProvider::id(1)));
    provider.otherwise(Some(SendFailure::uncertain("gone")));
    assert_eq!(send(&provider, 4).await, Err(SendFailure::uncertain("gone")));
    let sent: Vec<Outgoing> = provider.sent().into_iter().map(|sent| sent.outgoing).collect();
    assert_eq!(sent, [outgoing(1), outgoing(2), outgoing(3), outgoing(4)]);
}

#[tokio::test]
async fn a_send_waits_at_the_gate_until_it_is_opened() {
    let provider = ScriptedProvider::new();
    let gate = provider.hold();
    let held = tokio::spawn({
        let provider = provider.clone();
        async move { send(&provider, 1).await }
    });
    gate.reached(1).await;
    tokio::task::yield_now().await;
    assert!(!held.is_finished());
    gate.open();
    let answer = held.await.expect("the send does not panic");
    assert_eq!(answer.map(|a| a.provider_id), Ok(ScriptedProvider::id(1)));
    assert!(send(&provider, 2).await.is_ok());
}

#[tokio::test]
async fn what_is_asked_beside_sends_is_recorded_and_answered_from_the_script() {
    let provider = ScriptedProvider::new();
    let (connection, transport) = (connection(), ScriptedTransport::new());
    let target = contents::sent("wamid.1", "5534991234567");
    let edit = Edit { text: "oi, Ana".to_owned(), is_caption: false };
    provider.then_change(Err(SendFailure::uncertain("lost")));
    provider.then_sign(Err(ProviderError::Unsupported));
    let lost = provider.edit(&transport, &connection, &target, &edit).await;
    assert_eq!(lost, Err(SendFailure::uncertain("lost")));
    assert_eq!(provider.revoke(&transport, &connection, &target).await, Ok(()));
    let unable = provider.mark_read(&transport, &connection, &target).await;
    assert_eq!(unable, Err(ProviderError::Unsupported));
    let recipient = "5534991234567".to_owned();
    let whose = TypingIn { recipient: recipient.clone(), group: None, last_inbound: None };
    assert_eq!(provider.typing(&transport, &connection, &whose, Typing::Text).await, Ok(()));
    let acts: Vec<Act> = provider.acts().into_iter().map(|asked| asked.act).collect();
    let expected = [
        Act::Edit(target.clone(), edit),
        Act::Revoke(target.clone()),
        Act::Read(target),
        Act::Type(recipient, Typing::Text),
    ];
    assert_eq!(acts, expected);
}

#[tokio::test]
async fn every_kind_is_taken_within_the_limits_of_the_contract() {
    for kind in MessageKind::ALL {
        let Some(content) = contents::of(*kind, "5534991234567") else { continue };
        let message = Outgoing { content, ..outgoing(1) };
        assert_eq!(checks::check(&message).await, Ok(()), "{kind}");
    }
    let offer = |change: fn(&mut Offer)| {
        let mut offer = contents::buttons();
        change(&mut offer);
        contents::offered(offer)
    };
    let voice = contents::of(MessageKind::Voice, "x").expect("a kind of message");
    let Content::Media(voice) = voice else { panic!("a file") };
    for wrong in [
        Content::Text(String::new()),
        Content::Contacts(Vec::new()),
        Content::Media(MediaContent { caption: Some("x".to_owned()), ..voice.clone() }),
        Content::Media(MediaContent { kind: FileKind::Video, ..voice }),
        contents::headed(contents::buttons(), FileKind::Audio),
        offer(|offer| offer.body = None),
        offer(|offer| offer.footer = Some("x".repeat(61))),
        offer(|offer| offer.buttons.as_mut().expect("buttons").clear()),
        offer(|offer| offer.buttons.as_mut().expect("buttons")[1].id = Some("sim".into())),
        offer(|offer| offer.buttons.as_mut().expect("buttons")[1].title = Some("x".repeat(21))),
    ] {
        let message = Outgoing { content: wrong, ..outgoing(1) };
        let refused = checks::check(&message).await;
        assert!(refused.is_err(), "{:?}", message.content.kind());
    }
}

#[tokio::test]
#[should_panic(expected = "does not carry poll")]
async fn a_kind_that_the_connection_does_not_carry_is_a_mistake_of_the_core() {
    let provider = ScriptedProvider::new();
    let official = Connection { kind: ConnectionKind::OfficialCloud, ..connection() };
    let message = Outgoing { content: contents::offered(contents::poll()), ..outgoing(1) };
    let _ = provider.send(&ScriptedTransport::new(), &official, &message).await;
}
