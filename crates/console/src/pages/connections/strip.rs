//! The states of a connection over the last day, as a strip and as a list of changes.

use maud::{Markup, html};
use recado_core::Timestamp;
use recado_core::connections::{ConnectionStatus, STATUS_SHOWN, StatusSince};

use crate::view::table::table;
use crate::view::when::when;
use crate::visit::Visit;

/// The width of the strip: a unit a minute.
const MINUTES: i64 = 24 * 60;
/// The height of the strip.
const HEIGHT: i64 = 24;
/// The least width of a state, so that one of a few seconds is seen.
const LEAST: i64 = 4;

/// The states of a day until `now`.
pub(super) struct Day {
    now: Timestamp,
    states: Vec<StatusSince>,
}

impl Day {
    /// The last day of a connection, by the states that it had.
    pub(super) fn new(visit: &Visit, states: Vec<StatusSince>) -> Self {
        Self { now: visit.recado.now(), states }
    }

    /// Each state with its time in milliseconds.
    fn spans(&self) -> impl Iterator<Item = (StatusSince, i64)> {
        let ends = self.states.iter().skip(1).map(|next| next.at).chain([self.now]);
        let length = |(state, end): (&StatusSince, Timestamp)| {
            (*state, (end.millis() - state.at.millis()).max(0))
        };
        self.states.iter().zip(ends).map(length)
    }

    /// How many of a hundred parts of the known time the gateway reached its channel, rounded
    /// down.
    fn share(&self) -> i64 {
        let all: i64 = self.spans().map(|(_, length)| length).sum();
        let reached = self.spans().filter(|(state, _)| state.status == ConnectionStatus::Connected);
        let reached: i64 = reached.map(|(_, length)| length).sum();
        match (all, self.states.last()) {
            (0, last) => {
                100 * i64::from(last.is_some_and(|it| it.status == ConnectionStatus::Connected))
            }
            (all, _) => reached * 100 / all,
        }
    }

    /// How often the state changed.
    fn changes(&self) -> usize {
        self.states.len().saturating_sub(1)
    }

    /// R428. The strip. A connection that is reached fills its height, another one a third of it,
    /// so that no colour has to be seen. Nothing is drawn where the state is not known.
    pub(super) fn strip(&self, visit: &Visit) -> Markup {
        let from = self.now.minus(STATUS_SHOWN);
        let minute = |at: Timestamp| ((at.millis() - from.millis()) / 60_000).clamp(0, MINUTES);
        let label = visit.t_with(
            "connections-day-in-words",
            &[("share", self.share().into()), ("changes", self.changes().into())],
        );
        html! {
            svg.strip viewBox=(format!("0 0 {MINUTES} {HEIGHT}")) preserveAspectRatio="none"
                role="img" aria-label=(label) shape-rendering="crispEdges" {
                title { (label) }
                @for (state, length) in self.spans() {
                    @let width = (length / 60_000).max(LEAST);
                    @let height = match state.status {
                        ConnectionStatus::Connected => HEIGHT,
                        ConnectionStatus::Disconnected => HEIGHT / 3,
                    };
                    rect class=(state.status.as_str()) x=(minute(state.at).min(MINUTES - LEAST))
                        y=(HEIGHT - height) width=(width) height=(height) {}
                }
            }
        }
    }

    /// The strip with what it says in words, and its changes as a list.
    pub(super) fn whole(&self, visit: &Visit) -> Markup {
        let columns =
            ["since", "status"].map(|name| visit.t(&format!("connections-column-{name}")));
        let row = |state: &StatusSince| -> Vec<Markup> {
            let word = visit.word_of("connections-status", state.status.as_str());
            vec![when(visit, state.at), html! { (word) }]
        };
        let rows: Vec<Vec<Markup>> = self.states.iter().rev().map(row).collect();
        html! {
            h2 { (visit.t("connections-day")) }
            figure.day {
                (self.strip(visit))
                p.ends aria-hidden="true" {
                    span { (visit.t("connections-day-ago")) }
                    span { (visit.t("connections-day-now")) }
                }
                figcaption {
                    (visit.t_with("connections-day-in-words", &[
                        ("share", self.share().into()),
                        ("changes", self.changes().into()),
                    ]))
                }
                details {
                    summary { (visit.t("connections-day-changes")) }
                    (table(&visit.t("connections-day-changes"), &columns, &rows))
                }
            }
        }
    }
}
