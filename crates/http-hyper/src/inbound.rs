//! The hook that creates or updates contacts (4.9, 7.2).

use recado_core::Code;
use recado_core::inbound::{BODY_LIMIT, Upserted};

use crate::answer::Answer;
use crate::call::HookCall;
use crate::error::Outcome;
use crate::openapi::bodies;
use crate::route::Route;

pub(crate) const ROUTES: &[Route] = &[Route::hook(
    "/api/webhooks/incoming/{slug}",
    |call| Box::pin(upsert(call)),
    |op| {
        op.says("upsertContactByWebhook", "Make a contact or bring it up to date")
            .more(
                "The endpoint's `variable_mapping` says where in the body what is found. At most \
                 102,400 bytes. An endpoint with `auth_mode` `public` needs no secret.",
            )
            .body::<bodies::AnyJson>(r#"{"lead": {"nome": "Ana", "telefone": "11 98765-4321"}}"#)
            .answers_hook::<Upserted>()
            .refuses(Code::MissingPhone)
            .refuses(Code::MappingFailed)
            .refuses(Code::InvalidSecret)
            .refuses(Code::FeatureDisabled)
            .refuses(Code::EndpointNotFound)
            .refuses(Code::EndpointInactive)
            .refuses(Code::ContactStateUnavailable)
    },
)
.json()];

async fn upsert(mut call: HookCall) -> Outcome {
    let recado = call.recado.clone();
    let secrets = call.headers.get_all("x-service-secret").iter();
    let secrets: Vec<&[u8]> = secrets.map(http::HeaderValue::as_bytes).collect();
    let admitted = recado.inbound().admit(call.path.text("slug"), call.client, &secrets).await?;
    call.who.recognized();
    call.who.company(admitted.company().id);
    let body = call.read(BODY_LIMIT).await?;
    Answer::hook(recado.inbound().upsert(&admitted, &body).await?)
}
