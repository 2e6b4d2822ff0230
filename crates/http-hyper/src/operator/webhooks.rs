//! Managing outbound webhooks (D52a, D54, D56, D56a).

use recado_core::Code;
use recado_core::access::OperatorAction;
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
    list!(ListWebhooks, COLLECTION, webhooks.all, |op| op
        .does("List outbound webhooks")
        .lists::<WebhookView>()),
    create!(CreateWebhook, COLLECTION, webhooks.create, |op| {
        op.does("Register an outbound webhook")
            .more(
                "Its address must resolve, and to public addresses only. `secret` is what \
                     deliveries are signed with. It is shown this once.",
            )
            .body::<WebhookDraft>(r#"{"url": "https://example.com/recado", "events": ["*"]}"#)
            .makes::<SecretView>()
            .refuses(Code::TooManyWebhooks)
    }),
    get!(GetWebhook, ONE, webhooks.get(WebhookId), |op| op
        .does("Read an outbound webhook")
        .answers::<WebhookView>()),
    change!(UpdateWebhook, ONE, webhooks.change(WebhookId), |op| {
        op.does("Change an outbound webhook")
            .more("Deliveries that are pending go by what it is then.")
            .body::<WebhookPatch>(r#"{"events": ["message.received", "contact.opted_out"]}"#)
            .answers::<WebhookView>()
    }),
    delete!(DeleteWebhook, ONE, webhooks.delete(WebhookId), |op| {
        op.does("Delete an outbound webhook")
            .more("Its pending deliveries are given up; they stay listed, as `failed`.")
            .done()
    }),
    Route::company(
        verb::POST,
        "/operator/v1/companies/{company_id}/webhooks/{id}/rotate-secret",
        OperatorAction::RotateWebhookSecret,
        |c| Box::pin(rotate_secret(c)),
        |op| {
            op.does("Replace the signing secret of a webhook")
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
        OperatorAction::TestWebhook,
        |c| Box::pin(test(c)),
        |op| {
            op.does("Send a webhook.test delivery to a webhook")
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
