//! Contacts, and what is known of them.

mod columns;
mod deals;
mod documents;
mod duplicates;
mod edit;
mod export;
mod form;
mod history;
pub(crate) mod import;
mod labels;
mod list;
mod memory;
mod show;
#[cfg(test)]
mod tests;

use maud::{Markup, html};
use recado_core::access::OperatorAction;
use recado_core::ids::ContactId;

use crate::ask::Ask;
use crate::route::Route;
use crate::visit::Visit;

/// The paths below `/console/contacts`. Words come before `{id}`, which matches any text.
pub(crate) const ROUTES: &[Route] = &[
    Route::get(LIST, OperatorAction::ListOperatorContacts, |ask| Box::pin(list::list(ask))),
    Route::post("/console/contacts/columns", OperatorAction::ListOperatorContacts, |ask| {
        Box::pin(columns::choose(ask))
    }),
    Route::get("/console/contacts/export", OperatorAction::ListOperatorContacts, |ask| {
        Box::pin(export::export(ask))
    }),
    Route::get("/console/contacts/new", OperatorAction::ImportContact, |ask| {
        Box::pin(edit::blank(ask))
    }),
    Route::post("/console/contacts/new", OperatorAction::ImportContact, |ask| {
        Box::pin(edit::create(ask))
    }),
    Route::get("/console/contacts/duplicates", OperatorAction::ListDuplicateContacts, |ask| {
        Box::pin(duplicates::list(ask))
    }),
    Route::get("/console/contacts/compare", OperatorAction::MergeContacts, |ask| {
        Box::pin(duplicates::compare(ask))
    }),
    Route::post("/console/contacts/compare", OperatorAction::MergeContacts, |ask| {
        Box::pin(duplicates::merge(ask))
    }),
    Route::get(ONE, OperatorAction::GetOperatorContact, |ask| Box::pin(show::show(ask))),
    Route::get(EDIT, OperatorAction::PatchOperatorContact, |ask| Box::pin(edit::edit(ask))),
    Route::post(EDIT, OperatorAction::PatchOperatorContact, |ask| Box::pin(edit::save(ask))),
    Route::post("/console/contacts/{id}/delete", OperatorAction::DeleteOperatorContact, |ask| {
        Box::pin(edit::delete(ask))
    }),
    Route::post("/console/contacts/{id}/tags", OperatorAction::PatchOperatorContact, |ask| {
        Box::pin(labels::tags(ask))
    }),
    Route::post("/console/contacts/{id}/lists/add", OperatorAction::AddToList, |ask| {
        Box::pin(labels::add_to_list(ask))
    }),
    Route::post("/console/contacts/{id}/lists/remove", OperatorAction::RemoveFromList, |ask| {
        Box::pin(labels::remove_from_list(ask))
    }),
    Route::get("/console/contacts/{id}/memory", OperatorAction::GetLeadMemory, |ask| {
        Box::pin(memory::show(ask))
    }),
    Route::post("/console/contacts/{id}/deals", OperatorAction::CreateDeal, |ask| {
        Box::pin(deals::create(ask))
    }),
    Route::post("/console/contacts/{id}/deals/{deal}", OperatorAction::UpdateDeal, |ask| {
        Box::pin(deals::change(ask))
    }),
    Route::post("/console/contacts/{id}/deals/{deal}/delete", OperatorAction::DeleteDeal, |ask| {
        Box::pin(deals::delete(ask))
    }),
    Route::post("/console/contacts/{id}/documents", OperatorAction::AttachDocument, |ask| {
        Box::pin(documents::attach(ask))
    })
    .streamed(),
    Route::get(
        "/console/contacts/{id}/documents/{document}",
        OperatorAction::ReadDocument,
        |ask| Box::pin(documents::read(ask)),
    ),
];

const LIST: &str = "/console/contacts";
const ONE: &str = "/console/contacts/{id}";
const EDIT: &str = "/console/contacts/{id}/edit";

/// The contact of the path.
fn id(ask: &Ask) -> ContactId {
    ask.path.id("id", ContactId::parse)
}

/// The page of a contact.
fn page_of(id: ContactId) -> String {
    format!("{LIST}/{id}")
}

/// R418. The name of a contact, leading to its page; for a role that does not include the page, to
/// its conversation.
pub(crate) fn link(visit: &Visit, id: ContactId, name: &str) -> Markup {
    let path = match visit.may(OperatorAction::GetOperatorContact) {
        true => page_of(id),
        false => format!("/console/inbox/{id}"),
    };
    html! { a href=(path) { bdi { (name) } } }
}
