//! Webhooks of gateways, and the verification of their addresses (D68).

use http::HeaderMap;
use recado_core::gateway::ProviderWebhook;
use recado_core::inbox::{ProviderWebhookError, ReceivedWebhook, WEBHOOK_LIMIT};
use recado_core::{Code, Error};
use serde::Serialize;
#[cfg(test)]
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::body::BodyError;
use crate::call::HookCall;
use crate::error::{ErrorResponse, Outcome};
use crate::metrics;
use crate::openapi::{ParamKind, QueryParam, bodies};
use crate::query::QueryString;
use crate::route::Route;

pub(crate) const ROUTES: &[Route] = &[
    Route::asked_hook(
        PATH,
        |call| Box::pin(verify(call)),
        |op| {
            op.says("verifyGatewayAddress", "Answer a gateway that verifies its webhook address")
                .more("Answers `hub.challenge` as it came, where the gateway has such a question.")
                .answers_bytes("text/plain")
                .refuses(Code::Unauthorized)
                .refuses(Code::NotFound)
        },
    )
    .query(&[
        QueryParam::new("hub.mode", ParamKind::Text, "What the gateway wants: `subscribe`."),
        QueryParam::new("hub.verify_token", ParamKind::Text, "The connection's `verify_token`."),
        QueryParam::new("hub.challenge", ParamKind::Text, "What is answered."),
    ])
    .with_suffixes(),
    Route::hook(
        PATH,
        |call| Box::pin(take(call)),
        |op| {
            op.says("receiveGatewayWebhook", "Store events of a gateway in its own form")
                .more(
                    "The address of a connection: its `webhook_url`. Anything may follow it after \
                     a slash. The gateway's own signature, or the `token` of the query, is \
                     verified before anything is read. At most 16 MiB. Events that are refused \
                     one by one do not change the answer.",
                )
                .body::<bodies::AnyJson>(r#"{"object": "whatsapp_business_account", "entry": []}"#)
                .answers_hook::<TakenAnswer>()
                .refuses(Code::Unauthorized)
                .refuses(Code::NotFound)
                .refuses_as(408, Code::BadRequest)
                .refuses(Code::PayloadTooLarge)
                .refuses(Code::ContactStateUnavailable)
        },
    )
    .json()
    .query(&[QueryParam::new(
        "token",
        ParamKind::Text,
        "The connection's `webhook_token`, of gateways that do not sign.",
    )])
    .with_suffixes(),
];

const PATH: &str = "/api/webhooks/provider/{connection_id}";

/// The call was accepted, and its events are stored.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
struct TakenAnswer {}

/// A gateway's call without its body.
fn head(headers: &HeaderMap, query: Option<&str>) -> ProviderWebhook {
    let headers = headers.iter().map(|(name, value)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    ProviderWebhook {
        headers: headers.collect(),
        query: QueryString::lossy(query),
        body: Vec::new(),
    }
}

async fn verify(call: HookCall) -> Outcome {
    let webhook = head(&call.headers, call.raw_query.as_deref());
    let inbox = call.recado.inbox();
    let text = inbox.verify_address(call.path.text("connection_id"), &webhook).await?;
    Ok(Answer::bytes("text/plain; charset=utf-8", text).unkept())
}

/// Handles a gateway's webhook (7.4, D68, R106, R183).
async fn take(mut call: HookCall) -> Outcome {
    let recado = call.recado.clone();
    let mut webhook = head(&call.headers, call.raw_query.as_deref());
    let called = recado.inbox().called(call.path.text("connection_id"), &webhook).await?;
    call.who.company(called.company());
    let read = call.read_much(called.id(), WEBHOOK_LIMIT).await.map_err(|fault| match fault {
        BodyError::TooLarge(_) => ErrorResponse::rejected(&ProviderWebhookError::TooLarge),
        fault => fault.of_gateway(),
    });
    // The share is returned when the body is dropped.
    let (body, _share) = read?;
    webhook.body = body;
    let taken = recado.inbox().take_webhook(&called, &webhook).await;
    if let Err(Error::Rejected(ProviderWebhookError::Malformed)) = &taken {
        metrics::malformed_call(called.gateway().as_str());
        let connection = tracing::field::display(called.id());
        tracing::warn!(connection, "a call of a gateway is not what it sends, and is kept");
    }
    let taken = taken?;
    // Only now its signature is verified.
    call.who.recognized();
    call.was_signed(called.id());
    log(&taken, &called);
    Answer::hook(TakenAnswer {})
}

/// Counts the outcomes of the events, and logs refused and unknown ones, never with a body (X9).
fn log(taken: &ReceivedWebhook, called: &recado_core::inbox::CalledConnection) {
    metrics::gateway_events("stored", taken.stored);
    metrics::gateway_events("passed_over", taken.passed_over);
    metrics::gateway_events("refused", taken.refused_in_all);
    let kept = taken.not_understood.iter().map(|(kept, count)| (kept, *count));
    metrics::not_understood(called.gateway().as_str(), kept);
    let connection = tracing::field::display(called.id());
    if taken.refused_in_all > 0 {
        let (count, reasons) = (taken.refused_in_all, &taken.refused);
        tracing::warn!(connection, count, ?reasons, "events of a gateway were refused");
    }
    if !taken.unknown.is_empty() {
        let kinds = &taken.unknown;
        tracing::info!(connection, ?kinds, "a gateway sent events of unknown kinds");
    }
    if !taken.not_understood.is_empty() {
        let kept = taken.not_understood.keys();
        let kept: Vec<_> = kept.map(|kept| (kept.reason.as_str(), &kept.kind)).collect();
        tracing::info!(connection, ?kept, "events of a gateway are kept: they were not understood");
    }
}
