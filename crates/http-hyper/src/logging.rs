//! One structured line per request: the route, the caller and the outcome. Never a path, a query, a
//! body, a key or a phone (D70). Of the lines that strangers cause, only some are written (R162).

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use http::{HeaderValue, StatusCode};
use recado_core::ids::{CompanyId, KeyId};

use crate::error::ErrorResponse;
use crate::line_limit::LineLimit;
use crate::quietly::quietly;

/// What is known of the caller of a request, set by the checks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Who(Arc<Facts>);

#[derive(Debug, Default)]
struct Facts {
    company: OnceLock<CompanyId>,
    key: OnceLock<KeyId>,
    recognized: OnceLock<()>,
}

impl Who {
    /// The call is about this company.
    pub(crate) fn company(&self, id: CompanyId) {
        self.0.company.get_or_init(|| id);
    }

    /// The call was made with this key.
    pub(crate) fn key(&self, id: KeyId) {
        self.0.key.get_or_init(|| id);
    }

    /// The caller has shown what it needs for its call: a key, a token, a secret, a signature.
    pub(crate) fn recognized(&self) {
        self.0.recognized.get_or_init(|| ());
    }

    /// The company that the call is about, once that is known.
    pub(crate) fn known_company(&self) -> Option<CompanyId> {
        self.0.company.get().copied()
    }

    fn is_stranger(&self) -> bool {
        self.0.recognized.get().is_none()
    }
}

/// The lines of requests. Writing one never fails, whatever the subscriber does: an answer whose
/// change is committed must not be lost with a line about it (R162).
#[derive(Debug, Default)]
pub(crate) struct RequestLog {
    /// Lines of answered requests of strangers.
    requests: LineLimit,
    /// Causes of failed requests of strangers.
    failures: LineLimit,
}

/// A request that was answered.
pub(crate) struct Answered<'r> {
    pub(crate) request_id: &'r HeaderValue,
    pub(crate) method: &'static str,
    pub(crate) route: &'static str,
    pub(crate) status: StatusCode,
    pub(crate) duration: Duration,
    pub(crate) who: &'r Who,
}

impl RequestLog {
    /// Logs the cause of a failed request, which its answer does not contain.
    pub(crate) fn failed(
        &self,
        request_id: &HeaderValue,
        route: &'static str,
        failure: &ErrorResponse,
        who: &Who,
    ) {
        if failure.cause().is_none() {
            return;
        }
        let now = Instant::now();
        if let Some(count) = self.failures.withheld(now) {
            quietly(|| tracing::error!(count, "more failed requests of strangers were not logged"));
        }
        if !who.is_stranger() || self.failures.passes(now) {
            failed(request_id, route, failure);
        }
    }

    /// Logs the line of an answered request.
    pub(crate) fn answered(&self, answered: &Answered<'_>) {
        let now = Instant::now();
        if let Some(count) = self.requests.withheld(now) {
            quietly(|| tracing::info!(count, "more requests of strangers were not logged"));
        }
        if !answered.who.is_stranger() || self.requests.passes(now) {
            quietly(|| answered.line());
        }
    }
}

impl Answered<'_> {
    fn line(&self) {
        let Facts { company, key, .. } = &*self.who.0;
        tracing::info!(
            request_id = self.request_id.to_str().unwrap_or_default(),
            method = self.method,
            route = self.route,
            status = self.status.as_u16(),
            duration_us = u64::try_from(self.duration.as_micros()).unwrap_or(u64::MAX),
            company = company.get().map(tracing::field::display),
            key = key.get().map(tracing::field::display),
            "request"
        );
    }
}

/// Logs the cause of a failed request.
pub(crate) fn failed(request_id: &HeaderValue, route: &'static str, failure: &ErrorResponse) {
    if let Some(cause) = failure.cause() {
        let request_id = request_id.to_str().unwrap_or_default();
        quietly(|| tracing::error!(request_id, route, cause, "a request failed"));
    }
}
