//! Probes, metrics and the OpenAPI document: paths that need no key.

use recado_core::Code;
use serde::Serialize;
#[cfg(test)]
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::call::OpenCall;
use crate::error::{ErrorResponse, Outcome};
use crate::metrics;
use crate::openapi::openapi;
use crate::route::Route;

pub(crate) const ROUTES: &[Route] = &[
    Route::open(
        "/healthz",
        |call| Box::pin(healthz(call)),
        |op| op.says("getHealth", "Whether the process is alive").answers::<Status>(),
    ),
    Route::open(
        "/readyz",
        |call| Box::pin(readyz(call)),
        |op| {
            op.says("getReadiness", "Whether the process wants traffic")
                .more(
                    "503 while the store is unreachable or not migrated, while the data is being \
                     moved, and while stopping.",
                )
                .answers::<Ready>()
                .refuses(Code::Moving)
        },
    ),
    Route::open(
        "/metrics",
        |call| Box::pin(render_metrics(call)),
        |op| {
            op.says("getMetrics", "Metrics as Prometheus text")
                .answers_bytes("text/plain")
                .refuses(Code::NotFound)
        },
    ),
    Route::open(
        "/api/openapi.json",
        |call| Box::pin(document(call)),
        |op| op.says("getOpenApi", "This document").answers_object(),
    ),
];

/// The `data` of a probe.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
struct Status {
    /// `alive` or `ready`.
    status: &'static str,
}

/// The `data` of the probe for traffic.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
struct Ready {
    /// `ready`.
    status: &'static str,
    /// Whether the installation is on hold: it sends nothing (D75).
    held: bool,
    /// Why it is on hold, where the operator said so.
    reason: Option<String>,
}

async fn healthz(_: OpenCall) -> Outcome {
    Answer::ok(Status { status: "alive" })
}

async fn readyz(call: OpenCall) -> Outcome {
    let options = &call.shared.options;
    if !options.readiness.is_open() {
        return Err(ErrorResponse::unavailable("the process is stopping"));
    }
    let ready = call.shared.installation.ready();
    match tokio::time::timeout(options.limits.ready_timeout, ready).await {
        // For any reason, also an old schema, the process gets no traffic.
        Ok(ready) => ready.map_err(|error| {
            ErrorResponse::unavailable("the store is not ready").caused_by(error.to_string())
        })?,
        Err(_) => return Err(ErrorResponse::unavailable("the store does not answer")),
    }
    let halted = call.shared.installation.halted().await?;
    if halted.is_closed() {
        return Err(ErrorResponse::moving());
    }
    let hold = halted.hold();
    let reason = hold.and_then(|hold| hold.reason.clone());
    Answer::ok(Ready { status: "ready", held: hold.is_some(), reason })
}

async fn render_metrics(call: OpenCall) -> Outcome {
    // Without the store the last value stays.
    if let Ok(halted) = call.shared.installation.halted().await {
        metrics::held(halted.hold().is_some());
    }
    match &call.shared.options.metrics {
        Some(render) => Ok(Answer::bytes("text/plain; version=0.0.4; charset=utf-8", render())),
        None => Err(ErrorResponse::not_found()),
    }
}

async fn document(call: OpenCall) -> Outcome {
    let document = &call.shared.document;
    let document = document.get_or_init(|| openapi(&call.recado.connections().gateways()).into());
    Ok(Answer::bytes("application/json", document.clone()))
}
