//! Conversations: their list (R422), and what happens in them as it happens (R423).

mod filters;
mod list;
pub(crate) mod live;
mod seats;
#[cfg(test)]
mod tests;

pub(crate) use seats::Listening;

use recado_core::access::OperatorAction;

use crate::ask::Ask;
use crate::reply::{Outcome, Reply};
use crate::route::{Route, Verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::of_member(Verb::Get, "/console", |ask| Box::pin(home(ask))),
    Route::get(LIST, OperatorAction::ListOperatorContacts, |ask| Box::pin(list::list(ask))),
    Route::get("/console/live", OperatorAction::ListOperatorContacts, |ask| {
        Box::pin(live::live(ask))
    }),
];

const LIST: &str = "/console/inbox";

async fn home(_: Ask) -> Outcome {
    Reply::goto(LIST)
}
