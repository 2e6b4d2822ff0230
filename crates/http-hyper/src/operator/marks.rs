//! Operators' marks on messages: reactions, read, changed, taken back; and showing that somebody
//! types (X13, X14).

use recado_core::Code;
use recado_core::access::OperatorAction;
use recado_core::ids::{ContactId, MessageId};
use recado_core::messages::{MessageListItem, MessageView};
use recado_core::sending::{
    EditDraft, ReactDraft, ReadMessageView, SendRules, TypedView, TypingDraft,
};

use crate::answer::Answer;
use crate::call::CompanyCall;
use crate::error::Outcome;
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::company(
        verb::POST,
        "/operator/v1/companies/{company_id}/messages/{id}/reaction",
        OperatorAction::ReactToMessage,
        |c| Box::pin(react(c)),
        |op| {
            op.does("React to a message, or withdraw the reaction")
                .body::<ReactDraft>(r#"{"emoji": "👍"}"#)
                .answers::<MessageView>()
                .refuses_all(&REFUSED)
        },
    )
    .json(),
    Route::company(
        verb::POST,
        "/operator/v1/companies/{company_id}/messages/{id}/read",
        OperatorAction::ReadMessage,
        |c| Box::pin(read(c)),
        |op| {
            op.does("Mark a received message, and what came before it, as read")
                .answers::<ReadMessageView>()
                .refuses_all(&REFUSED)
        },
    ),
    Route::company(
        verb::PATCH,
        "/operator/v1/companies/{company_id}/messages/{id}",
        OperatorAction::ChangeMessage,
        |c| Box::pin(edit(c)),
        |op| {
            op.does("Change a message that was sent")
                .body::<EditDraft>(r#"{"message": "Olá, Ana! Às 15 h."}"#)
                .answers::<MessageListItem>()
                .refuses_all(&REFUSED)
                .refuses(Code::TooLate)
        },
    )
    .json(),
    Route::company(
        verb::DELETE,
        "/operator/v1/companies/{company_id}/messages/{id}",
        OperatorAction::TakeMessageBack,
        |c| Box::pin(revoke(c)),
        |op| {
            op.does("Take a message back that was sent")
                .answers::<MessageListItem>()
                .refuses_all(&REFUSED)
                .refuses(Code::TooLate)
        },
    ),
    Route::company(
        verb::POST,
        "/operator/v1/companies/{company_id}/contacts/{id}/typing",
        OperatorAction::TypeToContact,
        |c| Box::pin(typing(c)),
        |op| {
            op.does("Show a contact that somebody writes")
                .body::<TypingDraft>(r#"{"state": "typing"}"#)
                .answers::<TypedView>()
        },
    )
    .json(),
];

/// The refusals of everything that is done about a message at its channel.
const REFUSED: [Code; 8] = [
    Code::ValidationError,
    Code::ContactBlocked,
    Code::ConnectionRequired,
    Code::NotSupportedByConnection,
    Code::ProviderError,
    Code::DeliveryUncertain,
    Code::ContactStateUnavailable,
    Code::OnHold,
];

fn message(call: &CompanyCall) -> MessageId {
    call.path.id("id", MessageId::parse)
}

async fn react(call: CompanyCall) -> Outcome {
    let conversations = call.recado.conversations();
    Answer::ok(conversations.react(call.who.id, message(&call), &call.body).await?)
}

async fn read(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.sending().mark_read(call.who.id, message(&call)).await?)
}

async fn edit(call: CompanyCall) -> Outcome {
    let (sending, id) = (call.recado.sending(), message(&call));
    Answer::ok(sending.edit(call.who.id, id, SendRules::AGENT, &call.body).await?)
}

async fn revoke(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.sending().revoke(call.who.id, message(&call)).await?)
}

async fn typing(call: CompanyCall) -> Outcome {
    let contact = call.path.id("id", ContactId::parse);
    Answer::ok(call.recado.sending().show_typing(call.who.id, contact, &call.body).await?)
}
