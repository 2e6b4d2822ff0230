//! What became of a campaign's messages over time, as a plot and as a table.

use maud::{Markup, html};
use recado_core::campaigns::{CampaignRecord, CampaignStatus, OutcomesSoFar};

use super::{id, page_of};
use crate::ask::Ask;
use crate::refusal::Refusal;
use crate::reply::{Outcome, Reply};
use crate::view::layout::Area;
use crate::view::plot::{Plot, Series, drawing, plot};
use crate::view::when::when;
use crate::visit::Visit;

/// The outcomes in the order in which they are drawn.
type Line = (&'static str, fn(&OutcomesSoFar) -> u64);
const LINES: [Line; 5] = [
    ("sent", |so_far| so_far.sent),
    ("delivered", |so_far| so_far.delivered),
    ("read", |so_far| so_far.read),
    ("failed", |so_far| so_far.failed),
    ("skipped", |so_far| so_far.skipped),
];

/// A number of messages as one of a plot. It is exact up to 2⁵³.
fn drawn(count: u64) -> Option<f64> {
    count.to_string().parse().ok()
}

/// R429. The part of the page with the plot, which renews itself each minute while messages go out.
/// A campaign that did not start yet has none.
pub(super) async fn over_time(visit: &Visit, record: &CampaignRecord) -> Result<Markup, Refusal> {
    let campaign = &record.campaign;
    let so_far = visit.recado.campaigns().over_time(visit.company.id, campaign.id).await?;
    let runs = campaign.status == CampaignStatus::Running;
    let path = format!("{}/over-time", page_of(campaign.id));
    let line = |(word, of): Line| Series {
        label: visit.word_of("campaigns-outcome", word),
        values: so_far.iter().map(|at| drawn(of(at))).collect(),
        unit: "",
    };
    let shown = Plot {
        x: so_far.iter().map(|at| at.at.millis() / 1_000).collect(),
        days: false,
        bars: false,
        series: LINES.into_iter().map(line).collect(),
    };
    let moments: Vec<Markup> = so_far.iter().map(|at| when(visit, at.at)).collect();
    Ok(html! {
        @if !so_far.is_empty() {
            div #campaign-over-time hx-get=[runs.then_some(path)]
                hx-trigger=[runs.then_some("every 60s")] hx-swap="outerHTML" {
                (plot(visit, &visit.t("campaigns-over-time"), &shown, &moments))
            }
        }
    })
}

pub(super) async fn piece(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let record = visit.recado.campaigns().get(visit.company.id, id(&ask)).await?;
    let piece = over_time(visit, &record).await?;
    match ask.is_piece {
        true => Reply::piece(piece),
        false => {
            let body = html! { (drawing()) (piece) };
            Reply::page(Area::Campaigns, record.campaign.name.clone(), body)
        }
    }
}
