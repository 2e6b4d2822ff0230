//! The public API's sends (4.8).

use recado_core::Code;
use recado_core::access::Scope;
use recado_core::sending::{
    KindSentView, SendContacts, SendInteractive, SendLocation, SendMessage, SendReaction,
    SendTemplate, SentView, TemplateSentView,
};

use crate::answer::Answer;
use crate::call::PublicCall;
use crate::error::Outcome;
use crate::route::{Route, verb};
use crate::uploads::refuses_a_file;

pub(crate) const ROUTES: &[Route] = &[MESSAGE, TEMPLATE, INTERACTIVE, LOCATION, CONTACTS, REACTION];

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
            .refuses_all(&FREE_TEXT)
    },
)
.json()
.idempotent();

/// What refuses a send that is free text.
const FREE_TEXT: [Code; 14] = [
    Code::MissingField,
    Code::InvalidPhone,
    Code::ContactOptedOut,
    Code::ContactBlocked,
    Code::ExternalAiDisabled,
    Code::GroupAnnounceOnly,
    Code::NotFound,
    Code::GroupNotFound,
    Code::AmbiguousContact,
    Code::ConnectionRequired,
    Code::ProviderError,
    Code::DeliveryUncertain,
    Code::ContactStateUnavailable,
    Code::OnHold,
];

/// What is said of each kind of message that not every gateway carries.
const KIND: &str = "A gateway that cannot carry it refuses it by name before anything is stored. \
                    After 502 DELIVERY_UNCERTAIN the message may have arrived: do not send it \
                    again by yourself.";

/// The send of one kind of message.
macro_rules! kind {
    (
        $path:literal, $id:literal, $summary:literal, $body:ident, $send:ident, $example:literal
        $(, $first:literal, [$(($name:literal, $more:literal)),+])?
    ) => {
        Route::public(
            verb::POST,
            concat!("/api/v1/send/", $path),
            Scope::MessagesSend,
            |c| {
                Box::pin(
                    async move { Answer::ok(c.recado.sending().$send(&c.who, &c.body).await?) },
                )
            },
            |op| {
                op.says($id, $summary)
                    .more(KIND)
                    .body::<$body>($example)
                    $(.examples($first, &[$(($name, $more)),+]))?
                    .answers::<KindSentView>()
                    .refuses_all(&FREE_TEXT)
                    .refuses(Code::NotSupportedByConnection)
            },
        )
        .json()
        .idempotent()
    };
}

const INTERACTIVE: Route = kind!(
    "interactive",
    "sendInteractive",
    "Send a text with buttons, a list, a link, a request for a place, or a poll",
    SendInteractive,
    send_interactive,
    r#"{"to": "+55 11 98765-4321", "kind": "buttons", "body": "Confirma a visita de amanhã?",
        "buttons": [{"id": "yes", "title": "Sim"}, {"id": "no", "title": "Não"}],
        "fallback": "text"}"#,
    "buttons",
    [
        (
            "list",
            r#"{"to": "+55 11 98765-4321", "kind": "list", "body": "Qual horário?", "button": "Ver",
                "header": {"text": "Visita"}, "footer": "Clínica Sol", "sections": [
                {"title": "Manhã", "rows": [{"id": "9", "title": "9 h"}]},
                {"title": "Tarde", "rows": [{"id": "15", "title": "15 h", "description": "última"}]}]}"#
        ),
        (
            "cta_url",
            r#"{"to": "+55 11 98765-4321", "kind": "cta_url", "body": "Seu pedido saiu.",
                "label": "Acompanhar", "url": "https://loja.example.org/pedidos/4711"}"#
        ),
        (
            "location_request",
            r#"{"to": "+55 11 98765-4321", "kind": "location_request", "body": "Onde entregamos?"}"#
        ),
        (
            "poll",
            r#"{"to": "+55 11 98765-4321", "kind": "poll", "body": "Qual sabor?",
                "options": ["Cenoura", "Fubá", "Milho"], "selectable": 2}"#
        )
    ]
);

const LOCATION: Route = kind!(
    "location",
    "sendLocation",
    "Send a place",
    SendLocation,
    send_location,
    r#"{"to": "+55 11 98765-4321", "latitude": -23.5614, "longitude": -46.6559,
        "name": "MASP", "address": "Av. Paulista, 1578"}"#
);

const CONTACTS: Route = kind!(
    "contacts",
    "sendContacts",
    "Send address cards",
    SendContacts,
    send_contacts,
    r#"{"to": "+55 11 98765-4321",
        "contacts": [{"name": "Ana Souza", "phones": ["+55 11 91234-5678"]}]}"#
);

const REACTION: Route = kind!(
    "reaction",
    "sendReaction",
    "React to a message, change the reaction, or withdraw it",
    SendReaction,
    send_reaction,
    r#"{"message_id": "01939b5e-0000-7000-8000-000000000005", "emoji": "👍"}"#
);

const TEMPLATE: Route = Route::public(
    verb::POST,
    "/api/v1/send/template",
    Scope::MessagesSend,
    |c| Box::pin(send_template(c)),
    |op| {
        refuses_a_file(op.says("sendTemplate", "Send an approved template to a phone"))
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
