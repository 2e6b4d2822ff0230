//! Managing inbound endpoints (4.9, D46, D46a).

use recado_core::Code;
use recado_core::access::OperatorAction;
use recado_core::ids::InboundEndpointId;
use recado_core::inbound::{
    EndpointDraft, EndpointPatch, EndpointSecretView, EndpointView, RotateEndpointSecret,
};

use super::crud::{change, create, delete, get, list};
use crate::answer::Answer;
use crate::call::CompanyCall;
use crate::error::Outcome;
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    list!(ListInboundEndpoints, COLLECTION, inbound.all, |op| op
        .does("List inbound endpoints")
        .lists::<EndpointView>()),
    create!(CreateInboundEndpoint, COLLECTION, inbound.create, |op| {
        op.does("Make an inbound endpoint")
            .more(
                "It takes calls at `/api/webhooks/incoming/{slug}` once the company has \
                     enabled the feature. `secret` is what callers present. It is shown this once.",
            )
            .body::<EndpointDraft>(
                r#"{"slug": "site-leads", "variable_mapping":
                        {"phone_number": "$.lead.telefone", "first_name": "$.lead.nome"}}"#,
            )
            .makes::<EndpointSecretView>()
            .refuses(Code::SlugTaken)
    }),
    get!(GetInboundEndpoint, ONE, inbound.get(InboundEndpointId), |op| op
        .does("Read an inbound endpoint")
        .answers::<EndpointView>()),
    change!(UpdateInboundEndpoint, ONE, inbound.change(InboundEndpointId), |op| {
        op.does("Change an inbound endpoint")
            .body::<EndpointPatch>(r#"{"is_active": true}"#)
            .answers::<EndpointView>()
            .refuses(Code::SlugTaken)
    }),
    delete!(DeleteInboundEndpoint, ONE, inbound.delete(InboundEndpointId), |op| op
        .does("Delete an inbound endpoint")
        .done()),
    Route::company(
        verb::POST,
        "/operator/v1/companies/{company_id}/inbound-endpoints/{id}/rotate-secret",
        OperatorAction::RotateInboundEndpointSecret,
        |c| Box::pin(rotate_secret(c)),
        |op| {
            op.does("Replace the secret of an inbound endpoint")
                .more("The old secret is refused at once. `secret` is shown this once.")
                .body::<RotateEndpointSecret>(r#"{}"#)
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

async fn rotate_secret(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.inbound().rotate_secret(call.who.id, id(&call), &call.body).await?)
}
