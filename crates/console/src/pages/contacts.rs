//! Contacts, and what is known of them.

use maud::html;
use recado_core::access::OperatorAction;

use crate::ask::Ask;
use crate::reply::{Outcome, Reply};
use crate::route::Route;
use crate::view::layout::Area;

pub(crate) const ROUTES: &[Route] = &[Route::get(
    "/console/contacts",
    OperatorAction::ListOperatorContacts,
    |ask| Box::pin(list(ask)),
)];

async fn list(ask: Ask) -> Outcome {
    Reply::page(Area::Contacts, ask.visit.t("contacts-title"), html! {})
}
