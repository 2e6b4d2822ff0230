//! Templates: the list, reading them from a gateway, and a preview with variables.

mod list;
mod show;

use recado_core::access::OperatorAction;

use crate::route::Route;

pub(super) const LIST: &str = "/console/templates";

pub(crate) const ROUTES: &[Route] = &[
    Route::get(LIST, OperatorAction::ListTemplates, |ask| Box::pin(list::list(ask))),
    Route::post("/console/templates/sync", OperatorAction::SyncTemplates, |ask| {
        Box::pin(list::sync(ask))
    }),
    Route::get("/console/templates/{id}", OperatorAction::GetTemplate, |ask| {
        Box::pin(show::show(ask))
    }),
];

#[cfg(test)]
mod tests;
