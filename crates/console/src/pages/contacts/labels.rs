//! The tags and lists of a contact.

use maud::{Markup, html};
use recado_core::access::OperatorAction;
use recado_core::contacts::OperatorContact;
use recado_core::ids::ListId;
use recado_core::lists::{AddContacts, RemoveContacts};

use super::form::pairs;
use super::list::Names;
use super::{id, page_of};
use crate::ask::Ask;
use crate::refusal::Refusal;
use crate::reply::{Outcome, Reply};
use crate::view::empty::empty;
use crate::view::field::{FieldErrors, select};
use crate::view::layout::csrf_field;
use crate::visit::Visit;

/// The part of the page about tags and lists.
pub(super) fn section(visit: &Visit, contact: &OperatorContact, names: &Names) -> Markup {
    let id = contact.detail.summary.id;
    let page = page_of(id);
    let has = |tag: &recado_core::tags::Tag| contact.detail.tags.iter().any(|own| own.id == tag.id);
    let is_in =
        |list: &&recado_core::lists::ListView| contact.lists.iter().any(|own| own.id == list.id);
    let others: Vec<(String, String)> = pairs(
        names
            .lists
            .iter()
            .filter(|list| !is_in(list))
            .map(|list| (list.id.to_string(), &list.name)),
    );
    html! {
        section aria-labelledby="tags" {
            h2 #tags { (visit.t("contacts-tags")) }
            @if visit.may(OperatorAction::PatchOperatorContact) && !names.tags.is_empty() {
                form method="post" action={ (page) "/tags" } {
                    (csrf_field(visit))
                    fieldset {
                        legend { (visit.t("contacts-tags")) }
                        @for tag in &names.tags {
                            label.check {
                                input type="checkbox" name="tag_ids" value=(tag.id) checked[has(tag)];
                                " " (tag.name)
                            }
                        }
                    }
                    button type="submit" { (visit.t("contacts-save")) }
                }
            } @else if contact.detail.tags.is_empty() {
                (empty(&visit.t("contacts-tags-empty")))
            } @else {
                p { @for tag in &contact.detail.tags { span.tag { (tag.name) } " " } }
            }
        }
        section aria-labelledby="lists" {
            h2 #lists { (visit.t("contacts-lists")) }
            @if contact.lists.is_empty() {
                (empty(&visit.t("contacts-lists-empty")))
            }
            ul {
                @for list in &contact.lists {
                    li {
                        (list.name) " "
                        @if visit.may(OperatorAction::RemoveFromList) {
                            form.inline method="post" action={ (page) "/lists/remove" } {
                                (csrf_field(visit))
                                input type="hidden" name="list_id" value=(list.id);
                                button.quiet type="submit"
                                    aria-label={ (visit.t("contacts-list-remove")) " " (list.name) } {
                                    (visit.t("contacts-list-remove"))
                                }
                            }
                        }
                    }
                }
            }
            @if visit.may(OperatorAction::AddToList) && !others.is_empty() {
                form method="post" action={ (page) "/lists/add" } {
                    (csrf_field(visit))
                    (select("list_id", &visit.t("contacts-list"), &others, "", &FieldErrors::default()))
                    button type="submit" { (visit.t("contacts-list-add")) }
                }
            }
        }
    }
}

/// Replaces the tags.
pub(super) async fn tags(ask: Ask) -> Outcome {
    let (visit, id) = (&ask.visit, id(&ask));
    let body = ask.form.body().list("tag_ids").finish();
    visit.recado.contacts().patch_as_operator(visit.company.id, id, &body).await?;
    Reply::goto(page_of(id))
}

fn list_id(ask: &Ask) -> Result<ListId, Refusal> {
    ask.form.get("list_id").and_then(ListId::parse).ok_or(Refusal::NotFound)
}

/// Adds the contact to a list.
pub(super) async fn add_to_list(ask: Ask) -> Outcome {
    let (visit, id, list) = (&ask.visit, id(&ask), list_id(&ask)?);
    let lists = visit.recado.lists();
    lists.add_contacts(visit.company.id, list, AddContacts::new(vec![id])).await?;
    Reply::goto(page_of(id))
}

/// Removes the contact from a list.
pub(super) async fn remove_from_list(ask: Ask) -> Outcome {
    let (visit, id, list) = (&ask.visit, id(&ask), list_id(&ask)?);
    let lists = visit.recado.lists();
    lists.remove_contacts(visit.company.id, list, RemoveContacts::new(vec![id])).await?;
    Reply::goto(page_of(id))
}
