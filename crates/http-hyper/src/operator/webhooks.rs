//! Managing outbound webhooks (D52a, D54, D56, D56a).

use recado_core::Code;
use recado_core::deliveries::DeliveryView;
use recado_core::ids::WebhookId;
use recado_core::webhooks::{RotateSecret, SecretView, WebhookDraft, WebhookPatch, WebhookView};

use super::crud::{change, create, delete, get, list};
use crate::answer::Answer;
use crate::call::CompanyCall;
use crate::error::Outcome;
use crate::openapi::bodies;
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    list!(COLLECTION, webhooks.all, |op| op
        .says("listWebhooks", "List outbound webhooks")
        .lists::<WebhookView>()),
    create!(COLLECTION, webhooks.create, |op| {
        op.says("createWebhook", "Register an outbound webhook")
            .more(
                "Its address must resolve, and to public addresses only. `secret` is what \
                     deliveries are signed with. It is shown this once.",
            )
            .body::<WebhookDraft>(r#"{"url": "https://example.com/recado", "events": ["*"]}"#)
            .makes::<SecretView>()
            .refuses(Code::TooManyWebhooks)
    }),
    get!(ONE, webhooks.get(WebhookId), |op| op
        .says("getWebhook", "Read an outbound webhook")
        .answers::<WebhookView>()),
    change!(ONE, webhooks.change(WebhookId), |op| {
        op.says("updateWebhook", "Change an outbound webhook")
            .more("Deliveries that are pending go by what it is then.")
            .body::<WebhookPatch>(r#"{"events": ["message.received", "contact.opted_out"]}"#)
            .answers::<WebhookView>()
    }),
    delete!(ONE, webhooks.delete(WebhookId), |op| {
        op.says("deleteWebhook", "Delete an outbound webhook")
            .more("Its pending deliveries are given up; they stay listed, as `failed`.")
            .done()
    }),
    Route::company(
        verb::POST,
        "/operator/v1/companies/{company_id}/webhooks/{id}/rotate-secret",
        |c| Box::pin(rotate_secret(c)),
        |op| {
            op.says("rotateWebhookSecret", "Replace the signing secret of a webhook")
                .more(
                    "The old secret signs beside the new one for 24 hours, in \
                     `X-Service-Signature-Previous`. `secret` is shown this once.",
                )
                .body::<RotateSecret>(r#"{}"#)
                .answers::<SecretView>()
        },
    )
    .optional_json(),
    Route::company(
        verb::POST,
        "/operator/v1/companies/{company_id}/webhooks/{id}/test",
        |c| Box::pin(test(c)),
        |op| {
            op.says("testWebhook", "Send a webhook.test delivery to a webhook")
                .more("To this webhook only, whatever it is subscribed to.")
                .body::<bodies::Nothing>(r#"{}"#)
                .answers::<DeliveryView>()
                .refuses(Code::PlanRequired)
                .refuses(Code::WebhookInactive)
        },
    )
    .optional_json(),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/webhooks";
const ONE: &str = "/operator/v1/companies/{company_id}/webhooks/{id}";

fn id(call: &CompanyCall) -> WebhookId {
    call.path.id("id", WebhookId::parse)
}

async fn rotate_secret(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.webhooks().rotate_secret(call.who.id, id(&call), &call.body).await?)
}

async fn test(call: CompanyCall) -> Outcome {
    call.takes_no_fields()?;
    Answer::ok(call.recado.webhooks().test(call.who.id, id(&call)).await?)
}
