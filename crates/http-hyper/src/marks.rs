//! The public API's marks on messages: read, changed, taken back; and showing that somebody types
//! (X14).

use recado_core::Code;
use recado_core::access::Scope;
use recado_core::ids::{ContactId, MessageId};
use recado_core::messages::MessageListItem;
use recado_core::sending::{EditDraft, ReadMessageView, TypedView, TypingDraft};

use crate::answer::Answer;
use crate::call::PublicCall;
use crate::error::Outcome;
use crate::openapi::Operation;
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::public(
        verb::POST,
        "/api/v1/messages/{id}/read",
        Scope::MessagesSend,
        |c| Box::pin(read(c)),
        doc_read,
    )
    .idempotent(),
    Route::public(
        verb::PATCH,
        "/api/v1/messages/{id}",
        Scope::MessagesSend,
        |c| Box::pin(edit(c)),
        doc_edit,
    )
    .json()
    .idempotent(),
    Route::public(
        verb::DELETE,
        "/api/v1/messages/{id}",
        Scope::MessagesSend,
        |c| Box::pin(revoke(c)),
        doc_revoke,
    )
    .idempotent(),
    Route::public(
        verb::POST,
        "/api/v1/contacts/{id}/typing",
        Scope::MessagesSend,
        |c| Box::pin(typing(c)),
        doc_typing,
    )
    .json()
    .idempotent(),
];

/// The refusals of everything that is done about a message at its channel.
const REFUSED: [Code; 7] = [
    Code::ValidationError,
    Code::ConnectionRequired,
    Code::NotSupportedByConnection,
    Code::ProviderError,
    Code::DeliveryUncertain,
    Code::ContactStateUnavailable,
    Code::OnHold,
];

pub(crate) fn doc_read(op: Operation) -> Operation {
    op.says("markMessageRead", "Mark a received message, and what came before it, as read")
        .answers::<ReadMessageView>()
        .refuses_all(&REFUSED)
}

pub(crate) fn doc_edit(op: Operation) -> Operation {
    op.says("editMessage", "Change a message that was sent")
        .more("At most fifteen minutes after it was sent. Safe to repeat.")
        .body::<EditDraft>(r#"{"message": "Olá, Ana! Às 15 h."}"#)
        .answers::<MessageListItem>()
        .refuses_all(&REFUSED)
        .refuses_all(&[Code::TooLate, Code::ContactOptedOut])
        .refuses_all(&[Code::ContactBlocked, Code::ExternalAiDisabled])
}

pub(crate) fn doc_revoke(op: Operation) -> Operation {
    op.says("revokeMessage", "Take a message back that was sent")
        .more("At most 48 hours after it was sent. Safe to repeat.")
        .answers::<MessageListItem>()
        .refuses_all(&REFUSED)
        .refuses(Code::TooLate)
}

pub(crate) fn doc_typing(op: Operation) -> Operation {
    op.says("showTyping", "Show a contact that somebody writes")
        .more("At best effort; `done` is false where the gateway cannot, and within a second.")
        .body::<TypingDraft>(r#"{"state": "typing"}"#)
        .answers::<TypedView>()
}

fn message(call: &PublicCall) -> MessageId {
    call.path.id("id", MessageId::parse)
}

async fn read(call: PublicCall) -> Outcome {
    Answer::ok(call.recado.sending().mark_read_by(&call.who, message(&call)).await?)
}

async fn edit(call: PublicCall) -> Outcome {
    Answer::ok(call.recado.sending().edit_by(&call.who, message(&call), &call.body).await?)
}

async fn revoke(call: PublicCall) -> Outcome {
    Answer::ok(call.recado.sending().revoke_by(&call.who, message(&call)).await?)
}

async fn typing(call: PublicCall) -> Outcome {
    let contact = call.path.id("id", ContactId::parse);
    Answer::ok(call.recado.sending().show_typing_by(&call.who, contact, &call.body).await?)
}
