//! Making, changing and deleting a contact.

use maud::{Markup, html};
use recado_core::access::Caller;
use recado_core::contacts::{ImportContactError, OperatorContact, UpdateContactError};
use recado_core::custom_fields::CustomField;
use recado_core::{Error, Rejection};
use serde_json::{Map, Value};

use super::{LIST, id, page_of};
use crate::ask::Ask;
use crate::fields::Fields;
use crate::refusal::Refusal;
use crate::reply::{Outcome, Reply};
use crate::view::field::{Field, FieldErrors, area, select};
use crate::view::layout::{Area, csrf_field};
use crate::view::table::{facts, table};
use crate::view::when::when;
use crate::visit::Visit;

/// The fields of a contact that a form changes, with the types of their inputs (4.4).
const TEXTS: [(&str, &str); 11] = [
    ("name", "text"),
    ("email", "email"),
    ("birthday", "date"),
    ("cpf", "text"),
    ("rg", "text"),
    ("genero", "text"),
    ("estado_civil", "text"),
    ("profissao", "text"),
    ("city", "text"),
    ("state", "text"),
    ("postal_code", "text"),
];
/// The fields that only the operator changes.
const OF_OPERATOR: [(&str, &[&str]); 2] = [
    ("crm_status", &["lead", "prospect", "customer", "inactive", "lost"]),
    ("priority", &["low", "normal", "high", "urgent"]),
];
/// What stands before the id of a custom field.
const CUSTOM: &str = "custom-";

fn fields_key(name: &str) -> String {
    format!("contacts-field-{}", name.replace('_', "-"))
}

/// The values that the form begins with.
fn values_of(contact: &OperatorContact) -> Fields {
    let summary = &contact.detail.summary;
    let mut pairs = vec![
        ("name", Some(summary.name.clone())),
        ("email", summary.email.clone()),
        ("crm_status", Some(summary.crm_status.as_str().to_owned())),
        ("priority", Some(summary.priority.as_str().to_owned())),
    ];
    if let Some(profile) = contact.detail.profile.clone() {
        pairs.extend([
            ("birthday", profile.birthday),
            ("cpf", profile.cpf),
            ("rg", profile.rg),
            ("genero", profile.genero),
            ("estado_civil", profile.estado_civil),
            ("profissao", profile.profissao),
            ("city", profile.city),
            ("state", profile.state),
            ("postal_code", profile.postal_code),
            ("observation", profile.observation),
        ]);
    }
    let own = pairs.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let custom = contact.detail.custom_fields.iter();
    let custom = custom.map(|(id, value)| (format!("{CUSTOM}{id}"), value.clone()));
    Fields::new(own.chain(custom).collect())
}

/// The form; `action` is where it is sent. A new contact has a phone besides.
fn form(
    visit: &Visit,
    action: &str,
    is_new: bool,
    values: &Fields,
    custom: &[CustomField],
    errors: &FieldErrors,
) -> Markup {
    let value = |name: &str| values.get(name).unwrap_or_default().to_owned();
    let mut shown: Vec<&str> = TEXTS.iter().map(|(name, _)| *name).collect();
    shown.extend(["phone", "observation", "crm_status", "priority"]);
    html! {
        form.stacked method="post" action=(action) {
            (csrf_field(visit))
            (errors.summary(&shown))
            @if is_new {
                (Field {
                    name: "phone", label: &visit.t("contacts-column-phone"), value: &value("phone"),
                    kind: "tel", is_required: true,
                }.show(errors))
            }
            @for (name, kind) in TEXTS {
                (Field {
                    name, label: &visit.t(&fields_key(name)), value: &value(name), kind,
                    is_required: false,
                }.show(errors))
            }
            @for (name, words) in OF_OPERATOR {
                @let group = if name == "priority" { "contacts-priority" } else { "contacts-crm" };
                @let options: Vec<(String, String)> = words.iter()
                    .map(|word| ((*word).to_owned(), visit.word_of(group, word))).collect();
                (select(name, &visit.t(&fields_key(name)), &options, &value(name), errors))
            }
            (area("observation", &visit.t("contacts-field-observation"), &value("observation"), errors))
            @for field in custom.iter().filter(|field| field.is_active()) {
                @let name = format!("{CUSTOM}{}", field.id);
                (Field { name: &name, label: &field.label, value: &value(&name), kind: "text",
                    is_required: false }.show(errors))
            }
            button type="submit" { (visit.t("contacts-save")) }
            " " a href=(if is_new { LIST } else { action.trim_end_matches("/edit") }) { (visit.t("contacts-cancel")) }
        }
    }
}

/// The values of custom fields by the ids of the fields.
fn custom_of(form: &Fields, is_new: bool) -> Option<Value> {
    let values = form.pairs().iter().filter_map(|(name, value)| {
        let id = name.strip_prefix(CUSTOM)?;
        let is_kept = !is_new || !value.trim().is_empty();
        is_kept.then(|| (id.to_owned(), Value::from(value.clone())))
    });
    let values: Map<String, Value> = values.collect();
    (!values.is_empty()).then_some(Value::Object(values))
}

