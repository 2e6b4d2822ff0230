//! Managing lists and their contacts.

use recado_core::ids::ListId;
use recado_core::lists::{AddContacts, Added, ListDraft, ListPatch, ListView};

use crate::answer::Answer;
use crate::call::CompanyCall;
use crate::error::Outcome;
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::company(
        verb::GET,
        COLLECTION,
        |c| Box::pin(list(c)),
        |op| op.says("listCompanyLists", "List lists").lists::<ListView>(),
    ),
    Route::company(
        verb::POST,
        COLLECTION,
        |c| Box::pin(create(c)),
        |op| {
            op.says("createList", "Make a list")
                .body::<ListDraft>(r#"{"name": "Novidades"}"#)
                .makes::<ListView>()
        },
    )
    .json(),
    Route::company(
        verb::GET,
        ONE,
        |c| Box::pin(get(c)),
        |op| op.says("getList", "Read a list").answers::<ListView>(),
    ),
    Route::company(
        verb::PATCH,
        ONE,
        |c| Box::pin(change(c)),
        |op| {
            op.says("updateList", "Change a list")
                .body::<ListPatch>(r#"{"is_active": false}"#)
                .answers::<ListView>()
        },
    )
    .json(),
    Route::company(
        verb::DELETE,
        ONE,
        |c| Box::pin(delete(c)),
        |op| op.says("deleteList", "Delete a list; its contacts stay").done(),
    ),
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

async fn list(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.lists().all(call.who.id).await?)
}

async fn create(call: CompanyCall) -> Outcome {
    Answer::created(call.recado.lists().create(call.who.id, &call.body).await?)
}

async fn get(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.lists().get(call.who.id, id(&call)).await?)
}

async fn change(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.lists().change(call.who.id, id(&call), &call.body).await?)
}

async fn delete(call: CompanyCall) -> Outcome {
    call.recado.lists().delete(call.who.id, id(&call)).await?;
    Answer::done()
}

async fn add(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.lists().add_contacts(call.who.id, id(&call), &call.body).await?)
}
