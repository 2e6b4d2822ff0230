//! The public API's custom fields (4.12, D58).

use recado_core::access::Scope;
use recado_core::custom_fields::CustomField;

use crate::answer::Answer;
use crate::call::PublicCall;
use crate::error::Outcome;
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[Route::public(
    verb::GET,
    "/api/v1/custom-fields",
    Scope::ContactsRead,
    |call| Box::pin(list(call)),
    |op| {
        op.says("listCustomFields", "List the definitions of custom fields")
            .more("Whatever their status; values may be written for active ones.")
            .lists::<CustomField>()
    },
)];

async fn list(call: PublicCall) -> Outcome {
    Answer::ok(call.recado.custom_fields().list(&call.who).await?)
}
