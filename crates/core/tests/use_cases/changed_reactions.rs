//! Our own reactions that are changed or withdrawn: what is told of it (X5a, X7, R321, R353).

use std::time::Duration;

use recado_core::Error;
use recado_core::gateway::SendFailure;
use recado_core::messages::DeliveryCode;
use recado_core::sending::{KindSentView, SendError};
use recado_testkit::MemoryStore;
use recado_testkit::kit::body;
use serde_json::{Value, json};

use super::messaging::Messaging;
use super::send_marks::{events, with_model};

struct Case {
    messaging: Messaging,
    model: MemoryStore,
    heard: Value,
}

impl Case {
    /// A company that has heard a message.
    async fn new() -> Self {
        let (messaging, model) = with_model().await;
        messaging.hear("in.1", "5534991230001", "Pronto").await;
        let heard = messaging.newest().await;
        Self { messaging, model, heard }
    }

    async fn react(&self, emoji: Value) -> Result<KindSentView, Error<SendError>> {
        self.messaging.kit.clock.advance(Duration::from_secs(1));
        let reaction = body(json!({"message_id": self.heard["id"], "emoji": emoji}));
        let (app, caller) = (&self.messaging.kit.app, &self.messaging.kit.caller);
        app.sending().send_reaction(caller, &reaction).await
    }

    fn refuses(&self) {
        let refusal = SendFailure::refused(DeliveryCode::ContentRejected, "no");
        self.messaging.kit.provider.then(Err(refusal));
    }

    /// The events of this type about reactions, oldest first.
    fn told(&self, event_type: &str) -> Vec<Value> {
        let all = events(&self.model, &self.messaging, event_type);
        all.into_iter().filter(|event| event["type"] == "reaction").collect()
    }

    async fn stored(&self) -> Value {
        let reactions = self.messaging.of_type("reaction").await;
        assert_eq!(reactions.len(), 1);
        reactions[0].clone()
    }
}

/// X5a, X7, R353.
#[tokio::test]
async fn a_reaction_is_told_once_as_sent_and_then_as_changed() {
    let case = Case::new().await;
    let first = case.react(json!("👍")).await.unwrap();
    for emoji in [json!("❤️"), json!(null)] {
        case.react(emoji).await.unwrap();
    }
    let sent = case.told("message.sent");
    assert_eq!((sent.len(), &sent[0]["reaction"]["emoji"]), (1, &json!("👍")));
    let updated = case.told("message.updated");
    assert_eq!(updated.len(), 2);
    for (told, (emoji, wamid)) in
        updated.iter().zip([(json!("❤️"), "fake.2"), (json!(null), "fake.3")])
    {
        assert_eq!(told["message_id"], json!(first.sent.message_id));
        assert_eq!((&told["content"], &told["reaction"]["emoji"]), (&emoji, &emoji));
        assert_eq!(told["changed"], json!(["content", "reaction"]));
        assert_eq!((&told["wamid"], &told["status"]), (&json!(wamid), &json!("sent")));
    }
    assert_eq!(case.told("message.status_updated"), Vec::<Value>::new());
}

/// R353.
#[tokio::test]
async fn the_same_reaction_again_is_no_change() {
    let case = Case::new().await;
    for _ in 0..2 {
        case.react(json!("👍")).await.unwrap();
    }
    assert_eq!((case.told("message.sent").len(), case.told("message.updated").len()), (1, 0));
    case.refuses();
    case.react(json!("❤️")).await.unwrap_err();
    case.react(json!("❤️")).await.unwrap();
    assert_eq!((case.told("message.sent").len(), case.told("message.updated").len()), (1, 1));
}

/// R353.
#[tokio::test]
async fn a_reaction_after_one_that_was_refused_is_sent_for_the_first_time() {
    let case = Case::new().await;
    case.refuses();
    case.react(json!("👍")).await.unwrap_err();
    case.react(json!("❤️")).await.unwrap();
    assert_eq!((case.told("message.sent").len(), case.told("message.updated").len()), (1, 0));
    assert_eq!(case.stored().await["is_edited"], json!(false));
}

/// R321.
#[tokio::test]
async fn a_change_that_is_refused_fails_whatever_is_reported_of_the_reaction_before() {
    let case = Case::new().await;
    case.react(json!("👍")).await.unwrap();
    case.refuses();
    let refused = case.react(json!("❤️")).await.unwrap_err();
    assert!(matches!(refused, Error::Rejected(SendError::Provider { .. })), "{refused:?}");
    assert_eq!(case.stored().await["status"], "failed");
    case.messaging.status("fake.1", "read").await;
    assert_eq!(case.stored().await["status"], "failed");
    assert_eq!((case.told("message.sent").len(), case.told("message.updated").len()), (1, 0));

    // The next change is one of what was accepted.
    case.react(json!("👏")).await.unwrap();
    let updated = case.told("message.updated");
    assert_eq!((updated.len(), &updated[0]["content"]), (1, &json!("👏")));
}

/// R321: what is reported of the reaction before says nothing of the one that is being sent.
#[tokio::test]
async fn a_report_of_the_reaction_before_does_not_move_the_change_that_is_under_way() {
    let case = Case::new().await;
    case.react(json!("👍")).await.unwrap();
    case.messaging.kit.provider.then(Err(SendFailure::uncertain("timed out")));
    let gate = case.messaging.kit.provider.hold();
    let (changed, ()) = tokio::join!(case.react(json!("❤️")), async {
        gate.reached(2).await;
        case.messaging.status("fake.1", "read").await;
        assert_eq!(case.stored().await["status"], "pending");
        gate.open();
    });
    assert!(changed.unwrap_err().may_have_arrived());
    case.messaging.status("fake.1", "read").await;
    assert_eq!(case.stored().await["error_type"], "delivery_uncertain");
    assert_eq!((case.told("message.sent").len(), case.told("message.updated").len()), (1, 0));
}

/// R353: a report may prove a change before its answer is recorded.
#[tokio::test]
async fn a_change_that_a_report_proves_first_is_told_as_a_change_too() {
    let case = Case::new().await;
    let first = case.react(json!("👍")).await.unwrap();
    let gate = case.messaging.kit.provider.hold();
    let (changed, ()) = tokio::join!(case.react(json!("❤️")), async {
        gate.reached(2).await;
        let report = json!({"kind": "status", "provider_message_id": "fake.2",
            "status": "delivered", "reference": first.sent.message_id});
        case.messaging.tell(report).await;
        gate.open();
    });
    changed.unwrap();
    assert_eq!(case.stored().await["status"], "delivered");
    let updated = case.told("message.updated");
    assert_eq!((updated.len(), &updated[0]["reaction"]["emoji"]), (1, &json!("❤️")));
    assert_eq!(case.told("message.sent").len(), 1);
}
