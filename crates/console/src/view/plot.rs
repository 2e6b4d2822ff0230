//! Plots: a figure that the script draws, and a table of the same numbers.

use maud::{Markup, html};
use serde::Serialize;

use super::table::table;
use crate::assets::{PLOTS, UPLOT, UPLOT_STYLE};
use crate::visit::Visit;

/// What is drawn.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Plot {
    /// Seconds since 1970, ascending; of days, midnight in UTC.
    pub(crate) x: Vec<i64>,
    /// Whether each `x` is a day.
    pub(crate) days: bool,
    /// Whether the series are bars, one upon the other.
    pub(crate) bars: bool,
    /// What is drawn over it.
    pub(crate) series: Vec<Series>,
}

/// A line, or one colour of the bars.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Series {
    /// Its name.
    pub(crate) label: String,
    /// A number for each `x`, or none.
    pub(crate) values: Vec<Option<f64>>,
    /// What the numbers count, such as `ms`.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(crate) unit: &'static str,
}

/// The most rows of the table: a long plot is thinned out evenly.
const ROWS: usize = 60;

/// The files that draw the figures of a page: once on each page that has some.
pub(crate) fn drawing() -> Markup {
    html! {
        link rel="stylesheet" href=(UPLOT_STYLE.path);
        script src=(UPLOT.path) defer {}
        script src=(PLOTS.path) defer {}
    }
}

/// A figure with its caption; `moments` are the texts of each `x` in the table.
pub(crate) fn plot(visit: &Visit, caption: &str, plot: &Plot, moments: &[Markup]) -> Markup {
    let json = serde_json::to_string(plot).unwrap_or_default();
    let mut columns = vec![visit.t("plot-when")];
    columns.extend(plot.series.iter().map(|series| match series.unit {
        "" => series.label.clone(),
        unit => format!("{} ({unit})", series.label),
    }));
    let step = moments.len().div_ceil(ROWS).max(1);
    let rows: Vec<Vec<Markup>> = moments
        .iter()
        .enumerate()
        .rev()
        .step_by(step)
        .map(|(at, moment)| {
            let values = plot.series.iter().map(|series| {
                let value = series.values.get(at).copied().flatten();
                html! { (value.map_or_else(|| "–".to_owned(), number)) }
            });
            std::iter::once(moment.clone()).chain(values).collect()
        })
        .collect();
    html! {
        figure.plotted data-plot=(json) {
            figcaption { (caption) }
            details {
                summary { (visit.t("plot-table")) }
                (table(caption, &columns, &rows))
            }
        }
    }
}

/// A number with at most three decimal places.
fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}
