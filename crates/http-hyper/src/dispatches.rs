//! The hook that sends a template to a phone (4.10, 7.3).

use recado_core::Code;
use recado_core::dispatches::{BODY_LIMIT, Dispatched, reads_parameter};

use crate::answer::Answer;
use crate::call::HookCall;
use crate::error::{ErrorResponse, Outcome};
use crate::openapi::{ParamKind, QueryParam, bodies};
use crate::route::Route;

pub(crate) const ROUTES: &[Route] = &[Route::hook(
    "/api/webhooks/template-dispatch/{token}",
    |call| Box::pin(dispatch(call)),
    |op| {
        op.says("dispatchTemplate", "Send a template to a phone")
            .more(
                "Everything may come in the body or in the query; a body that is no JSON is \
                 ignored. At most 51,200 bytes. After 502 the message may have arrived: the same \
                 call is then refused until its window has passed.",
            )
            .body::<bodies::Dispatch>(
                r#"{"phone_number": "+55 11 98765-4321", "variables": {"nome": "Ana"},
                    "header": {"text": "77"}, "buttons": [{"index": 0, "url_suffix": "77"}]}"#,
            )
            .answers_hook::<Dispatched>()
            .refuses(Code::MissingPhone)
            .refuses(Code::InvalidPhone)
            .refuses(Code::FeatureDisabled)
            .refuses(Code::TemplateNotApproved)
            .refuses(Code::ContactOptedOut)
            .refuses(Code::ContactBlocked)
            .refuses(Code::TemplateNotFound)
            .refuses(Code::DuplicateSend)
            .refuses(Code::SendFailed)
            .refuses(Code::ContactStateUnavailable)
            .refuses(Code::OnHold)
    },
)
.optional_json()
.query(&[
    QueryParam::new("phone_number", ParamKind::Text, "The phone, unless the body has one."),
    QueryParam::new("phone", ParamKind::Text, "The same as `phone_number`."),
    QueryParam::new("v1", ParamKind::Text, "The first variable, unless the body has `variables`."),
    QueryParam::new("v2", ParamKind::Text, "The second one, and so on."),
    QueryParam::new(
        "header_url",
        ParamKind::Text,
        "The address of the file in the template's header, unless the body has `header`.",
    ),
])];

async fn dispatch(mut call: HookCall) -> Outcome {
    let recado = call.recado.clone();
    let admitted = recado.dispatches().admit(call.path.text("token"), call.client).await?;
    call.who.recognized();
    call.who.company(admitted.company().id);
    let body = call.read(BODY_LIMIT).await?;
    if let Some(name) = call.query.broken(reads_parameter) {
        let message = format!("the query parameter {name} must be percent-encoded UTF-8");
        return Err(ErrorResponse::invalid_payload(message));
    }
    Answer::hook(recado.dispatches().send(&admitted, &body, call.query.params()).await?)
}
