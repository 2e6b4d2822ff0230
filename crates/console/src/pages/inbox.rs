//! Conversations.

use maud::html;
use recado_core::access::OperatorAction;

use crate::ask::Ask;
use crate::reply::{Outcome, Reply};
use crate::route::{Route, Verb};
use crate::view::layout::Area;

pub(crate) const ROUTES: &[Route] = &[
    Route::of_member(Verb::Get, "/console", |ask| Box::pin(home(ask))),
    Route::get("/console/inbox", OperatorAction::ListOperatorContacts, |ask| Box::pin(list(ask))),
];

async fn home(_: Ask) -> Outcome {
    Reply::goto("/console/inbox")
}

async fn list(ask: Ask) -> Outcome {
    Reply::page(Area::Inbox, ask.visit.t("inbox-title"), html! {})
}
