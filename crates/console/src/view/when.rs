//! Times, as the clocks of the company's time zone show them.

use chrono::DateTime;
use maud::{Markup, html};
use recado_core::Timestamp;

use crate::i18n::Language;
use crate::visit::Visit;

/// A moment in words, such as `26/11/2026 16:31`.
pub(crate) fn moment(visit: &Visit, at: Timestamp) -> String {
    let form = match visit.language {
        Language::English => "%Y-%m-%d %H:%M",
        Language::Portuguese => "%d/%m/%Y %H:%M",
    };
    local(visit, at).format(form).to_string()
}

/// A moment as an element, with its exact time for programs.
pub(crate) fn when(visit: &Visit, at: Timestamp) -> Markup {
    html! { time datetime=(at.to_string()) { (moment(visit, at)) } }
}

/// A moment as briefly as it is clear: the hour for today, else the date.
pub(crate) fn when_short(visit: &Visit, at: Timestamp) -> Markup {
    let (then, today) = (local(visit, at), local(visit, visit.recado.now()));
    let form = match visit.language {
        _ if then.date_naive() == today.date_naive() => "%H:%M",
        Language::English => "%Y-%m-%d",
        Language::Portuguese => "%d/%m/%Y",
    };
    let text = then.format(form).to_string();
    html! { time datetime=(at.to_string()) title=(moment(visit, at)) { (text) } }
}

fn local(visit: &Visit, at: Timestamp) -> DateTime<chrono::Utc> {
    let ahead = i64::from(visit.company.time_zone.offset(at)) * 1_000;
    DateTime::from_timestamp_millis(at.millis() + ahead).unwrap_or(DateTime::UNIX_EPOCH)
}
