//! Connections to the channels: their state, pairing a phone, groups, and what was not understood.

mod edit;
mod form;
mod groups;
mod list;
mod pairing;
mod show;
mod strip;
mod unknown;

use recado_core::access::OperatorAction;
use recado_core::ids::ConnectionId;

use crate::ask::Ask;
use crate::route::Route;

pub(super) const LIST: &str = "/console/connections";

pub(crate) const ROUTES: &[Route] = &[
    Route::get(LIST, OperatorAction::ListConnections, |ask| Box::pin(list::list(ask))),
    Route::get("/console/connections/new", OperatorAction::CreateConnection, |ask| {
        Box::pin(edit::new(ask))
    }),
    Route::post("/console/connections/new", OperatorAction::CreateConnection, |ask| {
        Box::pin(edit::create(ask))
    }),
    Route::get("/console/connections/{id}", OperatorAction::GetConnection, |ask| {
        Box::pin(show::show(ask))
    }),
    Route::get("/console/connections/{id}/edit", OperatorAction::UpdateConnection, |ask| {
        Box::pin(edit::edit(ask))
    }),
    Route::post("/console/connections/{id}/edit", OperatorAction::UpdateConnection, |ask| {
        Box::pin(edit::change(ask))
    }),
    Route::post("/console/connections/{id}/delete", OperatorAction::DeleteConnection, |ask| {
        Box::pin(show::delete(ask))
    }),
    Route::post("/console/connections/{id}/check", OperatorAction::CheckConnection, |ask| {
        Box::pin(show::check(ask))
    }),
    Route::get("/console/connections/{id}/pairing", OperatorAction::ReadPairingCode, |ask| {
        Box::pin(pairing::show(ask))
    }),
    Route::get("/console/connections/{id}/groups", OperatorAction::ListGroups, |ask| {
        Box::pin(groups::show(ask))
    }),
    Route::post("/console/connections/{id}/groups", OperatorAction::SyncGroups, |ask| {
        Box::pin(groups::sync(ask))
    }),
    Route::get("/console/connections/{id}/unknown", OperatorAction::ListUnknownEvents, |ask| {
        Box::pin(unknown::show(ask))
    }),
    Route::post("/console/connections/{id}/unknown", OperatorAction::ReceiveEvents, |ask| {
        Box::pin(unknown::replay(ask))
    }),
];

fn id(ask: &Ask) -> ConnectionId {
    ask.path.id("id", ConnectionId::parse)
}

fn page_of(id: ConnectionId) -> String {
    format!("{LIST}/{id}")
}

#[cfg(test)]
mod tests;
