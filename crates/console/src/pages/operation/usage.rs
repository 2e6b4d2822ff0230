//! Prosas and cost by day and kind (R430).

use maud::{Markup, html};
use recado_core::Timestamp;
use recado_core::prosas::{Brl, Prosas, USAGE_DAYS, UsageDay};

use super::{USAGE, parts};
use crate::ask::Ask;
use crate::i18n::Language;
use crate::reply::{Outcome, Reply};
use crate::view::layout::Area;
use crate::view::plot::{Plot, Series, drawing, plot};
use crate::view::table::facts;
use crate::visit::Visit;

/// What was spent, and what was refunded.
type Pair = (Option<f64>, Option<f64>);

/// An exact amount as a number of a plot.
fn number(amount: impl std::fmt::Display) -> Option<f64> {
    amount.to_string().parse().ok()
}

/// Midnight of a date in UTC, in seconds.
fn midnight(date: &str) -> i64 {
    Timestamp::parse(&format!("{date}T00:00:00Z")).map_or(0, |at| at.millis() / 1_000)
}

/// A date as people write it.
fn written(visit: &Visit, date: &str) -> String {
    match (visit.language, date.split('-').collect::<Vec<_>>().as_slice()) {
        (Language::Portuguese, [year, month, day]) => format!("{day}/{month}/{year}"),
        _ => date.to_owned(),
    }
}

fn drawn(
    visit: &Visit,
    days: &[UsageDay],
    caption: &str,
    unit: &'static str,
    of: impl Fn(&UsageDay) -> Pair,
) -> Markup {
    let series = |key: &str, pick: fn(Pair) -> Option<f64>| Series {
        label: visit.t(key),
        values: days.iter().map(|day| pick(of(day))).collect(),
        unit,
    };
    let shown = Plot {
        x: days.iter().map(|day| midnight(&day.date)).collect(),
        days: true,
        bars: true,
        series: vec![
            series("operation-usage-spent", |(spent, _)| spent),
            series("operation-usage-refunded", |(_, back)| back),
        ],
    };
    let moments: Vec<Markup> = days
        .iter()
        .map(|day| html! { time datetime=(day.date) { (written(visit, &day.date)) } })
        .collect();
    plot(visit, caption, &shown, &moments)
}

pub(super) async fn show(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let days = visit.recado.prosas().usage(visit.company.id).await?;
    let prosas = |pick: fn(&UsageDay) -> Prosas| days.iter().map(pick).sum::<Prosas>();
    let cost = |pick: fn(&UsageDay) -> Brl| days.iter().map(pick).sum::<Brl>();
    let (spent, back) =
        (prosas(|day| day.totals.debits.prosas), prosas(|day| day.totals.refunds.prosas.negated()));
    let (cost, cost_back) =
        (cost(|day| day.totals.debits.cost_brl), cost(|day| day.totals.refunds.cost_brl.negated()));
    let body = html! {
        (drawing())
        (parts(visit, USAGE))
        p { (visit.t_with("operation-usage-about", &[("days", USAGE_DAYS.into())])) }
        (facts(&[
            (visit.t("operation-usage-spent"), html! { (spent) " prosas, R$ " (cost) }),
            (visit.t("operation-usage-refunded"), html! { (back) " prosas, R$ " (cost_back) }),
        ]))
        (drawn(visit, &days, &visit.t("operation-usage-prosas"), "prosas", |day| (
            number(day.totals.debits.prosas),
            number(day.totals.refunds.prosas.negated()),
        )))
        (drawn(visit, &days, &visit.t("operation-usage-cost"), "R$", |day| (
            number(day.totals.debits.cost_brl),
            number(day.totals.refunds.cost_brl.negated()),
        )))
    };
    Reply::page(Area::Operation, visit.t("operation-usage"), body)
}
