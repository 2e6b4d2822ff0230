//! Dates that somebody picks, as moments of the company's time zone.

use recado_core::Timestamp;

use crate::visit::Visit;

/// The beginning of a date such as `2026-11-26`, as the parsers of the core read it. What is no
/// date stays as it is, and the parser refuses it.
pub(crate) fn beginning_of(visit: &Visit, date: &str) -> String {
    let at = Timestamp::parse(&format!("{date}T00:00:00Z"));
    let Some(at) = at else { return date.to_owned() };
    let offset = visit.company.time_zone.offset(at) / 60;
    let sign = if offset < 0 { '-' } else { '+' };
    let minutes = offset.unsigned_abs();
    format!("{date}T00:00:00{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}
