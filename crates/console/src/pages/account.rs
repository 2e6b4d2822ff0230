//! One's own account.

use maud::html;

use crate::ask::Ask;
use crate::reply::{Outcome, Reply};
use crate::route::{Route, Verb};
use crate::view::layout::Area;

pub(crate) const ROUTES: &[Route] =
    &[Route::of_member(Verb::Get, "/console/account", |ask| Box::pin(show(ask)))];

async fn show(ask: Ask) -> Outcome {
    Reply::page(Area::Account, ask.visit.t("account-title"), html! {})
}
