//! Requests to WAHA, and its answers.

use std::time::Duration;

use recado_core::connections::Connection;
use recado_core::gateway::ProviderError;
use recado_core::transport::{OutboundRequest, Transport, TransportError};
use serde_json::Value;

use crate::shared::{
    MAX_ANSWER, SEND_IDLE, clip, join, parse, query, text, text_at, transport_text,
};

/// How long one request for information before a send may take at most.
const MAX_QUESTION: Duration = Duration::from_secs(5);

/// WAHA with the settings of one connection.
pub(super) struct Api<'a> {
    base: &'a str,
    /// The name of the connection's session.
    pub(super) session: &'a str,
    key: &'a str,
    /// How long a send, or any other call, may take.
    pub(super) timeout: Duration,
}

impl<'a> Api<'a> {
    pub(super) fn of(connection: &'a Connection) -> Self {
        let setting = |name| connection.settings.text(name).unwrap_or_default();
        Self {
            base: setting("base_url").trim_end_matches('/'),
            session: setting("session"),
            key: setting("api_key"),
            timeout: connection.settings.timeout(),
        }
    }

    /// The address of the gateway, without a slash at its end.
    pub(super) const fn base(&self) -> &'a str {
        self.base
    }

    /// How long each request for information before a send may take, so that most of the time is
    /// left for the send.
    pub(super) fn question_time(&self) -> Duration {
        (self.timeout / 5).min(MAX_QUESTION)
    }

    /// A GET below `/api`.
    pub(super) fn get(&self, path: &[&str], parameters: &[(&str, &str)]) -> OutboundRequest {
        let url = format!("{}{}", self.url(path), query(parameters));
        let request = self.fetch(url).with_answer_limit(MAX_ANSWER);
        OutboundRequest { headers: self.headers(&[("Accept", "application/json")]), ..request }
    }

    /// A GET of any address of the gateway, for answers that are not JSON.
    pub(super) fn fetch(&self, url: String) -> OutboundRequest {
        let headers = self.headers(&[]);
        let request = OutboundRequest::get(url).with_timeout(self.timeout);
        OutboundRequest { headers, repeatable: true, ..request }
    }

    /// A POST below `/api`, which is never repeated.
    pub(super) fn post(&self, path: &[&str], body: &Value) -> OutboundRequest {
        let headers =
            self.headers(&[("Accept", "application/json"), ("Content-Type", "application/json")]);
        let request = OutboundRequest::post(self.url(path), headers, body.to_string().into_bytes())
            .with_timeout(self.timeout)
            .with_answer_limit(MAX_ANSWER);
        OutboundRequest { max_idle: Some(SEND_IDLE), ..request }
    }

    fn url(&self, path: &[&str]) -> String {
        join(&format!("{}/api", self.base), path)
    }

    fn headers(&self, more: &[(&str, &str)]) -> Vec<(String, String)> {
        let all = std::iter::once(("X-Api-Key", self.key)).chain(more.iter().copied());
        all.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }
}

/// Why a request for information failed.
#[derive(Debug)]
pub(super) enum RequestError {
    /// There was no answer at all.
    Transport(TransportError),
    /// The answer was an error, with its body if that was JSON.
    Status(u16, Option<Value>),
    /// The answer is not in WAHA's form.
    Unreadable,
}

impl RequestError {
    /// The state of the session, if it is the cause.
    pub(super) fn session_state(&self) -> Option<&str> {
        match self {
            Self::Status(422, Some(body)) => session_state(body),
            _ => None,
        }
    }

    /// Whether the engine has no such operation: repeating the request does not help.
    pub(super) fn is_not_implemented(&self) -> bool {
        const WORDS: [&str; 3] = ["not implemented", "not supported", "only in plus version"];
        let Self::Status(status, body) = self else { return false };
        let says = |said: String| WORDS.iter().any(|word| said.to_lowercase().contains(word));
        *status == 501 || body.as_ref().and_then(said).is_some_and(says)
    }

