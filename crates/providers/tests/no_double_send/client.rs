//! A program that sends through the API: with an idempotency key or without one.

use recado_core::access::Caller;
use recado_core::contacts::{Phone, Region};
use recado_core::gateway::MessageKind;
use recado_core::idempotency::{Begun, CallError, CallKey, hash_of, is_remembered};
use recado_core::ids::{MessageId, UploadId};
use recado_core::messages::Failure;
use recado_core::sending::{self, SendError, SendTarget, SentView};
use recado_core::uploads::{MAX_FILE_BYTES, NewFile};
use recado_core::{Error, Recado};
use recado_testkit::kit::body;
use serde_json::json;

use crate::dice::Dice;
use crate::files::{address_of, marked};
use crate::gateway::PHONES;
use crate::kinds;
use crate::world::finish;

/// Where the file of a message comes from.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// It was uploaded before.
    Upload(UploadId),
    /// It is fetched.
    Address,
    /// It comes with the call.
    Form,
}

/// A message that a program sends once.
#[derive(Clone, Debug)]
pub struct Order {
    pub person: usize,
    pub kind: MessageKind,
    /// Where its file comes from, if it has one.
    pub file: Option<Source>,
    /// Its text, or the mark in it.
    pub text: String,
    pub key: Option<String>,
}

/// The order with this number: a text, or a message of any kind.
pub fn plan(app: &Recado, caller: &Caller, dice: &Dice, kinds: &[MessageKind], n: usize) -> Order {
    let (person, text) = (dice.below(PHONES.len()), format!("pedido {n}"));
    let kind = if dice.one_in(3) { MessageKind::Text } else { *dice.pick(kinds) };
    let file = kinds::file_of(kind).map(|_| match dice.below(3) {
        0 => Source::Upload(finish(upload(app, caller, kind, &text))),
        1 => Source::Address,
        _ => Source::Form,
    });
    Order { person, kind, file, text, key: None }
}

/// Uploads a file for a message of this kind.
async fn upload(app: &Recado, caller: &Caller, kind: MessageKind, mark: &str) -> UploadId {
    let file = marked(kind, mark);
    let frames = Box::pin(file.stored.open().await.expect("it is there"));
    let new = NewFile { mimetype: None, filename: file.filename, is_listed: true };
    app.uploads().create(caller, new, frames).await.expect("kept").id
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

/// Sends a file.
async fn send_file(app: &Recado, caller: &Caller, order: &Order, source: Source) -> (Answer, bool) {
    let kind = kinds::file_of(order.kind).expect("it has a file");
    let is_voice = order.kind == MessageKind::Voice;
    let mut wanted = json!({"to": PHONES[order.person], "type": kind.as_str(),
        "is_voice": is_voice});
    if kinds::has_caption(order.kind) {
        wanted["caption"] = order.text.as_str().into();
    }
    let mut received = None;
    match source {
        Source::Upload(id) => wanted["media_id"] = json!(id),
        Source::Address => wanted["url"] = address_of(order.kind, &order.text).into(),
        Source::Form => match receive(app, caller, order.kind, &order.text).await {
            Some(id) => received = Some(id),
            None => return (Answer::Unavailable, false),
        },
    }
    let sent = app.sending().send_media(caller, &body(wanted), received).await;
    Answer::of(sent.map(|sent| sent.sent))
}

/// The file that comes with a call; `None` if the store fails.
async fn receive(app: &Recado, caller: &Caller, kind: MessageKind, mark: &str) -> Option<UploadId> {
    let file = marked(kind, mark);
    let frames = Box::pin(file.stored.open().await.expect("it is there"));
    let new = NewFile { mimetype: None, filename: file.filename, is_listed: false };
    let received = app.uploads().receive(caller.company(), new, frames, MAX_FILE_BYTES).await;
    received.ok().map(|upload| upload.id)
}

/// Makes one call, in the way of a server.
pub async fn call(app: Recado, caller: Caller, order: Order) -> Answer {
    let wanted = json!({"to": PHONES[order.person], "message": order.text});
    let hash = hash_of(wanted.to_string().as_bytes());
    let wanted = body(wanted);
    let send = async || match (order.kind, order.file) {
        (MessageKind::Text, _) => Answer::of(app.sending().send_text(&caller, &wanted).await),
        (_, Some(source)) => send_file(&app, &caller, &order, source).await,
        (kind, None) => {
            let phone = Phone::parse(PHONES[order.person], &Region::br()).expect("a phone");
            let target = SendTarget::Phone(phone);
            let text = sending::Order::text(caller.company(), target, None, String::new());
            let content = kinds::content(kind, &order.text);
            let order = sending::Order { content, ..text };
            let delivered = app.sending().deliver(order).await;
            Answer::of(delivered.map(|delivered| SentView::from(&delivered)))
        }
    };
    let Some(key) = &order.key else { return send().await.0 };
    let key = CallKey::parse("POST /api/v1/send/message", key).expect("a key");
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
