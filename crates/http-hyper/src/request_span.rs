//! The span of a request, for programs that collect traces (R310): the route by its template and
//! the ids that the log has as well. Never a path, a query, a body, a key or a phone (D70).
//!
//! Without a subscriber that wants spans of the target `recado::trace` none is made.

use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode};
use tracing::Span;
use tracing::field::{Empty, display};

use crate::logging::Who;
use crate::quietly::quietly;

/// The span of a request with this id, and its caller's trace if that is known (R312).
pub(crate) fn of(
    head: &Parts,
    method: &'static str,
    route: &'static str,
    request_id: &HeaderValue,
) -> Span {
    let mut span = Span::none();
    quietly(|| {
        span = tracing::trace_span!(
            target: "recado::trace",
            parent: None,
            "request",
            otel.name = format_args!("{method} {route}"),
            otel.kind = "server",
            otel.status_code = Empty,
            http.request.method = method,
            http.route = route,
            http.response.status_code = Empty,
            recado.request_id = request_id.to_str().unwrap_or_default(),
            recado.company_id = Empty,
            recado.caller = Empty,
        );
        if !span.is_disabled()
            && let Some(caller) = trace_parent(&head.headers)
        {
            span.record("recado.caller", caller);
        }
    });
    span
}

/// Notes how the request was answered, and whose it was.
pub(crate) fn answered(span: &Span, status: StatusCode, who: &Who) {
    if span.is_disabled() {
        return;
    }
    quietly(|| {
        span.record("http.response.status_code", i64::from(status.as_u16()));
        if status.is_server_error() {
            span.record("otel.status_code", "ERROR");
        }
        if let Some(company) = who.known_company() {
            span.record("recado.company_id", display(company));
        }
    });
}

/// The header `traceparent` in the form of W3C Trace Context, version 00, whose ids are not zero:
/// `00-`, 32 hexadecimal digits, `-`, 16, `-`, 2. Anything else is not looked at.
///
/// R312.
fn trace_parent(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all("traceparent").iter();
    let text = all.next()?.to_str().ok()?;
    let parts: Vec<&str> = text.splitn(5, '-').collect();
    let ["00", trace, span, flags] = parts[..] else { return None };
    let is_hex = |text: &str, length: usize| {
        text.len() == length && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    };
    let is_id = |text: &str, length| is_hex(text, length) && text.bytes().any(|b| b != b'0');
    let is_valid = is_id(trace, 32) && is_id(span, 16) && is_hex(flags, 2);
    (is_valid && all.next().is_none()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn read(values: &[&str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append("traceparent", HeaderValue::from_str(value).expect("a value"));
        }
        trace_parent(&headers).map(str::to_owned)
    }

    /// R312.
    #[test]
    fn only_a_well_formed_trace_parent_is_taken() {
        assert_eq!(read(&[PARENT]).as_deref(), Some(PARENT));
        let zero_trace = "00-00000000000000000000000000000000-b7ad6b7169203331-01";
        let zero_span = "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01";
        let upper = PARENT.to_uppercase();
        let longer = format!("{PARENT}-more");
        let later = PARENT.replacen("00", "01", 1);
        for bad in ["", "00", "+5511987654321", zero_trace, zero_span, &upper, &longer, &later] {
            assert_eq!(read(&[bad]), None, "{bad}");
        }
        assert_eq!(read(&[PARENT, PARENT]), None);
        assert_eq!(read(&[]), None);
    }
}
