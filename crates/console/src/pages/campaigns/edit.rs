//! Making and changing campaigns.

use maud::html;
use recado_core::Error;
use recado_core::campaigns::CampaignError;

use super::body::body;
use super::form::{form, of};
use super::{LIST, id, page_of};
use crate::ask::Ask;
use crate::fields::Fields;
use crate::reply::{Outcome, Reply};
use crate::view::field::FieldErrors;
use crate::view::layout::Area;

const NEW: &str = "/console/campaigns/new";

pub(super) async fn new(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let errors = FieldErrors::default();
    let body = html! {
        p { a href=(LIST) { (visit.t("campaigns-back")) } }
        (form(visit, NEW, &Fields::default(), false, &errors).await?)
    };
    Reply::page(Area::Campaigns, visit.t("campaigns-new"), body)
}

pub(super) async fn create(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let body = body(&ask.form, visit.company.time_zone, false);
    match visit.recado.campaigns().create(visit.company.id, &body).await {
        Ok(made) => Reply::goto(page_of(made.campaign.id)),
        Err(Error::Rejected(refused)) if refused != CampaignError::NotFound => {
            let errors = FieldErrors::of(visit.language, &refused);
            let form = form(visit, NEW, &ask.form, false, &errors).await?;
            Reply::refused(Area::Campaigns, visit.t("campaigns-new"), form)
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn edit(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let record = visit.recado.campaigns().get(visit.company.id, id(&ask)).await?;
    let fields = of(&record, visit.company.time_zone);
    let path = page_of(record.campaign.id);
    let has_begun = record.campaign.started_at.is_some();
    let action = format!("{path}/edit");
    let body = html! {
        p { a href=(path) { bdi { (record.campaign.name) } } }
        (form(visit, &action, &fields, has_begun, &FieldErrors::default()).await?)
    };
    Reply::page(Area::Campaigns, visit.t("campaigns-edit"), body)
}

pub(super) async fn change(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let record = visit.recado.campaigns().get(visit.company.id, id(&ask)).await?;
    let path = page_of(record.campaign.id);
    let body = body(&ask.form, visit.company.time_zone, true);
    match visit.recado.campaigns().change(visit.company.id, record.campaign.id, &body).await {
        Ok(_) => Reply::goto(path),
        Err(Error::Rejected(refused)) if refused != CampaignError::NotFound => {
            let errors = FieldErrors::of(visit.language, &refused);
            let has_begun = record.campaign.started_at.is_some();
            let form = form(visit, &format!("{path}/edit"), &ask.form, has_begun, &errors).await?;
            Reply::refused(Area::Campaigns, visit.t("campaigns-edit"), form)
        }
        Err(error) => Err(error.into()),
    }
}
