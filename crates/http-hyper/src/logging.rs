//! One structured line per request: the route, the caller and the outcome. Never a path, a query, a
//! body, a key or a phone (D70).

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http::{HeaderValue, StatusCode};
use recado_core::ids::{CompanyId, KeyId};

use crate::error::ErrorResponse;

/// The company and key of a call, set by the checks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Who(Arc<CallerIds>);

#[derive(Debug, Default)]
struct CallerIds {
    company: OnceLock<CompanyId>,
    key: OnceLock<KeyId>,
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
}

/// Logs the cause of a failed request, which its answer does not contain.
pub(crate) fn failed(request_id: &HeaderValue, route: &'static str, failure: &ErrorResponse) {
    if let Some(cause) = failure.cause() {
        let request_id = request_id.to_str().unwrap_or_default();
        tracing::error!(request_id, route, cause, "a request failed");
    }
}

/// Logs the line of an answered request.
pub(crate) fn answered(
    request_id: &HeaderValue,
    method: &'static str,
    route: &'static str,
    status: StatusCode,
    duration: Duration,
    who: &Who,
) {
    tracing::info!(
        request_id = request_id.to_str().unwrap_or_default(),
        method,
        route,
        status = status.as_u16(),
        duration_us = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX),
        company = who.0.company.get().map(tracing::field::display),
        key = who.0.key.get().map(tracing::field::display),
        "request"
    );
}
