//! Managing lists and their contacts.

use recado_core::ids::ListId;
use recado_core::lists::{AddContacts, Added, ListDraft, ListPatch, ListView};

use super::crud::{change, create, delete, get, list};
use crate::answer::Answer;
use crate::call::CompanyCall;
use crate::error::Outcome;
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    list!(COLLECTION, lists.all, |op| op
        .says("listCompanyLists", "List lists")
        .lists::<ListView>()),
    create!(COLLECTION, lists.create, |op| {
        op.says("createList", "Make a list")
            .body::<ListDraft>(r#"{"name": "Novidades"}"#)
            .makes::<ListView>()
    }),
    get!(ONE, lists.get(ListId), |op| op.says("getList", "Read a list").answers::<ListView>()),
    change!(ONE, lists.change(ListId), |op| {
        op.says("updateList", "Change a list")
            .body::<ListPatch>(r#"{"is_active": false}"#)
            .answers::<ListView>()
    }),
    delete!(ONE, lists.delete(ListId), |op| op
        .says("deleteList", "Delete a list; its contacts stay")
        .done()),
    Route::company(
        verb::POST,
        CONTACTS,
        |c| Box::pin(add(c)),
        |op| {
            op.says("addToList", "Add contacts to a list")
                .more("All that are named, or none. Safe to repeat.")
                .body::<AddContacts>(r#"{"contact_ids": ["01939b5e-0000-7000-8000-000000000001"]}"#)
                .answers::<Added>()
        },
    )
    .json(),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/lists";
const ONE: &str = "/operator/v1/companies/{company_id}/lists/{id}";
const CONTACTS: &str = "/operator/v1/companies/{company_id}/lists/{id}/contacts";

fn id(call: &CompanyCall) -> ListId {
    call.path.id("id", ListId::parse)
}

async fn add(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.lists().add_contacts(call.who.id, id(&call), &call.body).await?)
}