    /// The cause for people, without secrets.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Transport(error) => transport_text(error),
            Self::Status(401 | 403, _) => "the gateway refuses the API key".to_owned(),
            Self::Status(status, body) => {
                let said = body.as_ref().and_then(said);
                match (self.session_state(), said) {
                    (Some(state), _) => format!("the session is {}", clip(state)),
                    (None, Some(said)) => format!("{status}: {said}"),
                    (None, None) => format!("the gateway answered {status}"),
                }
            }
            Self::Unreadable => "the gateway's answer cannot be read".to_owned(),
        }
    }
}

impl From<RequestError> for ProviderError {
    fn from(trouble: RequestError) -> Self {
        Self::Failed(trouble.text())
    }
}

/// The state of the session, in an error that reports a wrong state.
pub(super) fn session_state(body: &Value) -> Option<&str> {
    body.get("expected")?;
    text(body, "status")
}

/// Whether an error 422 is about the session and not about the message: its state is wrong, or it
/// is not there. The words of a person are not searched: they are not in the gateway's own text.
pub(super) fn names_session(body: &Value) -> bool {
    const WORDS: [&str; 5] =
        ["does not exist", "not found", "not started", "not running", "is not as expected"];
    let says = |said: String| {
        let said = said.to_lowercase();
        let of_it = said.split_once("session").map(|(_, rest)| rest);
        of_it.is_some_and(|rest| WORDS.iter().any(|word| rest.contains(word)))
    };
    let starts = |error: &str| error.starts_with("Session status");
    session_state(body).is_some()
        || text(body, "error").is_some_and(starts)
        || said(body).is_some_and(says)
}

/// The gateway's text in an error. The rest of the body repeats the request, and is never kept.
pub(super) fn said(body: &Value) -> Option<String> {
    let messages = body.get("message").and_then(Value::as_array);
    let listed = messages.and_then(|messages| messages.first()).and_then(Value::as_str);
    let said = listed
        .or_else(|| text(body, "message"))
        .or_else(|| text_at(body, &["exception", "message"]))
        .or_else(|| text(body, "error"))?;
    Some(clip(said)).filter(|said| !said.is_empty())
}

/// Sends the request, and reads a success as JSON.
pub(super) async fn ask(
    transport: &dyn Transport,
    request: OutboundRequest,
) -> Result<Value, RequestError> {
    let answer = transport.send(request).await.map_err(RequestError::Transport)?;
    let body = parse(&answer.body);
    match answer.status {
        200..=299 => body.ok_or(RequestError::Unreadable),
        status => Err(RequestError::Status(status, body)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_gateways_own_words_are_kept_of_an_error() {
        let echoing = json!({"statusCode": 500, "exception": {"message": "boom", "stack": "at x"},
            "request": {"body": {"text": "segredo"}}});
        let trouble = RequestError::Status(500, Some(echoing));
        assert_eq!(trouble.text(), "500: boom");
        let listed = json!({"statusCode": 400, "message": ["chatId must be set", "x"]});
        assert_eq!(RequestError::Status(400, Some(listed)).text(), "400: chatId must be set");
        assert_eq!(RequestError::Status(502, None).text(), "the gateway answered 502");
    }

    #[test]
    fn only_what_the_engine_cannot_do_is_not_implemented() {
        let plain = json!({"statusCode": 404, "message": "Not Found"});
        let engine = json!({"message": "The method is not implemented by the engine."});
        let plus = json!({"message": "The feature is available only in Plus version."});
        for (trouble, expected) in [
            (RequestError::Status(501, None), true),
            (RequestError::Status(422, Some(engine)), true),
            (RequestError::Status(422, Some(plus)), true),
            (RequestError::Status(404, Some(plain.clone())), false),
            (RequestError::Status(400, Some(plain)), false),
            (RequestError::Status(500, None), false),
            (RequestError::Unreadable, false),
        ] {
            assert_eq!(trouble.is_not_implemented(), expected, "{trouble:?}");
        }
    }

    #[test]
    fn a_session_that_is_not_ready_says_what_it_is() {
        let body = json!({"error": "Session status is not as expected", "session": "a",
            "status": "SCAN_QR_CODE", "expected": ["WORKING"]});
        let trouble = RequestError::Status(422, Some(body));
        assert_eq!(trouble.session_state(), Some("SCAN_QR_CODE"));
        assert_eq!(trouble.text(), "the session is SCAN_QR_CODE");
        assert_eq!(RequestError::Status(422, Some(json!({"status": "x"}))).session_state(), None);
    }
}
