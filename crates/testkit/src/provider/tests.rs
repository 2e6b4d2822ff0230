use recado_core::connections::{ConnectionKind, ConnectionSettings, ConnectionStatus, GatewayName};
use recado_core::contacts::Platform;
use recado_core::gateway::Content;
use recado_core::ids::CompanyId;
use uuid::Uuid;

use super::*;
use crate::{ScriptedTransport, TestClock};

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
