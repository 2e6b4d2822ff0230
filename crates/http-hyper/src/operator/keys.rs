//! Managing API keys (D11, D12).

use recado_core::access::{ApiKeyView, KeyDraft, KeyPatch, NewKey, OperatorAction};
use recado_core::ids::KeyId;
use serde::Serialize;
#[cfg(test)]
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::call::CompanyCall;
use crate::error::Outcome;
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::company(
        verb::GET,
        COLLECTION,
        OperatorAction::ListKeys,
        |c| Box::pin(list(c)),
        |op| op.does("List API keys").lists::<ApiKeyView>(),
    ),
    Route::company(
        verb::POST,
        COLLECTION,
        OperatorAction::CreateKey,
        |c| Box::pin(create(c)),
        |op| {
            op.does("Make an API key")
                .more("`key` is the key itself. It is shown this once.")
                .body::<KeyDraft>(
                    r#"{"name": "ERP", "scopes": ["contacts:read", "contacts:write"]}"#,
                )
                .makes::<CreatedKey>()
        },
    )
    .json(),
    Route::company(
        verb::GET,
        ONE,
        OperatorAction::GetKey,
        |c| Box::pin(get(c)),
        |op| op.does("Read an API key").answers::<ApiKeyView>(),
    ),
    Route::company(
        verb::PATCH,
        ONE,
        OperatorAction::UpdateKey,
        |c| Box::pin(change(c)),
        |op| {
            op.does("Change an API key")
                .body::<KeyPatch>(r#"{"rate_per_minute": 1200}"#)
                .answers::<ApiKeyView>()
        },
    )
    .json(),
    Route::company(
        verb::DELETE,
        ONE,
        OperatorAction::DeleteKey,
        |c| Box::pin(revoke(c)),
        |op| op.does("Revoke an API key at once").done(),
    ),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/keys";
const ONE: &str = "/operator/v1/companies/{company_id}/keys/{id}";

/// An API key that was just made.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
struct CreatedKey {
    #[serde(flatten)]
    view: ApiKeyView,
    /// The key itself, shown this once.
    key: String,
}

impl From<&NewKey> for CreatedKey {
    fn from(new: &NewKey) -> Self {
        Self { view: (&new.key).into(), key: new.secret.expose().to_owned() }
    }
}

fn id(call: &CompanyCall) -> KeyId {
    call.path.id("id", KeyId::parse)
}

async fn list(call: CompanyCall) -> Outcome {
    let keys = call.recado.access().keys(call.who.id).await?;
    Answer::ok(keys.iter().map(ApiKeyView::from).collect::<Vec<_>>())
}

async fn create(call: CompanyCall) -> Outcome {
    let new = call.recado.access().create_key(call.who.id, &call.body).await?;
    Answer::created(CreatedKey::from(&new))
}

async fn get(call: CompanyCall) -> Outcome {
    let key = call.recado.access().key(call.who.id, id(&call)).await?;
    Answer::ok(ApiKeyView::from(&key))
}

async fn change(call: CompanyCall) -> Outcome {
    let key = call.recado.access().change_key(call.who.id, id(&call), &call.body).await?;
    Answer::ok(ApiKeyView::from(&key))
}

async fn revoke(call: CompanyCall) -> Outcome {
    call.recado.access().revoke_key(call.who.id, id(&call)).await?;
    Answer::done()
}
