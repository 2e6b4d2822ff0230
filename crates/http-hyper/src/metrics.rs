//! Counters of the HTTP surface, labelled by route template, never by path (D70).

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use http::{Method, StatusCode};
use metrics::{
    Label, Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};
use recado_core::Cell;
use recado_core::gateway::UnknownReason;
use recado_core::inbox::NotUnderstood;

const REQUESTS: &str = "recado_http_requests_total";
const DURATION: &str = "recado_http_request_duration_seconds";
const IN_FLIGHT: &str = "recado_http_requests_in_flight";
const CONNECTIONS: &str = "recado_http_connections";
const CONNECTIONS_SHED: &str = "recado_http_connections_shed_total";
const GATEWAY_EVENTS: &str = "recado_gateway_events_total";
const NOT_UNDERSTOOD: &str = "recado_gateway_not_understood_total";

const HELD: &str = "recado_held";

const HANDED_ON: &str = "recado_calls_handed_on_total";

/// How many kinds have a label of their own: gateways can invent any number of them (X9).
const MAX_KINDS: usize = 50;
/// The label of all others.
const OTHER: &str = "other";

/// Registers descriptions of the metrics; a recorder has to be installed before.
pub(crate) fn describe() {
    describe_counter!(REQUESTS, Unit::Count, "Requests answered, by route, method and status.");
    describe_histogram!(
        DURATION,
        Unit::Seconds,
        "Time from request to answer, by route, method and status."
    );
    describe_gauge!(IN_FLIGHT, Unit::Count, "Requests being answered.");
    describe_gauge!(CONNECTIONS, Unit::Count, "Open connections.");
    describe_counter!(
        CONNECTIONS_SHED,
        Unit::Count,
        "Connections that were closed for others, or refused, by reason."
    );
    describe_counter!(
        GATEWAY_EVENTS,
        Unit::Count,
        "Events in the webhooks of gateways, by result."
    );
    describe_gauge!(HELD, "1 while the installation is on hold.");
    describe_counter!(
        NOT_UNDERSTOOD,
        Unit::Count,
        "Events that are kept because they were not understood, by gateway, reason and kind."
    );
    describe_counter!(
        HANDED_ON,
        Unit::Count,
        "Calls that were handed on to the cell that their company moved to, by cell and result."
    );
    // A counter that begins with its first increment loses it.
    for result in ["stored", "passed_over", "refused"] {
        counter!(GATEWAY_EVENTS, "result" => result).increment(0);
    }
    for reason in ["room", "share", "descriptors", "refused"] {
        counter!(CONNECTIONS_SHED, "reason" => reason).increment(0);
    }
}

/// Sets whether the installation is on hold (D75).
pub(crate) fn held(is_held: bool) {
    gauge!(HELD).set(if is_held { 1.0 } else { 0.0 });
}

/// A method as a label. Unknown methods share one label, as callers can invent any number of them.
pub(crate) fn method_label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "OTHER",
    }
}

/// Counts an answer.
pub(crate) fn answered(
    method: &'static str,
    route: &'static str,
    status: StatusCode,
    duration: Duration,
) {
    let labels = [
        Label::from_static_parts("route", route),
        Label::from_static_parts("method", method),
        Label::new("status", status.as_str().to_owned()),
    ];
    counter!(REQUESTS, labels.iter()).increment(1);
    histogram!(DURATION, labels.iter()).record(duration.as_secs_f64());
}

/// Counts connections that were opened, or closed if negative.
pub(crate) fn connections(change: f64) {
    gauge!(CONNECTIONS).increment(change);
}

/// Counts a connection that was closed for others or refused.
pub(crate) fn connection_shed(reason: &'static str) {
    counter!(CONNECTIONS_SHED, "reason" => reason).increment(1);
}

/// Counts events of gateways.
pub(crate) fn gateway_events(result: &'static str, count: usize) {
    if count > 0 {
        counter!(GATEWAY_EVENTS, "result" => result).increment(count as u64);
    }
}

/// Counts a call that was handed on to another cell (R460).
pub(crate) fn handed_on(cell: Cell, result: &'static str) {
    let cell = cell.number().to_string();
    counter!(HANDED_ON, "cell" => cell, "result" => result).increment(1);
}

/// Counts what is kept because it was not understood (X9).
pub(crate) fn not_understood<'a>(
    gateway: &str,
    kept: impl Iterator<Item = (&'a NotUnderstood, usize)>,
) {
    for (kept, count) in kept {
        count_kept(gateway, kept.reason, &kept.kind, count);
    }
}

/// Counts a call that is not what the gateway sends (X9).
pub(crate) fn malformed_call(gateway: &str) {
    count_kept(gateway, UnknownReason::Unreadable, "malformed call", 1);
}

fn count_kept(gateway: &str, reason: UnknownReason, kind: &str, count: usize) {
    let labels = [
        Label::new("gateway", gateway.to_owned()),
        Label::from_static_parts("reason", reason.as_str()),
        Label::new("kind", kind_label(kind)),
    ];
    counter!(NOT_UNDERSTOOD, labels.iter()).increment(count as u64);
}

/// A kind as a label. The first ones of this process have labels of their own.
fn kind_label(kind: &str) -> String {
    static KNOWN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if known.contains(kind) {
        return kind.to_owned();
    }
    if known.len() >= MAX_KINDS {
        return OTHER.to_owned();
    }
    known.insert(kind.to_owned());
    kind.to_owned()
}

/// Counts a request as in flight until it is dropped, however it ends.
#[derive(Debug)]
pub(crate) struct InFlightGuard(());

impl InFlightGuard {
    pub(crate) fn begin() -> Self {
        gauge!(IN_FLIGHT).increment(1.0);
        Self(())
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        gauge!(IN_FLIGHT).decrement(1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// X9.
    #[test]
    fn kinds_have_a_bounded_number_of_labels() {
        let labels: BTreeSet<String> = (0..500).map(|n| kind_label(&format!("k{n}"))).collect();
        assert!(labels.len() <= MAX_KINDS + 1 && labels.contains(OTHER), "{labels:?}");
        assert_eq!(kind_label(labels.first().expect("a label")), *labels.first().expect("a label"));
    }
}
