//! The conversation with one contact: its messages, answers, and what is known of it (R424, R425).

mod acts;
mod blocks;
mod compose;
mod file;
mod message;
mod panel;
mod send;
mod show;
mod template;
#[cfg(test)]
mod tests;
mod upload;

use http::HeaderMap;
use recado_core::access::OperatorAction;
use recado_core::conversations::ActionName;
use recado_core::ids::ContactId;

use crate::ask::{Ask, PathParts};
use crate::fields::Fields;
use crate::route::Route;
use crate::visit::Visit;

/// An action on the state of the conversation.
macro_rules! act {
    ($path:literal, $name:ident, $action:ident) => {
        Route::post(
            concat!("/console/inbox/{contact_id}/", $path),
            OperatorAction::$action,
            |ask| Box::pin(acts::act(ask, ActionName::$name)),
        )
    };
}

/// The paths below `/console/inbox/{contact_id}`.
pub(crate) const ROUTES: &[Route] = &[
    Route::get(ONE, OperatorAction::ListOperatorMessages, |ask| Box::pin(show::show(ask))),
    Route::get(
        "/console/inbox/{contact_id}/messages",
        OperatorAction::ListOperatorMessages,
        |ask| Box::pin(show::messages(ask)),
    ),
    Route::get(
        "/console/inbox/{contact_id}/files/{message_id}",
        OperatorAction::ListOperatorMessages,
        |ask| Box::pin(file::read(ask)),
    ),
    Route::post("/console/inbox/{contact_id}/reply", OperatorAction::ReplyToContact, |ask| {
        Box::pin(compose::text(ask))
    }),
    Route::post("/console/inbox/{contact_id}/buttons", OperatorAction::ReplyToContact, |ask| {
        Box::pin(compose::buttons(ask))
    }),
    Route::post(
        "/console/inbox/{contact_id}/messages/{message_id}/reaction",
        OperatorAction::ReactToMessage,
        |ask| Box::pin(compose::react(ask)),
    ),
    Route::post("/console/inbox/{contact_id}/file", OperatorAction::ReplyWithMedia, |ask| {
        Box::pin(upload::send(ask))
    })
    .streamed(),
    Route::get("/console/inbox/{contact_id}/template", OperatorAction::ReplyWithTemplate, |ask| {
        Box::pin(template::form(ask))
    }),
    Route::get(
        "/console/inbox/{contact_id}/template/preview",
        OperatorAction::ReplyWithTemplate,
        |ask| Box::pin(template::preview(ask)),
    ),
    Route::post("/console/inbox/{contact_id}/template", OperatorAction::ReplyWithTemplate, |ask| {
        Box::pin(template::send(ask))
    }),
    act!("take-over", TakeOver, TakeOverConversation),
    act!("handoff", Handoff, HandOffConversation),
    act!("assign", Assign, AssignConversation),
    act!("close", Close, CloseConversation),
    act!("ai-mode", AiMode, PickAiMode),
    act!("pause-ai", PauseAi, PauseAi),
    act!("resume-ai", ResumeAi, ResumeAi),
    act!("enable-external-ai", EnableExternalAi, EnableExternalAi),
    act!("read", Read, ReadConversation),
    act!("block", Block, BlockContact),
    act!("unblock", Unblock, UnblockContact),
    act!("opt-in", OptIn, OptInContact),
];

const ONE: &str = "/console/inbox/{contact_id}";

/// A request without its body, so that it can be shared while something is awaited.
struct Here {
    visit: Visit,
    path: PathParts,
    query: Fields,
    form: Fields,
    headers: HeaderMap,
}

impl Here {
    fn of(ask: Ask) -> Self {
        let Ask { visit, path, query, form, headers, .. } = ask;
        Self { visit, path, query, form, headers }
    }
}

/// The contact of the path.
fn id(ask: &Here) -> ContactId {
    ask.path.id("contact_id", ContactId::parse)
}

/// The page of a conversation.
fn page_of(id: ContactId) -> String {
    format!("/console/inbox/{id}")
}
