//! What became of a campaign's messages over time, as a plot and as a table.

use maud::{Markup, html};
use recado_core::campaigns::{CampaignRecord, OutcomesSoFar};

use crate::refusal::Refusal;
use crate::view::plot::{Plot, Series, plot};
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

/// R429. The part of the page with the plot; a campaign that did not start yet has none. As a part
/// of a piece it takes the place of the one that is shown.
pub(super) async fn over_time(
    visit: &Visit,
    record: &CampaignRecord,
    is_piece: bool,
) -> Result<Markup, Refusal> {
    let campaign = &record.campaign;
    let so_far = visit.recado.campaigns().over_time(visit.company.id, campaign.id).await?;
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
        div #campaign-over-time hx-swap-oob=[is_piece.then_some("true")] {
            @if !so_far.is_empty() {
                (plot(visit, &visit.t("campaigns-over-time"), &shown, &moments))
            }
        }
    })
}
