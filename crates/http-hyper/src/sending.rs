//! The public API's sends (4.8).

use recado_core::Code;
use recado_core::access::Scope;
use recado_core::sending::{SendMessage, SendTemplate, SentView, TemplateSentView};

use crate::answer::Answer;
use crate::call::PublicCall;
use crate::error::Outcome;
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
            .body::<SendMessage>(r#"{"to": "+55 11 98765-4321", "message": "Olá, Ana!"}"#)
            .answers::<SentView>()
            .refuses(Code::MissingField)
            .refuses(Code::InvalidPhone)
            .refuses(Code::ContactOptedOut)
            .refuses(Code::ContactBlocked)
            .refuses(Code::ExternalAiDisabled)
            .refuses(Code::GroupAnnounceOnly)
            .refuses(Code::NotFound)
            .refuses(Code::GroupNotFound)
            .refuses(Code::AmbiguousContact)
            .refuses(Code::ConnectionRequired)
            .refuses(Code::ProviderError)
            .refuses(Code::DeliveryUncertain)
            .refuses(Code::ContactStateUnavailable)
            .refuses(Code::OnHold)
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
                "Everything that the template needs has to be there: its variables by position or \
                 name, its header, its buttons. The external AI of the contact does not matter. \
                 After 502 DELIVERY_UNCERTAIN the message may have arrived: do \
                 not send it again by yourself.",
            )
            .body::<SendTemplate>(
                r#"{"to": "+55 11 98765-4321", "template": "pedido_enviado",
                    "variables": {"nome": "Ana"}, "header": {"text": "77"},
                    "buttons": [{"index": 0, "url_suffix": "77"}]}"#,
            )
            .answers::<TemplateSentView>()
            .refuses(Code::MissingField)
            .refuses(Code::InvalidPhone)
            .refuses(Code::TemplateNotApproved)
            .refuses(Code::ContactOptedOut)
            .refuses(Code::ContactBlocked)
            .refuses(Code::NotFound)
            .refuses(Code::TemplateNotFound)
            .refuses(Code::AmbiguousContact)
            .refuses(Code::ConnectionRequired)
            .refuses(Code::ProviderError)
            .refuses(Code::DeliveryUncertain)
            .refuses(Code::ContactStateUnavailable)
            .refuses(Code::OnHold)
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