/// The fields of 4.4 in the form.
fn patch_of(form: &Fields) -> Map<String, Value> {
    let mut body = form.body().clearable("observation");
    for (name, _) in TEXTS {
        // A name cannot be null, but empty.
        body = if name == "name" { body.text(name) } else { body.clearable(name) };
    }
    body.put("custom_fields", custom_of(form, false)).finish()
}

pub(super) async fn edit(ask: Ask) -> Outcome {
    let (visit, id) = (&ask.visit, id(&ask));
    let contact = visit.recado.contacts().get_without_memory(visit.company.id, id).await?;
    let custom = visit.recado.custom_fields().all(visit.company.id).await?;
    let action = format!("{}/edit", page_of(id));
    let body = form(visit, &action, false, &values_of(&contact), &custom, &FieldErrors::default());
    Reply::page(Area::Contacts, title(visit, &contact), body)
}

fn title(visit: &Visit, contact: &OperatorContact) -> String {
    let name = contact.detail.summary.display_name.as_str();
    visit.t_with("contacts-edit-title", &[("name", name.into())])
}

/// Keeps what was changed.
pub(super) async fn save(ask: Ask) -> Outcome {
    let (visit, id) = (&ask.visit, id(&ask));
    let contacts = visit.recado.contacts();
    // The role was checked for the route.
    let caller = Caller::trusted(&visit.company);
    let of_operator = ask.form.body().optional("crm_status").optional("priority").finish();
    let written = match contacts.update(&caller, id, &patch_of(&ask.form)).await {
        Ok(_) => {
            let patched = contacts.patch_as_operator(visit.company.id, id, &of_operator).await;
            refused_fields(visit, patched)?
        }
        Err(Error::Rejected(UpdateContactError::NotFound)) => return Err(Refusal::NotFound),
        other => refused_fields(visit, other)?,
    };
    let Some(errors) = written else { return Reply::goto(page_of(id)) };
    let contact = contacts.get_without_memory(visit.company.id, id).await?;
    let custom = visit.recado.custom_fields().all(visit.company.id).await?;
    let action = format!("{}/edit", page_of(id));
    let body = form(visit, &action, false, &ask.form, &custom, &errors);
    Reply::refused(Area::Contacts, title(visit, &contact), body)
}

/// What the core refuses of the fields; `None` if nothing is refused.
fn refused_fields<T, E: Rejection>(
    visit: &Visit,
    written: Result<T, Error<E>>,
) -> Result<Option<FieldErrors>, Refusal> {
    match written {
        Ok(_) => Ok(None),
        Err(Error::Rejected(refused)) => Ok(Some(FieldErrors::of(visit.language, &refused))),
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn blank(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let custom = visit.recado.custom_fields().all(visit.company.id).await?;
    let path = "/console/contacts/new";
    let first = [("crm_status", "lead"), ("priority", "normal")];
    let first = first.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let body = form(visit, path, true, &Fields::new(first), &custom, &FieldErrors::default());
    Reply::page(Area::Contacts, visit.t("contacts-new"), body)
}

/// Makes a contact; one that is there already is shown instead.
pub(super) async fn create(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let mut body = ask.form.body().text("phone").optional("observation");
    for name in TEXTS.map(|(name, _)| name).into_iter().chain(OF_OPERATOR.map(|(name, _)| name)) {
        body = body.optional(name);
    }
    let body = body.put("custom_fields", custom_of(&ask.form, true)).finish();
    let made = visit.recado.contacts().import_with_events(&visit.company, &body).await;
    let refused = match made {
        Ok((id, _)) => return Reply::goto(page_of(id)),
        Err(Error::Rejected(ImportContactError::IdentifierTaken { by })) => {
            return Reply::goto(page_of(by));
        }
        Err(Error::Rejected(refused)) => refused,
        Err(error) => return Err(error.into()),
    };
    let custom = visit.recado.custom_fields().all(visit.company.id).await?;
    let errors = FieldErrors::of(visit.language, &refused);
    let body = form(visit, "/console/contacts/new", true, &ask.form, &custom, &errors);
    Reply::refused(Area::Contacts, visit.t("contacts-new"), body)
}

/// Deletes the contact with its documents, and shows the receipt: it is not kept.
///
/// R412.
pub(super) async fn delete(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let contacts = visit.recado.contacts();
    let receipt = contacts.delete_of_for_receipt(visit.company.id, id(&ask)).await?;
    let first = [
        (visit.t("contacts-receipt-id"), html! { code { (receipt.id) } }),
        (visit.t("contacts-receipt-contact"), html! { code { (receipt.contact_id) } }),
        (visit.t("contacts-receipt-at"), when(visit, receipt.deleted_at)),
    ];
    let removed: Vec<_> = receipt
        .removed
        .iter()
        .map(|(kind, count)| {
            let kind = visit.word_of("contacts-removed", kind);
            vec![html! { (kind) }, html! { (count) }]
        })
        .collect();
    let columns = [visit.t("contacts-receipt-kind"), visit.t("contacts-receipt-count")];
    let body = html! {
        p { (visit.t("contacts-receipt-about")) }
        (facts(&first))
        (table(&visit.t("contacts-receipt-removed"), &columns, &removed))
        p { a href=(LIST) { (visit.t("contacts-receipt-back")) } }
    };
    Reply::page(Area::Contacts, visit.t("contacts-receipt"), body)
}
