//! Managing operator tokens (R380–R383).

use recado_core::access::{
    NewOperatorToken, OperatorAction, OperatorTokenDraft, OperatorTokenPatch, OperatorTokenView,
};
use recado_core::ids::OperatorTokenId;
use serde::Serialize;
#[cfg(test)]
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::error::Outcome;
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::operator(
        verb::GET,
        COLLECTION,
        OperatorAction::ListOperatorTokens,
        |c| Box::pin(list(c)),
        |op| {
            op.does("List operator tokens")
                .more("Who is limited to a company sees its tokens only.")
                .lists::<OperatorTokenView>()
        },
    ),
    Route::operator(
        verb::POST,
        COLLECTION,
        OperatorAction::CreateOperatorToken,
        |c| Box::pin(create(c)),
        |op| {
            op.does("Make an operator token")
                .more("`token` is the token itself. It is shown this once.")
                .body::<OperatorTokenDraft>(r#"{"name": "Ana", "role": "agent"}"#)
                .makes::<CreatedToken>()
        },
    )
    .json(),
    Route::operator(
        verb::GET,
        ONE,
        OperatorAction::GetOperatorToken,
        |c| Box::pin(get(c)),
        |op| op.does("Read an operator token").answers::<OperatorTokenView>(),
    ),
    Route::operator(
        verb::PATCH,
        ONE,
        OperatorAction::UpdateOperatorToken,
        |c| Box::pin(change(c)),
        |op| {
            op.does("Change an operator token")
                .body::<OperatorTokenPatch>(r#"{"role": "viewer"}"#)
                .answers::<OperatorTokenView>()
        },
    )
    .json(),
    Route::operator(
        verb::DELETE,
        ONE,
        OperatorAction::DeleteOperatorToken,
        |c| Box::pin(revoke(c)),
        |op| op.does("Revoke an operator token at once").done(),
    ),
];

const COLLECTION: &str = "/operator/v1/operator-tokens";
const ONE: &str = "/operator/v1/operator-tokens/{id}";

/// An operator token that was just made.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
struct CreatedToken {
    #[serde(flatten)]
    view: OperatorTokenView,
    /// The token itself, shown this once.
    token: String,
}

impl From<&NewOperatorToken> for CreatedToken {
    fn from(new: &NewOperatorToken) -> Self {
        Self { view: (&new.token).into(), token: new.secret.expose().to_owned() }
    }
}

fn id(call: &OperatorCall) -> OperatorTokenId {
    call.path.id("id", OperatorTokenId::parse)
}

async fn list(call: OperatorCall) -> Outcome {
    Answer::ok(call.recado.access().operator_tokens(&call.who).await?)
}

async fn create(call: OperatorCall) -> Outcome {
    let new = call.recado.access().create_operator_token(&call.who, &call.body).await?;
    Answer::created(CreatedToken::from(&new))
}

async fn get(call: OperatorCall) -> Outcome {
    Answer::ok(call.recado.access().operator_token(&call.who, id(&call)).await?)
}

async fn change(call: OperatorCall) -> Outcome {
    let access = call.recado.access();
    Answer::ok(access.change_operator_token(&call.who, id(&call), &call.body).await?)
}

async fn revoke(call: OperatorCall) -> Outcome {
    call.recado.access().revoke_operator_token(&call.who, id(&call)).await?;
    Answer::done()
}
