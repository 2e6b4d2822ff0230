//! Webhooks, inbound endpoints, keys and the journal.

use maud::html;
use recado_core::access::OperatorAction;

use crate::ask::Ask;
use crate::reply::{Outcome, Reply};
use crate::route::Route;
use crate::view::layout::Area;

pub(crate) const ROUTES: &[Route] = &[Route::get(
    "/console/integration",
    OperatorAction::ListWebhooks,
    |ask| Box::pin(list(ask)),
)];

async fn list(ask: Ask) -> Outcome {
    Reply::page(Area::Integration, ask.visit.t("integration-title"), html! {})
}
