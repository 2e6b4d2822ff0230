//! How far a campaign is: its recipients by status, renewed while it runs.

use maud::{Markup, html};
use recado_core::campaigns::{CampaignRecord, CampaignStatus};

use super::list::state;
use super::{id, page_of};
use crate::ask::Ask;
use crate::reply::{Outcome, Reply};
use crate::view::layout::Area;
use crate::view::table::table;
use crate::visit::Visit;

/// R429. The part of the page that renews itself every 2 seconds while messages go out or wait for
/// their time.
pub(super) fn progress(visit: &Visit, record: &CampaignRecord) -> Markup {
    let campaign = &record.campaign;
    let counts = &campaign.counts;
    let outcomes = [
        ("sent", counts.sent),
        ("delivered", counts.delivered),
        ("read", counts.read),
        ("failed", counts.failed),
        ("skipped", counts.skipped),
    ];
    let done: u64 = outcomes.iter().map(|(_, count)| count).sum();
    let moves = matches!(campaign.status, CampaignStatus::Running | CampaignStatus::Scheduled);
    let path = format!("{}/progress", page_of(campaign.id));
    let columns = ["outcome", "count"].map(|name| visit.t(&format!("campaigns-column-{name}")));
    let row = |(word, count): &(&str, u64)| -> Vec<Markup> {
        let to = format!("{}/recipients?status={word}", page_of(campaign.id));
        let text = visit.word_of("campaigns-outcome", word);
        vec![
            html! { a href=(to) { (text) } },
            html! {
                (count) " "
                progress aria-label=(text) value=(count) max=(counts.total.max(1)) {}
            },
        ]
    };
    let rows: Vec<Vec<Markup>> = outcomes.iter().map(row).collect();
    let numbers = [("done", done.into()), ("all", counts.total.into())];
    html! {
        div #campaign-progress hx-get=[moves.then_some(path)]
            hx-trigger=[moves.then_some("every 2s")] hx-swap="outerHTML" {
            p {
                (state(visit, campaign.status))
                @if let Some(reason) = record.paused_reason {
                    " " (visit.word_of("campaigns-paused", reason.as_str()))
                }
            }
            p {
                label for="campaign-bar" { (visit.t_with("campaigns-done", &numbers)) } " "
                progress #campaign-bar value=(done) max=(counts.total.max(1)) {}
            }
            (table(&visit.t("campaigns-outcomes"), &columns, &rows))
        }
    }
}

pub(super) async fn piece(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let record = visit.recado.campaigns().get(visit.company.id, id(&ask)).await?;
    let piece = progress(visit, &record);
    match ask.is_piece {
        true => Reply::piece(piece),
        false => Reply::page(Area::Campaigns, record.campaign.name.clone(), piece),
    }
}
