//! Error responses: the only place that maps the core's kinds of errors to statuses (D4, D5).

use std::time::Duration;

use http::header::{ALLOW, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Response, StatusCode};
use recado_core::idempotency::is_remembered;
use recado_core::store::StoreError;
use recado_core::{Code, Error, Kind, Rejection};
use serde_json::{Map, Value};

use crate::answer::{Answer, json_response};
use crate::body::BodyError;

/// `Retry-After` when the store could not be reached.
const STORE_RETRY: Duration = Duration::from_secs(5);
/// `Retry-After` while the data is being moved (D76).
const MOVING_RETRY: Duration = Duration::from_secs(5);
/// `Retry-After` after too many concurrent changes of one record.
const BUSY_RETRY: Duration = Duration::from_secs(1);
/// `Retry-After` when too many are reading.
const READERS_RETRY: Duration = Duration::from_secs(5);

/// A refusal, ready to be written. Boxed, so that the results of successes are small.
#[derive(Debug)]
pub(crate) struct ErrorResponse(Box<Refusal>);

#[derive(Debug)]
struct Refusal {
    status: StatusCode,
    code: Code,
    message: String,
    details: Option<Map<String, Value>>,
    extra: Option<Map<String, Value>>,
    retry_after: Option<Duration>,
    allow: Option<String>,
    /// Whether a repeat with the same `Idempotency-Key` gets it again (D37).
    remembered: bool,
    /// The cause, for the log only.
    cause: Option<String>,
    form: ErrorFormat,
}

/// How refusals are written (D4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ErrorFormat {
    /// With `success`: everywhere except at hooks.
    Success,
    /// With `ok`: at hooks.
    Ok,
}

/// The result of a handler.
pub(crate) type Outcome = Result<Answer, ErrorResponse>;

/// The status of a code: that of its kind, except for codes that only HTTP has.
pub(crate) const fn status_of(code: Code) -> StatusCode {
    match code {
        Code::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        Code::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        code => status_of_kind(code.kind()),
    }
}

