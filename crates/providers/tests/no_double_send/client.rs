//! A program that sends through the API: with an idempotency key or without one.

use recado_core::access::Caller;
use recado_core::contacts::{Phone, Region};
use recado_core::gateway::MessageKind;
use recado_core::idempotency::{Begun, CallError, CallKey, hash_of, is_remembered};
use recado_core::ids::MessageId;
use recado_core::messages::Failure;
use recado_core::sending::{self, SendError, SendTarget, SentView};
use recado_core::{Error, Recado};
use recado_testkit::kit::body;
use serde_json::json;

use crate::gateway::PHONES;
use crate::kinds;

/// A message that a program sends once.
#[derive(Clone, Debug)]
pub struct Order {
    pub person: usize,
    pub kind: MessageKind,
    /// Its text, or the mark in it.
    pub text: String,
    pub key: Option<String>,
}

/// The answer to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing yet, or never: its process died.
    None,
    /// It was sent, as this message.
    Sent(MessageId),
    /// It was not sent, or that is not known, as the failure says.
    Failed(MessageId, Failure),
    /// Not stored, so not sent.
    NotStored,
    /// Refused before anything was stored.
    Refused(String),
    /// The answer of the first call again.
    Replayed(String),
    /// The first call with the key is under way, or its outcome is unknown.
    HeldOff,
    /// The store failed.
    Unavailable,
}

impl Answer {
    fn of(result: Result<SentView, Error<SendError>>) -> (Self, bool) {
        match result {
            Ok(sent) => {
                assert!(sent.wamid.is_some(), "what was sent has an id");
                (Self::Sent(sent.message_id), true)
            }
            Err(Error::Rejected(refused)) => {
                let remembered = is_remembered(&refused);
                let answer = match refused {
                    SendError::Provider { message, failure, .. }
                    | SendError::Uncertain { message, failure, .. } => {
                        Self::Failed(message, failure)
                    }
                    SendError::NotStored(_) => Self::NotStored,
                    other => Self::Refused(other.to_string()),
                };
                (answer, remembered)
            }
            Err(_) => (Self::Unavailable, false),
        }
    }
}

/// Makes one call, in the way of a server.
pub async fn call(app: Recado, caller: Caller, order: Order) -> Answer {
    let wanted = json!({"to": PHONES[order.person], "message": order.text});
    let hash = hash_of(wanted.to_string().as_bytes());
    let wanted = body(wanted);
    let send = async || match order.kind {
        MessageKind::Text => Answer::of(app.sending().send_text(&caller, &wanted).await),
        kind => {
            let phone = Phone::parse(PHONES[order.person], &Region::br()).expect("a phone");
            let target = SendTarget::Phone(phone);
            let text = sending::Order::text(caller.company(), target, None, String::new());
            let content = kinds::content(kind, &order.text);
            let order = sending::Order { content, ..text };
            let delivered = app.sending().deliver(order).await;
            Answer::of(delivered.map(|delivered| SentView::from(&delivered)))
        }
    };
    let Some(key) = order.key else { return send().await.0 };
    let key = CallKey::parse("POST /api/v1/send/message", &key).expect("a key");
    match app.calls().begin(caller.company(), key, hash).await {
        Ok(Begun::Fresh(ticket)) => {
            let (answer, remembered) = send().await;
            let kept = remembered.then(|| format!("{answer:?}"));
            let _ = app.calls().finish(ticket, kept, None).await;
            answer
        }
        Ok(Begun::Replay(answer)) => Answer::Replayed(answer),
        Err(Error::Rejected(CallError::Reused)) => panic!("the body is always the same"),
        Err(Error::Rejected(CallError::InProgress | CallError::Uncertain)) => Answer::HeldOff,
        Err(_) => Answer::Unavailable,
    }
}
