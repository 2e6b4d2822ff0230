//! Listing the audit log (R388).

use recado_core::access::OperatorAction;
use recado_core::audit::{ActorKind, AuditEntryView, AuditOutcome, AuditPage, AuditRequest};
use serde::Serialize;
#[cfg(test)]
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::call::{CompanyCall, OperatorCall};
use crate::error::Outcome;
use crate::messages::LIMIT;
use crate::openapi::{Operation, ParamKind, QueryParam};
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::operator(
        verb::GET,
        "/operator/v1/audit",
        OperatorAction::ListAuditEntries,
        |c| Box::pin(list(c)),
        |op| document(op.does("List the audit log of the installation")),
    )
    .query(PARAMS),
    Route::company(
        verb::GET,
        "/operator/v1/companies/{company_id}/audit",
        OperatorAction::ListCompanyAuditEntries,
        |c| Box::pin(list_of_company(c)),
        |op| document(op.does("List the audit log of a company")),
    )
    .query(PARAMS),
];

const PARAMS: &[QueryParam] = &[
    QueryParam::new("actor", ParamKind::Words(ActorKind::WORDS), "Who acted, by kind."),
    QueryParam::new("actor_id", ParamKind::Uuid, "The id of the token, member or key."),
    QueryParam::new("operation", ParamKind::Text, "The `operationId`, such as `createContact`."),
    QueryParam::new("record_kind", ParamKind::Text, "A kind of record, such as `contact`."),
    QueryParam::new("record_id", ParamKind::Text, "The id of a record that an entry names."),
    QueryParam::new("outcome", ParamKind::Words(AuditOutcome::WORDS), "How it ended."),
    QueryParam::new("since", ParamKind::Text, "From this time on: a timestamp, or a date."),
    QueryParam::new("until", ParamKind::Text, "Until this time: a timestamp, or a date's begin."),
    QueryParam::new(
        "cursor",
        ParamKind::Text,
        "The `next_cursor` of the answer before; without it the newest entries.",
    ),
    LIMIT,
];

fn document(mut op: Operation) -> Operation {
    let pagination = vec![op.refer::<AuditPagination>()];
    op.more(
        "Newest first. One call looks at 5,000 entries: a page may hold fewer entries than \
         `limit`, even none, while `next_cursor` says where to go on.",
    )
    .pages::<AuditEntryView>(pagination)
}

/// Where to go on in the audit log.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
struct AuditPagination {
    /// Entries per page.
    limit: u32,
    /// Send it as `cursor` in the next call; null at the end.
    next_cursor: Option<String>,
}

async fn list(call: OperatorCall) -> Outcome {
    let request = AuditRequest::parse(&call.params)?;
    page(call.recado.audit().list(None, &request).await?)
}

async fn list_of_company(call: CompanyCall) -> Outcome {
    let request = AuditRequest::parse(&call.params)?;
    page(call.recado.audit().list(Some(call.who.id), &request).await?)
}

fn page(found: AuditPage) -> Outcome {
    let (limit, next_cursor) = (found.limit, found.next_cursor);
    Answer::page(found.entries, AuditPagination { limit, next_cursor })
}
