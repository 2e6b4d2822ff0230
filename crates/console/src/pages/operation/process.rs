//! What this process did in the last hour (R431).

use maud::{Markup, html};

use super::{PROCESS, parts};
use crate::ask::Ask;
use crate::last_hour::Sample;
use crate::reply::{Outcome, Reply};
use crate::view::empty::empty;
use crate::view::layout::Area;
use crate::view::plot::{Plot, Series, drawing, plot};
use crate::view::when::when;
use crate::visit::Visit;

/// A line of a plot: its key, its unit and its value in a sample.
type Line = (&'static str, &'static str, fn(&Sample) -> Option<f64>);

const PLOTS: &[(&str, &[Line])] = &[
    (
        "operation-process-throughput",
        &[
            ("operation-process-requests", "/s", |sample| sample.requests),
            ("operation-process-sends", "/s", |sample| sample.sends),
            ("operation-process-events", "/s", |sample| sample.gateway_events),
            ("operation-process-attempts", "/s", |sample| sample.attempts),
        ],
    ),
    (
        "operation-process-backlog",
        &[
            ("operation-process-deliveries", "", |sample| sample.backlog.deliveries),
            ("operation-process-jobs", "", |sample| sample.backlog.jobs),
        ],
    ),
    (
        "operation-process-latency",
        &[
            ("operation-process-half", "ms", |sample| sample.half.map(|it| it * 1_000.0)),
            ("operation-process-most", "ms", |sample| sample.most.map(|it| it * 1_000.0)),
        ],
    ),
];

fn drawn(visit: &Visit, caption: &str, lines: &[Line], samples: &[Sample]) -> Markup {
    let series = lines.iter().map(|(key, unit, value)| Series {
        label: visit.language.text(key),
        values: samples.iter().map(value).collect(),
        unit,
    });
    let shown = Plot {
        x: samples.iter().map(|sample| sample.at.millis() / 1_000).collect(),
        days: false,
        bars: false,
        series: series.collect(),
    };
    let moments: Vec<Markup> = samples.iter().map(|sample| when(visit, sample.at)).collect();
    plot(visit, caption, &shown, &moments)
}

pub(super) async fn show(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let samples = ask.shared.options.last_hour.as_ref().map(crate::LastHour::samples);
    let body = html! {
        (drawing())
        (parts(visit, PROCESS))
        @match samples {
            None => (empty(&visit.t("operation-process-none"))),
            Some(samples) if samples.is_empty() => (empty(&visit.t("operation-process-not-yet"))),
            Some(samples) => {
                p { (visit.t("operation-process-about")) }
                @for (key, lines) in PLOTS {
                    (drawn(visit, &visit.language.text(key), lines, &samples))
                }
            }
        }
    };
    Reply::page(Area::Operation, visit.t("operation-process"), body)
}
