//! Contacts that are one person: finding, comparing and merging them.

use std::collections::BTreeMap;

use maud::{Markup, html};
use recado_core::Error;
use recado_core::access::OperatorAction;
use recado_core::contacts::OperatorContact;
use recado_core::ids::ContactId;
use serde_json::Value;

use super::{link, page_of};
use crate::ask::Ask;
use crate::fields::Fields;
use crate::refusal::Refusal;
use crate::reply::{Outcome, Reply};
use crate::view::empty::empty;
use crate::view::field::FieldErrors;
use crate::view::layout::{Area, csrf_field};
use crate::view::table::table;
use crate::view::when::when;
use crate::visit::Visit;

/// How many times one page asks for the next contacts while no group is found.
const CALLS: usize = 10;

pub(super) async fn list(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let contacts = visit.recado.contacts();
    let mut cursor = ask.query.filled("cursor").map(str::to_owned);
    let mut groups = Vec::new();
    for _ in 0..CALLS {
        let found = contacts.duplicates(visit.company.id, cursor).await?;
        groups.extend(found.groups);
        cursor = found.next_cursor;
        if cursor.is_none() || !groups.is_empty() {
            break;
        }
    }
    let body = html! {
        p { (visit.t("contacts-duplicates-about")) }
        @for group in &groups {
            section {
                h2 { (group.phone) }
                ul {
                    @for contact in &group.contacts {
                        li {
                            (link(visit, contact.id, &contact.display_name))
                            " · " bdi { (contact.phone) } " · " code { (contact.identifier) }
                            @if let Some(at) = contact.last_message_at { " · " (when(visit, at)) }
                        }
                    }
                }
                @if visit.may(OperatorAction::MergeContacts) {
                    @if let Some((first, others)) = group.contacts.split_first() {
                        ul.actions {
                            @for other in others {
                                li { a href=(compare_path(first.id, other.id)) {
                                    (visit.t_with("contacts-compare-with", &[
                                        ("one", first.display_name.as_str().into()),
                                        ("other", other.display_name.as_str().into()),
                                    ]))
                                } }
                            }
                        }
                    }
                }
            }
        }
        @if groups.is_empty() {
            @let key = if cursor.is_some() { "contacts-duplicates-none-yet" } else { "contacts-duplicates-none" };
            (empty(&visit.t(key)))
        }
        @if let Some(cursor) = &cursor {
            @let query = Fields::default().with("cursor", cursor);
            nav.pager aria-label=(visit.t("pager-label")) {
                a rel="next" href={ "/console/contacts/duplicates" (query) } { (visit.t("contacts-duplicates-more")) }
            }
        }
    };
    Reply::page(Area::Contacts, visit.t("contacts-duplicates"), body)
}

fn compare_path(keep: ContactId, other: ContactId) -> String {
    format!("/console/contacts/compare?keep={keep}&other={other}")
}

async fn both(visit: &Visit, fields: &Fields) -> Result<[OperatorContact; 2], Refusal> {
    let id = |name: &str| fields.get(name).and_then(ContactId::parse).ok_or(Refusal::NotFound);
    let (keep, other) = (id("keep")?, id("other")?);
    let contacts = visit.recado.contacts();
    let keep = contacts.get_without_memory(visit.company.id, keep).await?;
    Ok([keep, contacts.get_without_memory(visit.company.id, other).await?])
}

/// Every field of a contact that is a text, by its name in the API.
fn texts(contact: &OperatorContact) -> BTreeMap<String, String> {
    let body = serde_json::to_value(contact).unwrap_or_default();
    let mut texts = BTreeMap::new();
    for (name, value) in body.as_object().into_iter().flatten() {
        let text = match value {
            Value::String(text) if !text.is_empty() => text.clone(),
            Value::Bool(flag) => flag.to_string(),
            Value::Array(all) => {
                let names = all.iter().filter_map(|one| one.get("name")?.as_str());
                names.collect::<Vec<_>>().join(", ")
            }
            _ => continue,
        };
        texts.insert(name.clone(), text);
    }
    texts
}

/// The page with both contacts side by side.
fn comparison(visit: &Visit, [keep, other]: &[OperatorContact; 2]) -> Markup {
    let (left, right) = (texts(keep), texts(other));
    let names: std::collections::BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    let rows: Vec<Vec<Markup>> = names
        .into_iter()
        .map(|name| {
            let value =
                |texts: &BTreeMap<String, String>| texts.get(name).cloned().unwrap_or_default();
            let (left, right) = (value(&left), value(&right));
            let differs = left != right;
            let shown = |text: String| {
                html! {
                    @if differs { strong { bdi { (text) } } } @else { bdi { (text) } }
                }
            };
            vec![html! { (visit.word_of("contacts-field", name)) }, shown(left), shown(right)]
        })
        .collect();
    let (keep_id, other_id) = (keep.detail.summary.id, other.detail.summary.id);
    let headings = ["contacts-field", "contacts-compare-keep", "contacts-compare-other"]
        .map(|key| visit.t(key));
    html! {
        p { (visit.t("contacts-compare-about")) }
        (table(&visit.t("contacts-compare"), &headings, &rows))
        p { a href=(compare_path(other_id, keep_id)) { (visit.t("contacts-compare-swap")) } }
        form method="post" action="/console/contacts/compare" {
            (csrf_field(visit))
            input type="hidden" name="keep" value=(keep_id);
            input type="hidden" name="other" value=(other_id);
            button.danger type="submit" { (visit.t("contacts-merge")) }
            " " a href=(page_of(keep_id)) { (visit.t("contacts-cancel")) }
        }
    }
}

pub(super) async fn compare(ask: Ask) -> Outcome {
    let contacts = both(&ask.visit, &ask.query).await?;
    let body = comparison(&ask.visit, &contacts);
    Reply::page(Area::Contacts, ask.visit.t("contacts-compare"), body)
}

/// Makes one contact of the two.
pub(super) async fn merge(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let contacts = both(visit, &ask.form).await?;
    let [keep, other] = contacts.each_ref().map(|contact| contact.detail.summary.id);
    match visit.recado.contacts().merge(visit.company.id, keep, other).await {
        Ok(()) => Reply::goto(page_of(keep)),
        Err(Error::Rejected(refused)) => {
            let errors = FieldErrors::of(visit.language, &refused);
            let body = html! { (errors.summary(&[])) (comparison(visit, &contacts)) };
            Reply::refused(Area::Contacts, visit.t("contacts-compare"), body)
        }
        Err(error) => Err(error.into()),
    }
}
