//! Managing lists and their contacts.

use recado_core::access::OperatorAction;
use recado_core::contacts::ContactListItem;
use recado_core::ids::ListId;
use recado_core::lists::{
    AddContacts, Added, ListDraft, ListPatch, ListView, RemoveContacts, Removed, ReplaceContacts,
    Replaced,
};
use recado_core::page::{PageRequest, Pagination};

use super::crud::{change, create, delete, get, list};
use crate::answer::Answer;
use crate::call::CompanyCall;
use crate::error::Outcome;
use crate::openapi::{Operation, ParamKind, QueryParam};
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    list!(ListCompanyLists, COLLECTION, lists.all, |op| op.does("List lists").lists::<ListView>()),
    create!(CreateList, COLLECTION, lists.create, |op| {
        op.does("Make a list").body::<ListDraft>(r#"{"name": "Novidades"}"#).makes::<ListView>()
    }),
    get!(GetList, ONE, lists.get(ListId), |op| op.does("Read a list").answers::<ListView>()),
    change!(UpdateList, ONE, lists.change(ListId), |op| {
        op.does("Change a list").body::<ListPatch>(r#"{"is_active": false}"#).answers::<ListView>()
    }),
    delete!(DeleteList, ONE, lists.delete(ListId), |op| op
        .does("Delete a list; its contacts stay")
        .done()),
    Route::company(
        verb::GET,
        CONTACTS,
        OperatorAction::ListContactsOfList,
        |c| Box::pin(contacts(c)),
        doc_contacts,
    )
    .query(&[
        QueryParam::new("page", ParamKind::Page, "Which page."),
        QueryParam::new("limit", ParamKind::Limit, "Contacts per page."),
    ]),
    Route::company(
        verb::POST,
        CONTACTS,
        OperatorAction::AddToList,
        |c| Box::pin(add(c)),
        |op| {
            op.does("Add contacts to a list")
                .more("All that are named, or none. Safe to repeat.")
                .body::<AddContacts>(NAMED)
                .answers::<Added>()
        },
    )
    .json(),
    Route::company(
        verb::PUT,
        CONTACTS,
        OperatorAction::ReplaceListContacts,
        |c| Box::pin(replace(c)),
        |op| {
            op.does("Make a list hold these contacts and no other")
                .more(
                    "Safe to repeat. With an unknown contact nothing is changed. A list that loses \
                     more than 10,000 contacts loses them one commit after the other.",
                )
                .body::<ReplaceContacts>(NAMED)
                .answers::<Replaced>()
        },
    )
    .json(),
    Route::company(
        verb::DELETE,
        CONTACTS,
        OperatorAction::RemoveFromList,
        |c| Box::pin(remove(c)),
        |op| {
            op.does("Remove contacts from a list")
                .more("All that are named, or none. Safe to repeat; the contacts stay.")
                .body::<RemoveContacts>(NAMED)
                .answers::<Removed>()
        },
    )
    .json(),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/lists";
const ONE: &str = "/operator/v1/companies/{company_id}/lists/{id}";
const CONTACTS: &str = "/operator/v1/companies/{company_id}/lists/{id}/contacts";

const NAMED: &str = r#"{"contact_ids": ["01939b5e-0000-7000-8000-000000000001"]}"#;

fn doc_contacts(mut op: Operation) -> Operation {
    let pagination = vec![op.refer::<Pagination>()];
    op.does("List the contacts of a list by last message").pages::<ContactListItem>(pagination)
}

fn id(call: &CompanyCall) -> ListId {
    call.path.id("id", ListId::parse)
}

async fn add(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.lists().add_contacts(call.who.id, id(&call), &call.body).await?)
}

async fn contacts(call: CompanyCall) -> Outcome {
    let page = PageRequest::parse(&call.params)?;
    let listed = call.recado.lists().contacts(call.who.id, id(&call), page).await?;
    Answer::page(listed.items, Pagination::new(page, listed.total))
}

async fn remove(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.lists().remove_contacts(call.who.id, id(&call), &call.body).await?)
}

async fn replace(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.lists().replace_contacts(call.who.id, id(&call), &call.body).await?)
}
