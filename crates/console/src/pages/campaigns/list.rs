//! The list of campaigns.

use maud::{Markup, html};
use recado_core::access::OperatorAction;
use recado_core::campaigns::{CampaignRecord, CampaignStatus};

use super::page_of;
use crate::ask::Ask;
use crate::reply::{Outcome, Reply};
use crate::view::empty::{Tone, badge, empty};
use crate::view::layout::Area;
use crate::view::table::table;
use crate::view::when::when_short;
use crate::visit::Visit;

/// The status of a campaign.
pub(super) fn state(visit: &Visit, status: CampaignStatus) -> Markup {
    let tone = match status {
        CampaignStatus::Running => Tone::Good,
        CampaignStatus::Paused => Tone::Warn,
        _ => Tone::Plain,
    };
    badge(tone, &visit.word_of("campaigns-status", status.as_str()))
}

pub(super) async fn list(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let all = visit.recado.campaigns().all(visit.company.id).await?;
    let columns = ["name", "status", "total", "failed", "created"]
        .map(|name| visit.t(&format!("campaigns-column-{name}")));
    let row = |record: &CampaignRecord| -> Vec<Markup> {
        let campaign = &record.campaign;
        vec![
            html! { a href=(page_of(campaign.id)) { bdi { (campaign.name) } } },
            state(visit, campaign.status),
            html! { (campaign.counts.total) },
            html! { (campaign.counts.failed) },
            when_short(visit, campaign.created_at),
        ]
    };
    let rows: Vec<Vec<Markup>> = all.iter().map(row).collect();
    let body = html! {
        @if visit.may(OperatorAction::CreateCampaign) {
            p { a.button href="/console/campaigns/new" { (visit.t("campaigns-new")) } }
        }
        @if rows.is_empty() {
            (empty(&visit.t("campaigns-empty")))
        } @else {
            (table(&visit.t("campaigns-title"), &columns, &rows))
        }
    };
    Reply::page(Area::Campaigns, visit.t("campaigns-title"), body)
}
