//! Operators' actions on the conversation of a contact (3.1, 3.4, D42).

use recado_core::Code;
use recado_core::access::OperatorAction;
use recado_core::contacts::OperatorContact;
use recado_core::conversations::{
    ActionName, AiModeBody, AssignBody, CloseBody, HandoffBody, OptOutBody, PauseAiBody,
    ReplyDraft, ReplyTemplateDraft, TakeOverBody, TurnDraft,
};
use recado_core::ids::ContactId;
use recado_core::messages::MessageView;
use recado_core::sending::MediaDraft;
use serde::Serialize;
#[cfg(test)]
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::call::CompanyCall;
use crate::error::Outcome;
use crate::openapi::Operation;
use crate::openapi::bodies::Nothing;
use crate::route::{Route, verb};
use crate::uploads::{refuses_a_file, refuses_files};

/// An action that only changes the state of the conversation.
macro_rules! act {
    ($path:literal, $action:ident, $name:ident, $summary:literal, $body:ident, $example:literal) => {
        Route::company(
            verb::POST,
            concat!("/operator/v1/companies/{company_id}/contacts/{id}/", $path),
            OperatorAction::$name,
            |c| Box::pin(act(c, ActionName::$action)),
            |op| op.does($summary).body::<$body>($example).answers::<OperatorContact>(),
        )
        .optional_json()
    };
}

