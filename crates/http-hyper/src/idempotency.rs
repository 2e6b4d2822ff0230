//! The header `Idempotency-Key`: a repeat gets the first answer again (D37). What is remembered of
//! an answer is its status and its body.

use std::future::Future;

use http::{HeaderMap, HeaderName, StatusCode};
use recado_core::Recado;
use recado_core::idempotency::{Begun, CallKey, HEADER, contact_of_answer};
use recado_core::ids::CompanyId;
use recado_core::query::InvalidParameter;
use serde::{Deserialize, Serialize};

use crate::answer::Answer;
use crate::call::PathParts;
use crate::error::{ErrorResponse, Outcome};
use crate::route::Route;

/// The key of a request, if it has one. It belongs to the path as it was called, with the id in it.
///
/// D37.
pub(crate) fn key(
    headers: &HeaderMap,
    route: &Route,
    path: &PathParts,
) -> Result<Option<CallKey>, ErrorResponse> {
    let name = HeaderName::from_static("idempotency-key");
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(InvalidParameter::new(HEADER, "was given more than once").into());
    }
    let key = std::str::from_utf8(value.as_bytes())
        .map_err(|_| InvalidParameter::new(HEADER, "must be UTF-8"))?;
    let operation = format!("{} {}", (route.method)(), path.filled_into(route.path));
    Ok(Some(CallKey::parse(operation, key.trim())?))
}

/// An answer as it is remembered.
#[derive(Serialize, Deserialize)]
struct Remembered {
    status: u16,
    body: String,
}

impl Remembered {
    fn new((status, body): (StatusCode, String)) -> Self {
        Self { status: status.as_u16(), body }
    }
}

/// Answers a request unless it is a repeat. Bodies are compared by `hash`.
pub(crate) async fn once<F>(
    recado: &Recado,
    company: CompanyId,
    key: CallKey,
    hash: [u8; 32],
    answer: impl FnOnce() -> F + Send,
) -> Outcome
where
    F: Future<Output = Outcome> + Send,
{
    let calls = recado.calls();
    let ticket = match calls.begin(company, key, hash).await? {
        Begun::Fresh(ticket) => ticket,
        Begun::Replay(answer) => return replay(&answer),
    };
    let outcome = answer().await;
    let remembered = match &outcome {
        Ok(answer) => Some(Remembered::new(answer.written())),
        Err(failure) if failure.is_remembered() => Some(Remembered::new(failure.written())),
        Err(_) => None,
    };
    let contact = remembered.as_ref().and_then(|kept| contact_of_answer(&kept.body));
    let answer = remembered.as_ref().map(written).transpose()?;
    // The answer is given even if it cannot be remembered; a repeat then finds the call under way.
    if let Err(error) = calls.finish(ticket, answer, contact).await {
        tracing::warn!(%error, "an answer could not be kept for its idempotency key");
    }
    outcome
}

fn written(remembered: &Remembered) -> Result<String, ErrorResponse> {
    serde_json::to_string(remembered)
        .map_err(|error| ErrorResponse::internal(format!("an answer cannot be kept: {error}")))
}

fn replay(answer: &str) -> Outcome {
    let unreadable = || ErrorResponse::internal("a kept answer cannot be read");
    let Remembered { status, body } = serde_json::from_str(answer).map_err(|_| unreadable())?;
    let status = StatusCode::from_u16(status).map_err(|_| unreadable())?;
    Ok(Answer::replayed(status, body))
}
