//! The gateways of this process, and requests to those of connections: a code for pairing a phone,
//! the state, templates, and what of it was not understood.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use recado_core::Code;
use recado_core::access::OperatorAction;
use recado_core::connections::{ConnectionView, GatewayView, UnknownEventView};
use recado_core::ids::ConnectionId;
use recado_core::templates::TemplateView;
use serde::Serialize;
use serde_json::Value;
#[cfg(test)]
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::call::{CompanyCall, OperatorCall};
use crate::error::{ErrorResponse, Outcome};
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::operator(
        verb::GET,
        "/operator/v1/gateways",
        OperatorAction::ListGateways,
        |c| Box::pin(list(c)),
        |op| {
            op.does("List the gateways that connections can use")
                .more(
                    "Those of the process that answers, each with the settings of its connections.",
                )
                .lists::<GatewayView>()
        },
    ),
    Route::company(
        verb::GET,
        "/operator/v1/companies/{company_id}/connections/{id}/qr",
        OperatorAction::ReadPairingCode,
        |c| Box::pin(pairing_code(c)),
        |op| {
            op.does("Read the code that a phone is paired with")
                .more(
                    "The gateway replaces it every few seconds. With `Accept: image/png` its \
                     picture, where the gateway or Recado can make one; with `Accept: text/plain` its text.",
                )
                .answers::<PairingView>()
                .also_as(PNG)
                .also_as(TEXT)
                .refuses(Code::AlreadyPaired)
                .refuses(Code::ValidationError)
                .refuses(Code::ProviderError)
        },
    ),
    Route::company(
        verb::POST,
        "/operator/v1/companies/{company_id}/connections/{id}/check",
        OperatorAction::CheckConnection,
        |c| Box::pin(check(c)),
        |op| {
            op.does("Ask the gateway whether it reaches its channel")
                .more("A gateway that does not answer leaves the state as it was.")
                .answers::<Checked>()
        },
    ),
    Route::company(
        verb::POST,
        "/operator/v1/companies/{company_id}/connections/{id}/sync-templates",
        OperatorAction::SyncTemplates,
        |c| Box::pin(sync_templates(c)),
        |op| {
            op.does("Read the templates of a connection from its gateway")
                .lists::<TemplateView>()
                .refuses(Code::ValidationError)
                .refuses(Code::ProviderError)
        },
    ),
    Route::company(
        verb::GET,
        "/operator/v1/companies/{company_id}/connections/{id}/unknown-events",
        OperatorAction::ListUnknownEvents,
        |c| Box::pin(unknown_events(c)),
        |op| {
            op.does("List what the gateway sent and Recado did not understand")
                .more(
                    "As it came, the newest first; at most 200. Kept for 30 days, and read again \
                     by `recado inbox replay`.",
                )
                .lists::<UnknownEventView>()
        },
    ),
];

const JSON: &str = "application/json";
const PNG: &str = "image/png";
const TEXT: &str = "text/plain";
/// The first bytes of every PNG: other bytes are not served as a PNG.
const PNG_BEGINS: &[u8] = b"\x89PNG\r\n\x1a\n";

/// The code for pairing a phone.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
struct PairingView {
    /// The text of the QR code.
    text: String,
    /// Its picture in base64; null if neither the gateway nor the server draws one.
    png: Option<String>,
}

/// A gateway's answer about a connection.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
struct Checked {
    /// The connection with its current state.
    connection: ConnectionView,
    /// Whether the gateway answered.
    answered: bool,
    /// Further details in the gateway's own form.
    #[cfg_attr(test, schema(value_type = Option<Object>))]
    detail: Option<Value>,
}

fn id(call: &CompanyCall) -> ConnectionId {
    call.path.id("id", ConnectionId::parse)
}

async fn list(call: OperatorCall) -> Outcome {
    Answer::ok(call.recado.connections().gateways())
}

async fn pairing_code(call: CompanyCall) -> Outcome {
    let code = call.recado.connections().pairing_code(call.who.id, id(&call)).await?;
    let wanted = call.accept.choose(&[JSON, PNG, TEXT]).unwrap_or(JSON);
    let is_png = |png: &Vec<u8>| png.starts_with(PNG_BEGINS);
    let draw = || call.qr_painter.as_ref().and_then(|painter| painter.draw(&code.text));
    let png = code.png.filter(is_png).or_else(draw).filter(is_png);
    match (wanted, png) {
        (PNG, Some(png)) => Ok(Answer::bytes(PNG, png).unkept()),
        (PNG, None) if call.accept.choose(&[JSON, TEXT]).is_none() => {
            Err(ErrorResponse::unfit("there is no picture of the code; ask for JSON or text"))
        }
        (TEXT, _) => Ok(Answer::bytes("text/plain; charset=utf-8", code.text).unkept()),
        (_, png) => {
            let png = png.map(|png| STANDARD.encode(png));
            Answer::ok(PairingView { text: code.text, png })
        }
    }
}

async fn check(call: CompanyCall) -> Outcome {
    let connections = call.recado.connections();
    let reported = connections.check(call.who.id, id(&call)).await?;
    let connection = connections.get(call.who.id, id(&call)).await?;
    let answered = reported.is_some();
    Answer::ok(Checked {
        connection,
        answered,
        detail: reported.and_then(|reported| reported.detail),
    })
}

async fn sync_templates(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.templates().sync(call.who.id, id(&call)).await?)
}

async fn unknown_events(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.connections().unknown_events(call.who.id, id(&call)).await?)
}
