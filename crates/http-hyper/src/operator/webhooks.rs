//! Managing outbound webhooks (D52a, D54, D56, D56a).

use recado_core::deliveries::DeliveryView;
use recado_core::ids::WebhookId;
use recado_core::webhooks::{SecretView, WebhookView};

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
        |op| op.says("listWebhooks", "List outbound webhooks").lists::<WebhookView>(),
    ),
    Route::company(
        verb::POST,
        COLLECTION,
        |c| Box::pin(create(c)),
        |op| {
            op.says("createWebhook", "Register an outbound webhook")
                .more(
                    "Its address must resolve, and to public addresses only. `secret` is what \
                     deliveries are signed with. It is shown this once.",
                )
                .body::<bodies::CreateWebhook>(
                    r#"{"url": "https://example.com/recado", "events": ["*"]}"#,
                )
                .makes::<SecretView>()
                .refuses(409, "TOO_MANY_WEBHOOKS")
        },
    )
    .json(),
    Route::company(
        verb::GET,
        ONE,
        |c| Box::pin(get(c)),
        |op| op.says("getWebhook", "Read an outbound webhook").answers::<WebhookView>(),
    ),
    Route::company(
        verb::PATCH,
        ONE,
        |c| Box::pin(change(c)),
        |op| {
            op.says("updateWebhook", "Change an outbound webhook")
                .more("Deliveries that are pending go by what it is then.")
                .body::<bodies::UpdateWebhook>(
                    r#"{"events": ["message.received", "contact.opted_out"]}"#,
                )
                .answers::<WebhookView>()
        },
    )
    .json(),
    Route::company(
        verb::DELETE,
        ONE,
        |c| Box::pin(delete(c)),
        |op| {
            op.says("deleteWebhook", "Delete an outbound webhook")
                .more("Its pending deliveries are given up; they stay listed, as `failed`.")
                .done()
        },
    ),
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
                .body::<bodies::RotateSecret>(r#"{}"#)
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
                .refuses(403, "PLAN_REQUIRED")
                .refuses(409, "WEBHOOK_INACTIVE")
        },
    )
    .optional_json(),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/webhooks";
const ONE: &str = "/operator/v1/companies/{company_id}/webhooks/{id}";

fn id(call: &CompanyCall) -> WebhookId {
    call.path.id("id", WebhookId::parse)
}

async fn list(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.webhooks().all(call.who.id).await?)
}

async fn create(call: CompanyCall) -> Outcome {
    Answer::created(call.recado.webhooks().create(call.who.id, &call.body).await?)
}

async fn get(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.webhooks().get(call.who.id, id(&call)).await?)
}

async fn change(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.webhooks().change(call.who.id, id(&call), &call.body).await?)
}

async fn delete(call: CompanyCall) -> Outcome {
    call.recado.webhooks().delete(call.who.id, id(&call)).await?;
    Answer::done()
}

async fn rotate_secret(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.webhooks().rotate_secret(call.who.id, id(&call), &call.body).await?)
}

async fn test(call: CompanyCall) -> Outcome {
    call.takes_no_fields()?;
    Answer::ok(call.recado.webhooks().test(call.who.id, id(&call)).await?)
}