/// The status of each kind of error.
const fn status_of_kind(kind: Kind) -> StatusCode {
    match kind {
        Kind::Unauthenticated => StatusCode::UNAUTHORIZED,
        Kind::Forbidden => StatusCode::FORBIDDEN,
        Kind::Malformed => StatusCode::BAD_REQUEST,
        Kind::Invalid => StatusCode::UNPROCESSABLE_ENTITY,
        Kind::NotFound => StatusCode::NOT_FOUND,
        Kind::Conflict => StatusCode::CONFLICT,
        Kind::Gone => StatusCode::GONE,
        Kind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Kind::Limited => StatusCode::TOO_MANY_REQUESTS,
        Kind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        Kind::Upstream => StatusCode::BAD_GATEWAY,
        Kind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl ErrorResponse {
    fn new(code: Code, message: impl Into<String>) -> Self {
        Self(Box::new(Refusal {
            status: status_of(code),
            code,
            message: message.into(),
            details: None,
            extra: None,
            retry_after: None,
            allow: None,
            remembered: false,
            cause: None,
            form: ErrorFormat::Success,
        }))
    }

    /// The same under a status that is not its code's.
    fn with_status(mut self, status: StatusCode) -> Self {
        self.0.status = status;
        self
    }

    fn retry_after(mut self, wait: Duration) -> Self {
        self.0.retry_after = Some(wait);
        self
    }

    pub(crate) fn caused_by(mut self, cause: impl Into<String>) -> Self {
        self.0.cause = Some(cause.into());
        self
    }

    /// The error response for a refusal of the core.
    pub(crate) fn rejected(rejection: &impl Rejection) -> Self {
        let kind = rejection.kind();
        let failure = Self::new(rejection.code(), rejection.to_string());
        let mut failure = failure.with_status(status_of_kind(kind));
        failure.0.details = rejection.details();
        failure.0.extra = rejection.extra();
        failure.0.remembered = is_remembered(rejection);
        failure.0.retry_after = rejection.retry_after();
        match kind {
            // A refusal with a wait is a temporary state, not a failure.
            Kind::Unavailable if rejection.retry_after().is_some() => failure,
            Kind::Unavailable => failure.retry_after(STORE_RETRY).caused_by(with_causes(rejection)),
            Kind::Internal => failure.caused_by(with_causes(rejection)),
            _ => failure,
        }
    }

    /// No such path, or no such record.
    pub(crate) fn not_found() -> Self {
        Self::new(Code::NotFound, "there is nothing here")
    }

    /// The path exists, the method does not; `allow` lists those that do.
    pub(crate) fn method_not_allowed(allow: String) -> Self {
        let message = format!("this path answers {allow}");
        let mut failure = Self::new(Code::MethodNotAllowed, message);
        failure.0.allow = Some(allow);
        failure
    }

    /// The operator's token is missing or wrong.
    pub(crate) fn operator_unauthorized() -> Self {
        let message = "a valid operator token is required: Authorization: Bearer <token>";
        Self::new(Code::Unauthorized, message)
    }

    /// The rate limit is exhausted until `wait` has passed.
    pub(crate) fn rate_limited(wait: Duration) -> Self {
        let message = "the allowance of this key is used up; repeat the call after Retry-After";
        Self::new(Code::RateLimited, message).retry_after(wait)
    }

    /// A client has tried too many operator tokens; `wait` as for a rate limit.
    pub(crate) fn too_many_guesses(wait: Duration) -> Self {
        let message = "too many wrong operator tokens; repeat the call after Retry-After";
        Self::new(Code::RateLimited, message).retry_after(wait)
    }

    /// As many are reading files by links as may (R191).
    pub(crate) fn too_many_readers() -> Self {
        let message = "too many are reading this file, or files from this address; repeat the call \
                       after Retry-After";
        Self::new(Code::RateLimited, message).retry_after(READERS_RETRY)
    }

    /// As many exports are made as may be (R410).
    pub(crate) fn too_many_exports() -> Self {
        let message = "too many exports are made at the moment; repeat the call after Retry-After";
        Self::new(Code::RateLimited, message).retry_after(READERS_RETRY)
    }

    /// The body is not a JSON object.
    pub(crate) fn invalid_body(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidBody, message)
    }

    /// The request cannot be fulfilled in this form; `message` says which form can.
    pub(crate) fn unfit(message: &str) -> Self {
        Self::new(Code::ValidationError, message)
    }

    /// Temporarily unavailable; `message` says what is missing.
    pub(crate) fn unavailable(message: &str) -> Self {
        Self::new(Code::Unavailable, message).retry_after(STORE_RETRY)
    }

    /// Nothing is written, because the data is being moved (D76).
    pub(crate) fn moving() -> Self {
        let message = "the data is being moved; repeat the call after Retry-After";
        Self::new(Code::Moving, message).retry_after(MOVING_RETRY)
    }

    /// An internal failure. The cause goes to the log, never into the answer.
    pub(crate) fn internal(cause: impl Into<String>) -> Self {
        let message = "something went wrong on our side";
        Self::new(Code::InternalError, message).caused_by(cause)
    }

    /// The same in the form of the hooks: `ok` in place of `success`, only code, message and the
    /// fields of the code, and the same wait for everything that is unavailable (D4, D70, R100),
    /// except for a hold (D75).
    pub(crate) fn of_hook(mut self) -> Self {
        self.0.form = ErrorFormat::Ok;
        self.0.details = None;
        let is_unavailable = self.0.status == StatusCode::SERVICE_UNAVAILABLE;
        if is_unavailable && self.0.code != Code::OnHold {
            self.0.retry_after = Some(STORE_RETRY);
        }
        self
    }

    /// The body of a call to a hook cannot be read (7.2, 7.3).
    pub(crate) fn invalid_payload(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidPayload, message)
    }

    /// The cause, which the answer must not contain.
    pub(crate) fn cause(&self) -> Option<&str> {
        self.0.cause.as_deref()
    }

    /// Whether a repeat with the same `Idempotency-Key` gets it again (D37).
    pub(crate) fn is_remembered(&self) -> bool {
        self.0.remembered
    }

    /// Its status and its body (D4).
    pub(crate) fn written(&self) -> (StatusCode, String) {
        let refusal = &self.0;
        let mut body = Map::new();
        let flag = match refusal.form {
            ErrorFormat::Success => "success",
            ErrorFormat::Ok => "ok",
        };
        body.insert(flag.to_owned(), Value::Bool(false));
        body.insert("code".to_owned(), refusal.code.as_str().into());
        body.insert("message".to_owned(), refusal.message.clone().into());
        if let Some(details) = &refusal.details {
            body.insert("details".to_owned(), details.clone().into());
        }
        for (name, value) in refusal.extra.iter().flatten() {
            body.insert(name.clone(), value.clone());
        }
        (refusal.status, Value::Object(body).to_string())
    }

    /// Writes the refusal.
    pub(crate) fn into_response(self) -> Response<bytes::Bytes> {
        let (status, body) = self.written();
        let refusal = *self.0;
        let mut response = json_response(status, body);
        let headers = response.headers_mut();
        if let Some(wait) = refusal.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(whole_seconds(wait)));
        }
        if let Some(allow) = refusal.allow.and_then(|allow| HeaderValue::try_from(allow).ok()) {
            headers.insert(ALLOW, allow);
        }
        // The secret of a hook is not sent in `Authorization`, so there is no scheme to name.
        if refusal.status == StatusCode::UNAUTHORIZED && refusal.form == ErrorFormat::Success {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// A wait in whole seconds, rounded up, at least 1 (D5).
fn whole_seconds(wait: Duration) -> u64 {
    let partial = u64::from(wait.subsec_nanos() > 0);
    wait.as_secs().saturating_add(partial).max(1)
}

/// An error with everything that caused it, for the log.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

impl BodyError {
    /// The text for people.
    fn message(self) -> String {
        match self {
            Self::TooLarge(limit) => return format!("the body may have at most {limit} bytes"),
            Self::Encoded => "send the body without a Content-Encoding",
            Self::Broken => "the body did not arrive whole",
            Self::Slow => "the body took too long to arrive",
            Self::NoRoom => "too many large bodies are under way; repeat the call later",
        }
        .to_owned()
    }

    /// The refusal of a hook: every problem of a body except its encoding is INVALID_PAYLOAD (7.2).
    pub(crate) fn of_payload(self) -> ErrorResponse {
        let refused = ErrorResponse::invalid_payload(self.message());
        match self {
            Self::Encoded | Self::NoRoom => self.into(),
            Self::TooLarge(_) => refused.with_status(StatusCode::PAYLOAD_TOO_LARGE),
            Self::Broken | Self::Slow => refused,
        }
    }

    /// The refusal of a gateway's call: problems that a repeat may solve have a status after which
    /// gateways repeat the call, and 400 is no such status (R106).
    pub(crate) fn of_gateway(self) -> ErrorResponse {
        match self {
            Self::Broken => ErrorResponse::from(self).with_status(StatusCode::REQUEST_TIMEOUT),
            _ => self.into(),
        }
    }
}

impl From<BodyError> for ErrorResponse {
    fn from(fault: BodyError) -> Self {
        let message = fault.message();
        match fault {
            BodyError::TooLarge(_) => Self::new(Code::PayloadTooLarge, message),
            BodyError::Encoded => Self::new(Code::UnsupportedMediaType, message),
            BodyError::Broken => Self::new(Code::BadRequest, message),
            BodyError::Slow => {
                Self::new(Code::BadRequest, message).with_status(StatusCode::REQUEST_TIMEOUT)
            }
            BodyError::NoRoom => Self::unavailable(&message),
        }
    }
}

impl From<StoreError> for ErrorResponse {
    fn from(error: StoreError) -> Self {
        let cause = with_causes(&error);
        match error {
            StoreError::Unavailable(_)
            | StoreError::NotMigrated { .. }
            | StoreError::OutcomeUnknown(_) => {
                Self::unavailable("the service cannot reach its store; repeat the call later")
                    .caused_by(cause)
            }
            StoreError::NotSearchable => Self::unavailable(
                "messages are still being made searchable after an upgrade; repeat the call later",
            ),
            StoreError::Closed => Self::moving(),
            StoreError::Corrupt(_) => Self::internal(cause),
        }
    }
}

impl<E: Rejection> From<Error<E>> for ErrorResponse {
    fn from(error: Error<E>) -> Self {
        match error {
            Error::Rejected(rejection) => Self::rejected(&rejection),
            Error::Denied(denied) => Self::rejected(&denied),
            Error::Busy => {
                Self::unavailable("others are changing the same record; repeat the call shortly")
                    .retry_after(BUSY_RETRY)
            }
            Error::Store(error) => error.into(),
        }
    }
}

impl From<recado_core::query::InvalidParameter> for ErrorResponse {
    fn from(invalid: recado_core::query::InvalidParameter) -> Self {
        Self::rejected(&invalid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(failure: ErrorResponse) -> (Response<bytes::Bytes>, Value) {
        let response = failure.into_response();
        let body = serde_json::from_slice(response.body()).expect("json");
        (response, body)
    }

    #[test]
    fn a_wait_is_rounded_up_to_whole_seconds_and_is_at_least_one() {
        let millis = |ms| whole_seconds(Duration::from_millis(ms));
        assert_eq!([millis(0), millis(1), millis(1000), millis(1001)], [1, 1, 1, 2]);
    }

    #[test]
    fn an_unreachable_store_is_503_with_retry_after_and_without_its_cause() {
        let error: Error<recado_core::NotFound> = StoreError::unavailable("host db-7 down").into();
        let (response, body) = written(error.into());
        assert_eq!(response.status(), 503);
        assert_eq!(response.headers()["retry-after"], "5");
        assert_eq!(body["code"], "UNAVAILABLE");
        assert!(!body.to_string().contains("db-7"));
    }

    #[test]
    fn a_defect_is_500_and_reports_nothing_of_itself() {
        let error = StoreError::corrupt("row 17 of table contacts");
        let (response, body) = written(error.into());
        assert_eq!(response.status(), 500);
        assert_eq!(body["code"], "INTERNAL_ERROR");
        assert!(!body.to_string().contains("17"));
    }

    /// R17.
    #[test]
    fn a_race_lost_too_often_asks_to_come_back_in_a_second() {
        let (response, body) = written(Error::<recado_core::NotFound>::Busy.into());
        assert_eq!((response.status().as_u16(), &body["code"]), (503, &"UNAVAILABLE".into()));
        assert_eq!(response.headers()["retry-after"], "1");
    }

    #[test]
    fn every_401_names_the_scheme() {
        let (response, body) = written(ErrorResponse::operator_unauthorized());
        assert_eq!(response.headers()["www-authenticate"], "Bearer");
        assert_eq!(body["success"], false);
    }

    #[test]
    fn extra_fields_stand_at_the_root_beside_the_code() {
        let by = recado_core::ids::ContactId::parse("00000000-0000-0000-0000-00000000002a")
            .expect("a UUID");
        let taken = recado_core::contacts::CreateContactError::PhoneTaken { by };
        let (response, body) = written(ErrorResponse::rejected(&taken));
        assert_eq!(response.status(), 409);
        assert_eq!(body["contact_id"], by.to_string());
    }

    #[test]
    fn the_pages_of_errors_list_every_code_with_its_status() {
        let codes = Code::ALL.iter().map(|code| (status_of(*code).as_u16(), code.as_str()));
        // A body that is too slow or too large keeps the code that its surface has for bodies.
        let others = [(408, "BAD_REQUEST"), (413, "INVALID_PAYLOAD")];
        let codes: std::collections::BTreeSet<(u16, &str)> = codes.chain(others).collect();
        for page in ["errors.md", "errors.pt-BR.md"] {
            let path = format!("{}/tests/pages/{page}", env!("CARGO_MANIFEST_DIR"));
            let text = std::fs::read_to_string(path).expect("the page is there");
            let rows = text.lines().filter_map(|line| {
                let (status, rest) = line.strip_prefix("| ")?.split_once(" | `")?;
                Some((status.parse().ok()?, rest.split('`').next()?))
            });
            assert_eq!(rows.collect::<std::collections::BTreeSet<_>>(), codes, "{page}");
        }
    }
}
