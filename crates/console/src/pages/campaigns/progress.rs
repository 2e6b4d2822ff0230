//! How far a campaign is: its recipients by status, renewed while it runs, with what else of the
//! page changes by it.

use http::{Response, StatusCode};
use maud::{Markup, html};
use recado_core::Timestamp;
use recado_core::campaigns::{CampaignRecord, CampaignStatus};

use super::list::state;
use super::over_time::over_time;
use super::show::{acts, known};
use super::{id, page_of};
use crate::ask::Ask;
use crate::body::ConsoleBody;
use crate::reply::{Outcome, Reply};
use crate::view::layout::Area;
use crate::view::table::table;
use crate::visit::Visit;

/// How long a step of the plot is at least.
const MINUTE_MILLIS: i64 = 60_000;

/// R429. What a page of a campaign shows, for the comparison with what it would show now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Was {
    /// What its acts and facts are by.
    pub(super) status: String,
    /// The counts of its recipients.
    pub(super) counts: String,
    /// The minute of the plot, while messages go out.
    pub(super) minute: String,
}

impl Was {
    /// What a page that is made at this time shows.
    pub(super) fn of(record: &CampaignRecord, now: Timestamp) -> Self {
        let campaign = &record.campaign;
        let reason = record.paused_reason.map_or("", |reason| reason.as_str());
        let status = campaign.status.as_str();
        let (starts, has_begun) = (record.scheduled_at.is_some(), campaign.started_at.is_some());
        let counts = &campaign.counts;
        let counts = [
            counts.total,
            counts.sent,
            counts.delivered,
            counts.read,
            counts.failed,
            counts.skipped,
        ];
        let minute = match campaign.status {
            CampaignStatus::Running => (now.millis() / MINUTE_MILLIS).to_string(),
            _ => String::new(),
        };
        Self {
            status: format!("{status}.{reason}.{}{}", u8::from(starts), u8::from(has_begun)),
            counts: counts.map(|count| count.to_string()).join("."),
            minute,
        }
    }

    fn text(&self) -> String {
        [self.status.as_str(), &self.counts, &self.minute].join("-")
    }

    /// What a page says that it shows; nothing of another form.
    fn parse(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split('-').collect();
        let [status, counts, minute] = parts[..] else { return None };
        let owned = |text: &str| text.to_owned();
        Some(Self { status: owned(status), counts: owned(counts), minute: owned(minute) })
    }
}

/// R429. The part of the page that renews itself every 2 seconds while messages go out or wait for
/// their time.
pub(super) fn progress(visit: &Visit, record: &CampaignRecord, was: &Was) -> Markup {
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
    let path = format!("{}/progress?was={}", page_of(campaign.id), was.text());
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

/// R429. What changed since the page was made that asks: nothing where nothing did. The acts and
/// the facts follow the status, and the plot each minute; they take the places of those on the
/// page.
pub(super) async fn piece(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let record = visit.recado.campaigns().get(visit.company.id, id(&ask)).await?;
    let now = Was::of(&record, visit.recado.now());
    if !ask.is_piece {
        let piece = progress(visit, &record, &now);
        return Reply::page(Area::Campaigns, record.campaign.name.clone(), piece);
    }
    let was = ask.query.get("was").and_then(Was::parse);
    if was.as_ref() == Some(&now) {
        let mut nothing = Response::new(ConsoleBody::whole(""));
        *nothing.status_mut() = StatusCode::NO_CONTENT;
        return Ok(Reply::Raw(nothing));
    }
    let has_new_status = was.as_ref().is_none_or(|was| was.status != now.status);
    let has_new_plot = has_new_status || was.is_none_or(|was| was.minute != now.minute);
    Reply::piece(html! {
        (progress(visit, &record, &now))
        @if has_new_status {
            (acts(visit, &record, true))
            (known(visit, &record, true).await?)
        }
        @if has_new_plot { (over_time(visit, &record, true).await?) }
    })
}
