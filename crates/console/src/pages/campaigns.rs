//! Campaigns: making them, what people would get, running them, and what came of them.

mod body;
mod edit;
mod form;
mod list;
mod over_time;
mod preview;
mod progress;
mod recipients;
mod run;
mod show;

use recado_core::access::OperatorAction;
use recado_core::ids::CampaignId;

use crate::ask::Ask;
use crate::route::Route;

pub(super) const LIST: &str = "/console/campaigns";

pub(crate) const ROUTES: &[Route] = &[
    Route::get(LIST, OperatorAction::ListCompanyCampaigns, |ask| Box::pin(list::list(ask))),
    Route::get("/console/campaigns/new", OperatorAction::CreateCampaign, |ask| {
        Box::pin(edit::new(ask))
    }),
    Route::post("/console/campaigns/new", OperatorAction::CreateCampaign, |ask| {
        Box::pin(edit::create(ask))
    }),
    Route::get("/console/campaigns/{id}", OperatorAction::GetCampaign, |ask| {
        Box::pin(show::show(ask))
    }),
    Route::get("/console/campaigns/{id}/progress", OperatorAction::GetCampaign, |ask| {
        Box::pin(progress::piece(ask))
    }),
    Route::get(
        "/console/campaigns/{id}/recipients",
        OperatorAction::ListCompanyCampaignRecipients,
        |ask| Box::pin(recipients::list(ask)),
    ),
    Route::get("/console/campaigns/{id}/preview", OperatorAction::PreviewCampaign, |ask| {
        Box::pin(preview::show(ask))
    }),
    Route::get("/console/campaigns/{id}/edit", OperatorAction::UpdateCampaign, |ask| {
        Box::pin(edit::edit(ask))
    }),
    Route::post("/console/campaigns/{id}/edit", OperatorAction::UpdateCampaign, |ask| {
        Box::pin(edit::change(ask))
    }),
    Route::post("/console/campaigns/{id}/start", OperatorAction::StartCampaign, |ask| {
        Box::pin(run::start(ask))
    }),
    Route::post("/console/campaigns/{id}/pause", OperatorAction::PauseCampaign, |ask| {
        Box::pin(run::pause(ask))
    }),
    Route::post("/console/campaigns/{id}/take-back", OperatorAction::UpdateCampaign, |ask| {
        Box::pin(run::take_back(ask))
    }),
    Route::post("/console/campaigns/{id}/delete", OperatorAction::DeleteCampaign, |ask| {
        Box::pin(run::delete(ask))
    }),
];

fn id(ask: &Ask) -> CampaignId {
    ask.path.id("id", CampaignId::parse)
}

fn page_of(id: CampaignId) -> String {
    format!("{LIST}/{id}")
}

#[cfg(test)]
mod tests;
