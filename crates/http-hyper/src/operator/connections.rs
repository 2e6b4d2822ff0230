//! Managing connections and their groups, and receiving the events of their gateways (D64, D67).

use recado_core::Code;
use recado_core::access::OperatorAction;
use recado_core::connections::{ConnectionChange, ConnectionView, NewConnection};
use recado_core::groups::GroupView;
use recado_core::ids::ConnectionId;
use recado_core::inbox::{EventResult, parse_events};
use serde::Serialize;
#[cfg(test)]
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::call::CompanyCall;
use crate::error::{ErrorResponse, Outcome};
use crate::metrics;
use crate::openapi::bodies;
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::company(
        verb::GET,
        COLLECTION,
        OperatorAction::ListConnections,
        |c| Box::pin(list(c)),
        |op| op.does("List connections").lists::<ConnectionView>(),
    ),
    Route::company(
        verb::POST,
        COLLECTION,
        OperatorAction::CreateConnection,
        |c| Box::pin(create(c)),
        |op| {
            op.does("Make a connection")
                .more("Secrets among the settings are never shown.")
                .body::<NewConnection>(
                    r#"{"kind": "qr", "name": "Loja", "identifier": "5511940028922",
                        "gateway": "simulated", "settings": {"delay_ms": 20}}"#,
                )
                .makes::<ConnectionView>()
        },
    )
    .json(),
    Route::company(
        verb::GET,
        ONE,
        OperatorAction::GetConnection,
        |c| Box::pin(get(c)),
        |op| op.does("Read a connection").answers::<ConnectionView>(),
    ),
    Route::company(
        verb::PATCH,
        ONE,
        OperatorAction::UpdateConnection,
        |c| Box::pin(change(c)),
        |op| {
            op.does("Change a connection")
                .body::<ConnectionChange>(r#"{"name": "Loja Centro", "is_active": true}"#)
                .answers::<ConnectionView>()
        },
    )
    .json(),
    Route::company(
        verb::DELETE,
        ONE,
        OperatorAction::DeleteConnection,
        |c| Box::pin(delete(c)),
        |op| op.does("Delete a connection, or deactivate one that is used").done(),
    ),
    Route::company(
        verb::GET,
        GROUPS,
        OperatorAction::ListGroups,
        |c| Box::pin(groups(c)),
        |op| op.does("List the groups of a connection").lists::<GroupView>(),
    ),
    Route::company(
        verb::PUT,
        GROUPS,
        OperatorAction::ReplaceGroups,
        |c| Box::pin(replace_groups(c)),
        |op| {
            op.does("Replace the groups of a connection")
                .more("Each that is no community becomes a contact named by its subject.")
                .body::<bodies::Groups>(
                    r#"[{"code": "120363041234567890@g.us", "subject": "Clientes"}]"#,
                )
                .lists::<GroupView>()
        },
    )
    .array(),
    Route::company(
        verb::POST,
        "/operator/v1/companies/{company_id}/connections/{id}/sync-groups",
        OperatorAction::SyncGroups,
        |c| Box::pin(sync_groups(c)),
        |op| {
            op.does("Read the groups of a connection from its gateway")
                .lists::<GroupView>()
                .refuses(Code::ProviderError)
        },
    ),
    Route::company(
        verb::POST,
        "/operator/v1/companies/{company_id}/connections/{id}/events",
        OperatorAction::ReceiveEvents,
        |c| Box::pin(events(c)),
        |op| {
            op.does("Store events of a gateway in the neutral form")
                .more("At most 1,000 events; each has its own result.")
                .body::<bodies::NeutralEvents>(
                    r#"{"events": [{"kind": "message", "provider_message_id": "3EB0A1",
                        "from": "5511987654321", "type": "text", "content": "Oi",
                        "timestamp": "2026-11-20T17:31:36.123Z"}]}"#,
                )
                .answers::<EventResults>()
                .refuses(Code::ContactStateUnavailable)
        },
    )
    .json(),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/connections";
const ONE: &str = "/operator/v1/companies/{company_id}/connections/{id}";
const GROUPS: &str = "/operator/v1/companies/{company_id}/connections/{id}/groups";

/// The result of one event, with its index in the call.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
struct IndexedResult {
    /// The place of the event in the call, from 0.
    index: usize,
    #[serde(flatten)]
    result: EventResult,
}

/// The results of a call, in the order of its events.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
struct EventResults {
    results: Vec<IndexedResult>,
}

fn id(call: &CompanyCall) -> ConnectionId {
    call.path.id("id", ConnectionId::parse)
}

async fn list(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.connections().all(call.who.id).await?)
}

async fn create(call: CompanyCall) -> Outcome {
    Answer::created(call.recado.connections().create(call.who.id, &call.body).await?)
}

async fn get(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.connections().get(call.who.id, id(&call)).await?)
}

async fn change(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.connections().change(call.who.id, id(&call), &call.body).await?)
}

async fn delete(call: CompanyCall) -> Outcome {
    call.recado.connections().delete(call.who.id, id(&call)).await?;
    Answer::done()
}

async fn groups(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.groups().all(call.who.id, id(&call)).await?)
}

async fn replace_groups(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.groups().replace(call.who.id, id(&call), &call.items).await?)
}

async fn sync_groups(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.groups().sync(call.who.id, id(&call)).await?)
}

async fn events(call: CompanyCall) -> Outcome {
    let suffix = &call.recado.settings().group_suffix;
    let events = parse_events(&call.body, suffix);
    let events = events.map_err(|problems| ErrorResponse::rejected(&problems))?;
    let results = call.recado.inbox().receive_posted(call.who.id, id(&call), events).await?;
    let kept = results.iter().filter_map(EventResult::not_understood);
    metrics::not_understood("neutral", kept.map(|kept| (kept, 1)));
    let indexed = results.into_iter().enumerate();
    let results = indexed.map(|(index, result)| IndexedResult { index, result }).collect();
    Answer::ok(EventResults { results })
}
