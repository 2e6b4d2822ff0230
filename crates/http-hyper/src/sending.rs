//! The public API's sends (4.8).

use recado_core::access::Scope;
use recado_core::sending::{SentView, TemplateSentView};

use crate::answer::Answer;
use crate::call::PublicCall;
use crate::error::Outcome;
use crate::openapi::bodies;
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[MESSAGE, TEMPLATE];

const MESSAGE: Route = Route::public(
    verb::POST,
    "/api/v1/send/message",
    Scope::MessagesSend,
    |c| Box::pin(send(c)),
    |op| {
        op.says("sendMessage", "Send a text to a phone, a group or a community")
            .more(
                "After 502 DELIVERY_UNCERTAIN the message may have arrived: do not send it again \
                 by yourself. After 503 wait as long as `Retry-After` says.",
            )
            .body::<bodies::SendMessage>(r#"{"to": "+55 11 98765-4321", "message": "Olá, Ana!"}"#)
            .answers::<SentView>()
            .refuses(400, "MISSING_FIELD")
            .refuses(400, "INVALID_PHONE")
            .refuses(403, "CONTACT_OPTED_OUT")
            .refuses(403, "CONTACT_BLOCKED")
            .refuses(403, "EXTERNAL_AI_DISABLED")
            .refuses(403, "GROUP_ANNOUNCE_ONLY")
            .refuses(404, "NOT_FOUND")
            .refuses(404, "GROUP_NOT_FOUND")
            .refuses(409, "AMBIGUOUS_CONTACT")
            .refuses(422, "CONNECTION_REQUIRED")
            .refuses(502, "PROVIDER_ERROR")
            .refuses(502, "DELIVERY_UNCERTAIN")
            .refuses(503, "CONTACT_STATE_UNAVAILABLE")
    },
)
.json()
.idempotent();

const TEMPLATE: Route = Route::public(
    verb::POST,
    "/api/v1/send/template",
    Scope::MessagesSend,
    |c| Box::pin(send_template(c)),
    |op| {
        op.says("sendTemplate", "Send an approved template to a phone")
            .more(
                "Every variable of the template has to be there. The external AI of the contact \
                 does not matter. After 502 DELIVERY_UNCERTAIN the message may have arrived: do \
                 not send it again by yourself.",
            )
            .body::<bodies::SendTemplate>(
                r#"{"to": "+55 11 98765-4321", "template": "boas_vindas",
                    "variables": {"1": "Ana"}}"#,
            )
            .answers::<TemplateSentView>()
            .refuses(400, "MISSING_FIELD")
            .refuses(400, "INVALID_PHONE")
            .refuses(403, "TEMPLATE_NOT_APPROVED")
            .refuses(403, "CONTACT_OPTED_OUT")
            .refuses(403, "CONTACT_BLOCKED")
            .refuses(404, "NOT_FOUND")
            .refuses(404, "TEMPLATE_NOT_FOUND")
            .refuses(409, "AMBIGUOUS_CONTACT")
            .refuses(422, "CONNECTION_REQUIRED")
            .refuses(502, "PROVIDER_ERROR")
            .refuses(502, "DELIVERY_UNCERTAIN")
            .refuses(503, "CONTACT_STATE_UNAVAILABLE")
    },
)
.json()
.idempotent();

async fn send(call: PublicCall) -> Outcome {
    Answer::ok(call.recado.sending().send_text(&call.who, &call.body).await?)
}

async fn send_template(call: PublicCall) -> Outcome {
    Answer::ok(call.recado.sending().send_template(&call.who, &call.body).await?)
}
