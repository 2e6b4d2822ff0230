//! The deals of a contact.

use maud::{Markup, html};
use recado_core::access::OperatorAction;
use recado_core::deals::Deal;
use recado_core::ids::{ContactId, DealId};
use recado_core::{Error, ManageError};
use serde_json::Value;

use super::list::Names;
use super::{id, page_of};
use crate::ask::Ask;
use crate::fields::Fields;
use crate::refusal::Refusal;
use crate::reply::{Outcome, Reply};
use crate::view::confirm::confirm;
use crate::view::empty::empty;
use crate::view::field::{Field, FieldErrors, select};
use crate::view::layout::{Area, csrf_field};
use crate::view::when::when;
use crate::visit::Visit;

const STATUSES: [&str; 3] = ["open", "won", "lost"];

/// The part of the page about deals.
pub(super) async fn section(
    visit: &Visit,
    contact: ContactId,
    names: &Names,
) -> Result<Markup, Refusal> {
    let deals = visit.recado.deals().of_contact(visit.company.id, contact).await?;
    let none = FieldErrors::default();
    Ok(html! {
        section aria-labelledby="deals" {
            h2 #deals { (visit.t("contacts-deals")) }
            @if deals.is_empty() { (empty(&visit.t("contacts-deals-empty"))) }
            @for deal in &deals { (one(visit, contact, deal, names)) }
            @if visit.may(OperatorAction::CreateDeal) {
                details {
                    summary { (visit.t("contacts-deal-new")) }
                    (deal_form(visit, contact, None, ("", "", "open"), names, &none))
                }
            }
        }
    })
}

fn one(visit: &Visit, contact: ContactId, deal: &Deal, names: &Names) -> Markup {
    let page = page_of(contact);
    let stage = deal.stage_id.map(|id| id.to_string()).unwrap_or_default();
    let stages = names.stages();
    let named = stages.iter().find(|(id, _)| *id == stage).map(|(_, name)| name.as_str());
    let values = (deal.title.as_str(), stage.as_str(), deal.status.as_str());
    html! {
        article.deal {
            h3 { (deal.title) }
            p {
                (visit.word_of("contacts-deal", deal.status.as_str()))
                @if let Some(stage) = named { " · " (stage) }
                @if let Some(at) = deal.stage_entered_at { " · " (when(visit, at)) }
            }
            @if visit.may(OperatorAction::UpdateDeal) {
                details {
                    summary { (visit.t("contacts-deal-change")) }
                    (deal_form(visit, contact, Some(deal.id), values, names, &FieldErrors::default()))
                }
            }
            @if visit.may(OperatorAction::DeleteDeal) {
                (confirm(visit, &format!("{page}/deals/{}/delete", deal.id),
                    &visit.t("contacts-deal-delete"), &visit.t("contacts-deal-delete-question")))
            }
        }
    }
}

fn deal_form(
    visit: &Visit,
    contact: ContactId,
    deal: Option<DealId>,
    (title, stage, status): (&str, &str, &str),
    names: &Names,
    errors: &FieldErrors,
) -> Markup {
    let page = page_of(contact);
    let action = match deal {
        Some(deal) => format!("{page}/deals/{deal}"),
        None => format!("{page}/deals"),
    };
    let mut stages = vec![(String::new(), visit.t("contacts-stage-none"))];
    stages.extend(names.stages());
    let statuses = STATUSES.map(|word| (word.to_owned(), visit.word_of("contacts-deal", word)));
    html! {
        form method="post" action=(action) {
            (csrf_field(visit))
            (errors.summary(&["title", "stage_id", "status"]))
            (Field {
                name: "title", label: &visit.t("contacts-deal-title"), value: title, kind: "text",
                is_required: true,
            }.show(errors))
            (select("stage_id", &visit.t("contacts-column-stage"), &stages, stage, errors))
            (select("status", &visit.t("contacts-column-status"), &statuses, status, errors))
            button type="submit" { (visit.t("contacts-save")) }
        }
    }
}

/// Where a write leads: back to the contact, or to the form with what is wrong.
async fn done(
    visit: &Visit,
    form: &Fields,
    contact: ContactId,
    deal: Option<DealId>,
    written: Result<Deal, Error<ManageError>>,
) -> Outcome {
    let refused = match written {
        Ok(_) => return Reply::goto(format!("{}#deals", page_of(contact))),
        Err(Error::Rejected(refused @ ManageError::Invalid(_))) => refused,
        Err(error) => return Err(error.into()),
    };
    let names = Names::of(visit).await?;
    let sent = |name: &str| form.get(name).unwrap_or_default().to_owned();
    let (title, stage, status) = (sent("title"), sent("stage_id"), sent("status"));
    let errors = FieldErrors::of(visit.language, &refused);
    let body = deal_form(visit, contact, deal, (&title, &stage, &status), &names, &errors);
    Reply::refused(Area::Contacts, visit.t("contacts-deals"), body)
}

/// Makes a deal.
pub(super) async fn create(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let contact = Value::from(id(&ask).to_string());
    let body = ask.form.body().text("title").optional("stage_id").optional("status");
    let body = body.put("contact_id", Some(contact)).finish();
    let made = visit.recado.deals().create(visit.company.id, &body).await;
    done(visit, &ask.form, id(&ask), None, made).await
}

/// The deal of the path, if it is one of the contact.
async fn of_contact(visit: &Visit, contact: ContactId, deal: DealId) -> Result<DealId, Refusal> {
    let known = visit.recado.deals().get(visit.company.id, deal).await?;
    if known.contact_id == contact { Ok(deal) } else { Err(Refusal::NotFound) }
}

/// Changes a deal.
pub(super) async fn change(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let (contact, deal) = (id(&ask), ask.path.id("deal", DealId::parse));
    let deal = of_contact(&ask.visit, contact, deal).await?;
    let body = ask.form.body().text("title").clearable("stage_id").optional("status").finish();
    let changed = visit.recado.deals().change(visit.company.id, deal, &body).await;
    done(visit, &ask.form, id(&ask), Some(deal), changed).await
}

/// Deletes a deal.
pub(super) async fn delete(ask: Ask) -> Outcome {
    let (contact, deal) = (id(&ask), ask.path.id("deal", DealId::parse));
    let deal = of_contact(&ask.visit, contact, deal).await?;
    ask.visit.recado.deals().delete(ask.visit.company.id, deal).await?;
    Reply::goto(format!("{}#deals", page_of(id(&ask))))
}
