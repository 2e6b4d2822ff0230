//! Campaigns.

use maud::html;
use recado_core::access::OperatorAction;

use crate::ask::Ask;
use crate::reply::{Outcome, Reply};
use crate::route::Route;
use crate::view::layout::Area;

pub(crate) const ROUTES: &[Route] =
    &[Route::get("/console/campaigns", OperatorAction::ListCompanyCampaigns, |ask| {
        Box::pin(list(ask))
    })];

async fn list(ask: Ask) -> Outcome {
    Reply::page(Area::Campaigns, ask.visit.t("campaigns-title"), html! {})
}
