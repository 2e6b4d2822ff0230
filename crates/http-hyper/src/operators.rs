//! Who may call the operator API: tokens, and how often they may be guessed (R181, R382).

use http::request::Parts;
use recado_core::access::{Operator, RateDecision};
use recado_core::audit::OperationName;

use crate::bearer::bearer;
use crate::error::ErrorResponse;
use crate::peer::{address_of, client_of};
use crate::shared::Shared;

/// The operator that makes a call: the holder of the token that the server was started with, or of
/// one that was made since (R382). Where the server was started without one, every path is unknown
/// (R6).
///
/// A client that has shown a right token before is admitted with it whatever others at its address
/// guess; of others, no token is admitted beyond the allowance of wrong ones, so that an answer
/// tells nothing then (R181). That a token has ended is logged, for the operation that was called
/// with it (R387).
///
/// # Errors
///
/// The token is missing or wrong, or too many were tried.
pub(crate) async fn admit(
    shared: &Shared,
    head: &Parts,
    operation: Option<OperationName>,
) -> Result<Operator, ErrorResponse> {
    let Some(root) = &shared.options.operator_token else {
        return Err(ErrorResponse::not_found());
    };
    let Some(presented) = bearer(&head.headers) else {
        return Err(ErrorResponse::operator_unauthorized());
    };
    let client = client_of(head, &shared.options.trusted_proxies);
    let (operators, access) = (&shared.operators, shared.installation.entrance());
    let found = match root.matches(presented) {
        true => Some(Operator::ROOT),
        false => access.operator(presented).await?,
    };
    let now = shared.installation.now();
    if found.is_none() || !operators.knows(client, now) {
        let decision = access.check_operator_token(client, found.is_some()).await?;
        if let RateDecision::Limited { retry_after } = decision {
            return Err(ErrorResponse::too_many_guesses(retry_after));
        }
    }
    let Some(operator) = found else {
        if let Some(operation) = operation {
            let from = address_of(head, &shared.options.trusted_proxies);
            shared.installation.note_ended_token(presented, operation, Some(from)).await;
        }
        return Err(ErrorResponse::operator_unauthorized());
    };
    operators.saw(client, now);
    Ok(operator)
}
