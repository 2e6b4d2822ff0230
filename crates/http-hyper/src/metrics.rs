//! Counters of the HTTP surface, labelled by route template, never by path (D70).

use std::time::Duration;

use http::{Method, StatusCode};
use metrics::{
    Label, Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};

const REQUESTS: &str = "recado_http_requests_total";
const DURATION: &str = "recado_http_request_duration_seconds";
const IN_FLIGHT: &str = "recado_http_requests_in_flight";
const GATEWAY_EVENTS: &str = "recado_gateway_events_total";

/// Registers descriptions of the metrics; a recorder has to be installed before.
pub(crate) fn describe() {
    describe_counter!(REQUESTS, Unit::Count, "Requests answered, by route, method and status.");
    describe_histogram!(
        DURATION,
        Unit::Seconds,
        "Time from request to answer, by route, method and status."
    );
    describe_gauge!(IN_FLIGHT, Unit::Count, "Requests being answered.");
    describe_counter!(
        GATEWAY_EVENTS,
        Unit::Count,
        "Events in the webhooks of gateways, by result."
    );
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

/// Counts events of gateways.
pub(crate) fn gateway_events(result: &'static str, count: usize) {
    if count > 0 {
        counter!(GATEWAY_EVENTS, "result" => result).increment(count as u64);
    }
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
