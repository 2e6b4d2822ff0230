//! A campaign: how far it is, what it sends, and what can be done with it.

use maud::{Markup, html};
use recado_core::access::OperatorAction;
use recado_core::campaigns::{CampaignRecord, CampaignStatus};

use super::body::{json_text, variables_text};
use super::over_time::over_time;
use super::progress::{Was, progress};
use super::{LIST, id, page_of};
use crate::ask::Ask;
use crate::refusal::Refusal;
use crate::reply::{Outcome, Reply};
use crate::view::confirm::confirm;
use crate::view::layout::Area;
use crate::view::plot::drawing;
use crate::view::secret::act;
use crate::view::table::facts;
use crate::view::when::when;
use crate::visit::Visit;

pub(super) async fn show(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let record = visit.recado.campaigns().get(visit.company.id, id(&ask)).await?;
    let body = html! {
        (drawing())
        p { a href=(LIST) { (visit.t("campaigns-back")) } }
        (progress(visit, &record, &Was::of(&record, visit.recado.now())))
        (over_time(visit, &record, false).await?)
        (acts(visit, &record, false))
        h2 { (visit.t("campaigns-what")) }
        (known(visit, &record, false).await?)
    };
    Reply::page(Area::Campaigns, record.campaign.name.clone(), body)
}

/// R429. What can be done with it now. As a part of a piece it takes the place of what is shown.
pub(super) fn acts(visit: &Visit, record: &CampaignRecord, is_piece: bool) -> Markup {
    let campaign = &record.campaign;
    let status = campaign.status;
    let to = |act: &str| format!("{}/{act}", page_of(campaign.id));
    let begins = matches!(status, CampaignStatus::Draft | CampaignStatus::Paused);
    let goes = matches!(status, CampaignStatus::Running | CampaignStatus::Scheduled);
    let start = match (campaign.started_at, record.scheduled_at) {
        (Some(_), _) => "campaigns-resume",
        (None, Some(_)) => "campaigns-schedule",
        (None, None) => "campaigns-start",
    };
    html! {
        div #campaign-acts .buttons hx-swap-oob=[is_piece.then_some("true")] {
            @if begins && visit.may(OperatorAction::StartCampaign) {
                (confirm(visit, &to("start"), &visit.t(start), &visit.t("campaigns-start-ask")))
            }
            @if goes && visit.may(OperatorAction::PauseCampaign) {
                (act(visit, &to("pause"), &visit.t("campaigns-pause")))
            }
            @if status == CampaignStatus::Scheduled && visit.may(OperatorAction::UpdateCampaign) {
                (confirm(visit, &to("take-back"), &visit.t("campaigns-take-back"),
                    &visit.t("campaigns-take-back-ask")))
            }
            a.button href=(to("preview")) { (visit.t("campaigns-preview")) }
            a.button href=(to("recipients")) { (visit.t("campaigns-recipients")) }
            @if visit.may(OperatorAction::UpdateCampaign) {
                a.button href=(to("edit")) { (visit.t("campaigns-edit")) }
            }
            @if status != CampaignStatus::Running && visit.may(OperatorAction::DeleteCampaign) {
                (confirm(visit, &to("delete"), &visit.t("campaigns-delete"),
                    &visit.t("campaigns-delete-ask")))
            }
        }
    }
}

/// What it sends, and when it did. As a part of a piece it takes the place of what is shown.
pub(super) async fn known(
    visit: &Visit,
    record: &CampaignRecord,
    is_piece: bool,
) -> Result<Markup, Refusal> {
    let campaign = &record.campaign;
    let company = visit.company.id;
    let templates = visit.recado.templates().all(company).await?;
    let template = templates.iter().find(|template| template.id == campaign.template_id);
    let lists = visit.recado.lists().all(company).await?;
    let list = lists.iter().find(|list| list.id == campaign.list_id);
    let name = |key: &str| visit.t(&format!("campaigns-column-{key}"));
    let gone = visit.t("campaigns-gone");
    let time = |at| html! { @match at { Some(at) => (when(visit, at)), None => "–" } };
    let code = |text: String| html! { pre.code tabindex="0" { code { (text) } } };
    let known = facts(&[
        (
            name("template"),
            html! {
                @match template {
                    Some(template) => a href={ "/console/templates/" (template.id) } {
                        bdi { (template.name) }
                    },
                    None => (gone),
                }
            },
        ),
        (name("list"), html! { bdi { (list.map_or(gone.as_str(), |list| list.name.as_str())) } }),
        (name("variables"), code(variables_text(record))),
        (name("header"), code(json_text(&record.header))),
        (name("buttons"), code(json_text(&record.buttons))),
        (name("rate"), html! { (record.messages_per_second) }),
        (name("prosas"), html! { (record.prosas_per_message) }),
        (name("cost"), html! { "R$ " (record.cost_brl_per_message) }),
        (name("hours"), code(json_text(&record.send_between))),
        (name("stop"), code(json_text(&record.stop_after_failures))),
        (name("scheduled"), time(record.scheduled_at)),
        (name("started"), time(campaign.started_at)),
        (name("finished"), time(campaign.finished_at)),
        (name("updated"), time(Some(record.updated_at))),
    ]);
    Ok(html! {
        div #campaign-facts hx-swap-oob=[is_piece.then_some("true")] { (known) }
    })
}
