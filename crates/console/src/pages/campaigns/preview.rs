//! What a person would get from a campaign.

use maud::{Markup, html};
use recado_core::contacts::ContactFilter;
use recado_core::ids::{CampaignId, ContactId};
use recado_core::page::PageRequest;
use recado_core::{Error, Kind, Rejection};

use super::body::json_text;
use super::{id, page_of};
use crate::ask::Ask;
use crate::fields::Fields;
use crate::refusal::Refusal;
use crate::reply::{Outcome, Reply};
use crate::view::empty::{Tone, empty};
use crate::view::field::{Field, FieldErrors};
use crate::view::layout::Area;
use crate::view::toast::notice;
use crate::visit::Visit;

/// How many people a search shows.
const FOUND: u32 = 20;

pub(super) async fn show(ask: Ask) -> Outcome {
    let (visit, id) = (&ask.visit, id(&ask));
    let record = visit.recado.campaigns().get(visit.company.id, id).await?;
    let none = FieldErrors::default();
    let search = ask.query.get("search").unwrap_or_default();
    let body = html! {
        p { a href=(page_of(id)) { bdi { (record.campaign.name) } } }
        form.stacked method="get" role="search" {
            (Field {
                name: "search", label: &visit.t("campaigns-preview-who"), value: search,
                kind: "search", is_required: false,
            }.show(&none))
            button.quiet type="submit" { (visit.t("campaigns-preview-find")) }
        }
        (people(visit, id, &ask.query).await?)
        @if let Some(contact) = ask.query.filled("contact_id") {
            (of(visit, id, ContactId::parse(contact)).await?)
        }
    };
    Reply::page(Area::Campaigns, visit.t("campaigns-preview"), body)
}

async fn people(visit: &Visit, id: CampaignId, query: &Fields) -> Result<Markup, Refusal> {
    let filter = ContactFilter::parse(&query.params(&["search"]))?;
    let first = PageRequest::first(FOUND);
    let found = visit.recado.contacts().page_of(visit.company.id, &filter, first, false).await?;
    let path = format!("{}/preview", page_of(id));
    Ok(html! {
        @if found.items.is_empty() { (empty(&visit.t("campaigns-preview-nobody"))) }
        ul {
            @for contact in &found.items {
                @let to = query.with("contact_id", &contact.summary.id.to_string());
                li { a href={ (path) (to) } { bdi { (contact.summary.display_name) } } }
            }
        }
    })
}

/// R429. The campaign as this contact would get it, or why it would not.
async fn of(visit: &Visit, id: CampaignId, contact: Option<ContactId>) -> Result<Markup, Refusal> {
    let contact = contact.ok_or(Refusal::NotFound)?;
    let shown = match visit.recado.campaigns().preview(visit.company.id, id, contact).await {
        Ok(shown) => shown,
        Err(Error::Rejected(refused)) if refused.kind() != Kind::NotFound => {
            return Ok(notice(Tone::Bad, &visit.language.refused(&refused)));
        }
        Err(error) => return Err(error.into()),
    };
    Ok(html! {
        h2 { (visit.t("campaigns-preview-text")) }
        @if let Some(fault) = shown.skipped {
            @let word = visit.word_of("campaigns-why", &fault.as_str().to_lowercase());
            (notice(Tone::Warn, &visit.t_with("campaigns-preview-skipped",
                &[("reason", word.into())])))
        }
        div.block {
            @if let Some(header) = &shown.header { p.detail { (json_text(header)) } }
            @if let Some(text) = &shown.text { p.text dir="auto" { (text) } }
            @if !shown.buttons.is_empty() { p.detail { (json_text(&shown.buttons)) } }
        }
    })
}