pub(crate) const ROUTES: &[Route] = &[
    Route::company(
        verb::POST,
        "/operator/v1/companies/{company_id}/contacts/{id}/reply",
        OperatorAction::ReplyToContact,
        |c| Box::pin(reply(c)),
        |op| {
            sends(op.does("Send an agent's text"))
                .body::<ReplyDraft>(r#"{"message": "Olá! Como posso ajudar?"}"#)
                .answers::<ContactWithMessages>()
        },
    )
    .json(),
    Route::company(
        verb::POST,
        "/operator/v1/companies/{company_id}/contacts/{id}/reply-template",
        OperatorAction::ReplyWithTemplate,
        |c| Box::pin(reply_template(c)),
        |op| {
            refuses_a_file(sends(op.does("Send an approved template for an agent")))
                .body::<ReplyTemplateDraft>(
                    r#"{"template": "pedido_enviado", "variables": {"nome": "Ana"},
                        "header": {"text": "77"}, "buttons": [{"index": 0, "url_suffix": "77"}]}"#,
                )
                .answers::<ContactWithMessages>()
                .refuses(Code::TemplateNotApproved)
                .refuses(Code::TemplateNotFound)
        },
    )
    .json(),
    Route::company(
        verb::POST,
        "/operator/v1/companies/{company_id}/contacts/{id}/reply-media",
        OperatorAction::ReplyWithMedia,
        |c| Box::pin(reply_media(c)),
        |op| {
            refuses_files(sends(op.does("Send a file for an agent")))
                .form::<MediaDraft>(
                    r#"{"type": "image", "url": "https://files.example.org/foto.jpg",
                        "caption": "A fachada"}"#,
                )
                .answers::<ContactWithMessages>()
        },
    )
    .json_or_form(),
    Route::company(
        verb::POST,
        "/operator/v1/companies/{company_id}/contacts/{id}/ai-turn",
        OperatorAction::TakeAiTurn,
        |c| Box::pin(ai_turn(c)),
        |op| {
            sends(op.does("Send the bubbles of one turn of the service's AI"))
                .more("One debit covers the bubbles that were accepted; without one there is none.")
                .body::<TurnDraft>(
                    r#"{"messages": ["Oi!", "Posso ajudar?"], "prosas": 1.5, "cost_brl": 0.042}"#,
                )
                .answers::<ContactWithMessages>()
                .refuses(Code::ContactOptedOut)
                .refuses(Code::AiDisabled)
        },
    )
    .json(),
    act!("close", Close, CloseConversation, "Close a conversation", CloseBody, r#"{}"#),
    act!(
        "take-over",
        TakeOver,
        TakeOverConversation,
        "Take a conversation over",
        TakeOverBody,
        r#"{"member_id": "01939b5e-0000-7000-8000-000000000004"}"#
    ),
    act!(
        "assign",
        Assign,
        AssignConversation,
        "Assign a conversation, or take it from everybody",
        AssignBody,
        r#"{"member_id": null}"#
    ),
    act!(
        "pause-ai",
        PauseAi,
        PauseAi,
        "Pause the AI",
        PauseAiBody,
        r#"{"until": "2026-11-20T18:00:00.000Z"}"#
    ),
    act!("resume-ai", ResumeAi, ResumeAi, "Lift the pause of the AI", Nothing, r#"{}"#),
    act!("ai-mode", AiMode, PickAiMode, "Pick who answers", AiModeBody, r#"{"mode": "service"}"#),
    act!(
        "enable-external-ai",
        EnableExternalAi,
        EnableExternalAi,
        "Switch the external AI on again",
        Nothing,
        r#"{}"#
    ),
    act!(
        "handoff",
        Handoff,
        HandOffConversation,
        "Hand a conversation to people",
        HandoffBody,
        r#"{}"#
    ),
    act!("block", Block, BlockContact, "Block a contact", Nothing, r#"{}"#),
    act!("unblock", Unblock, UnblockContact, "Lift the block of a contact", Nothing, r#"{}"#),
    act!(
        "opt-out",
        OptOut,
        BackfillOptOut,
        "Announce a block of the contact's own",
        OptOutBody,
        r#"{"source": "backfill", "opted_out_at": "2024-03-01T12:00:00.000Z"}"#
    ),
    act!("opt-in", OptIn, OptInContact, "Lift a block of the contact's own", Nothing, r#"{}"#),
    act!("read", Read, ReadConversation, "Mark a conversation as read", Nothing, r#"{}"#),
];

/// A contact as the operator sees it, with the messages that were made.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
struct ContactWithMessages {
    #[serde(flatten)]
    contact: OperatorContact,
    /// The messages, in the order they were sent.
    messages: Vec<MessageView>,
}

/// The refusals of every action that sends.
fn sends(op: Operation) -> Operation {
    op.refuses(Code::ContactBlocked)
        .refuses(Code::GroupAnnounceOnly)
        .refuses(Code::ConnectionRequired)
        .refuses(Code::ProviderError)
        .refuses(Code::DeliveryUncertain)
        .refuses(Code::ContactStateUnavailable)
        .refuses(Code::OnHold)
}

fn id(call: &CompanyCall) -> ContactId {
    call.path.id("id", ContactId::parse)
}

async fn act(call: CompanyCall, action: ActionName) -> Outcome {
    call.recado.conversations().act(call.who.id, id(&call), action, &call.body).await?;
    Answer::ok(call.recado.contacts().get_for_operator(call.who.id, id(&call)).await?)
}

async fn reply(call: CompanyCall) -> Outcome {
    let conversations = call.recado.conversations();
    let messages = conversations.reply(call.who.id, id(&call), &call.body).await?;
    with_messages(&call, messages).await
}

async fn reply_template(call: CompanyCall) -> Outcome {
    let conversations = call.recado.conversations();
    let messages = conversations.reply_template(call.who.id, id(&call), &call.body).await?;
    with_messages(&call, messages).await
}

async fn reply_media(call: CompanyCall) -> Outcome {
    let conversations = call.recado.conversations();
    let (company, contact) = (call.who.id, id(&call));
    let messages = conversations.reply_media(company, contact, &call.body, call.file).await?;
    with_messages(&call, messages).await
}

async fn ai_turn(call: CompanyCall) -> Outcome {
    let conversations = call.recado.conversations();
    let messages = conversations.ai_turn(call.who.id, id(&call), &call.body).await?;
    with_messages(&call, messages).await
}

async fn with_messages(call: &CompanyCall, messages: Vec<MessageView>) -> Outcome {
    let contact = call.recado.contacts().get_for_operator(call.who.id, id(call)).await?;
    Answer::ok(ContactWithMessages { contact, messages })
}
