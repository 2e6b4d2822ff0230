//! Managing inbound endpoints (4.9, D46, D46a).

use recado_core::ids::InboundEndpointId;
use recado_core::inbound::{EndpointSecretView, EndpointView};

use crate::answer::Answer;
use crate::call::CompanyCall;
use crate::error::Outcome;
use crate::openapi::bodies;
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::company(
        verb::GET,
        COLLECTION,
        |c| Box::pin(list(c)),
        |op| op.says("listInboundEndpoints", "List inbound endpoints").lists::<EndpointView>(),
    ),
    Route::company(
        verb::POST,
        COLLECTION,
        |c| Box::pin(create(c)),
        |op| {
            op.says("createInboundEndpoint", "Make an inbound endpoint")
                .more(
                    "It takes calls at `/api/webhooks/incoming/{slug}` once the company has \
                     enabled the feature. `secret` is what callers present. It is shown this once.",
                )
                .body::<bodies::CreateEndpoint>(
                    r#"{"slug": "site-leads", "variable_mapping":
                        {"phone_number": "$.lead.telefone", "first_name": "$.lead.nome"}}"#,
                )
                .makes::<EndpointSecretView>()
                .refuses(409, "SLUG_TAKEN")
        },
    )
    .json(),
    Route::company(
        verb::GET,
        ONE,
        |c| Box::pin(get(c)),
        |op| op.says("getInboundEndpoint", "Read an inbound endpoint").answers::<EndpointView>(),
    ),
    Route::company(
        verb::PATCH,
        ONE,
        |c| Box::pin(change(c)),
        |op| {
            op.says("updateInboundEndpoint", "Change an inbound endpoint")
                .body::<bodies::UpdateEndpoint>(r#"{"is_active": true}"#)
                .answers::<EndpointView>()
                .refuses(409, "SLUG_TAKEN")
        },
    )
    .json(),
    Route::company(
        verb::DELETE,
        ONE,
        |c| Box::pin(delete(c)),
        |op| op.says("deleteInboundEndpoint", "Delete an inbound endpoint").done(),
    ),
    Route::company(
        verb::POST,
        "/operator/v1/companies/{company_id}/inbound-endpoints/{id}/rotate-secret",
        |c| Box::pin(rotate_secret(c)),
        |op| {
            op.says("rotateInboundEndpointSecret", "Replace the secret of an inbound endpoint")
                .more("The old secret is refused at once. `secret` is shown this once.")
                .body::<bodies::RotateEndpointSecret>(r#"{}"#)
                .answers::<EndpointSecretView>()
        },
    )
    .optional_json(),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/inbound-endpoints";
const ONE: &str = "/operator/v1/companies/{company_id}/inbound-endpoints/{id}";

fn id(call: &CompanyCall) -> InboundEndpointId {
    call.path.id("id", InboundEndpointId::parse)
}

async fn list(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.inbound().all(call.who.id).await?)
}

async fn create(call: CompanyCall) -> Outcome {
    Answer::created(call.recado.inbound().create(call.who.id, &call.body).await?)
}

async fn get(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.inbound().get(call.who.id, id(&call)).await?)
}

async fn change(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.inbound().change(call.who.id, id(&call), &call.body).await?)
}

async fn delete(call: CompanyCall) -> Outcome {
    call.recado.inbound().delete(call.who.id, id(&call)).await?;
    Answer::done()
}

async fn rotate_secret(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.inbound().rotate_secret(call.who.id, id(&call), &call.body).await?)
}
