//! Who may call the operator API: the token, and how often it may be guessed (R181).

use http::request::Parts;
use recado_core::access::RateDecision;

use crate::bearer::bearer;
use crate::error::ErrorResponse;
use crate::peer::client_of;
use crate::shared::Shared;

/// Admits a call of the operator API. Where no token is configured, every path is unknown (R6).
///
/// A client that has shown the token before is admitted with it whatever others at its address
/// guess; of others, no token is admitted beyond the allowance of wrong ones, so that an answer
/// tells nothing then (R181).
///
/// # Errors
///
/// The token is missing or wrong, or too many were tried.
pub(crate) async fn admit(shared: &Shared, head: &Parts) -> Result<(), ErrorResponse> {
    let Some(token) = &shared.options.operator_token else {
        return Err(ErrorResponse::not_found());
    };
    let Some(presented) = bearer(&head.headers) else {
        return Err(ErrorResponse::operator_unauthorized());
    };
    let client = client_of(head, &shared.options.trusted_proxies);
    let (operators, now) = (&shared.operators, shared.recado.now());
    let is_right = token.matches(presented);
    if !is_right || !operators.knows(client, now) {
        let decision = shared.recado.access().check_operator_token(client, is_right).await?;
        if let RateDecision::Limited { retry_after } = decision {
            return Err(ErrorResponse::too_many_guesses(retry_after));
        }
    }
    if !is_right {
        return Err(ErrorResponse::operator_unauthorized());
    }
    operators.saw(client, now);
    Ok(())
}
