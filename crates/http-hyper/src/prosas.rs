//! The public API's ledger (4.12, D59).

use recado_core::access::Scope;
use recado_core::page::{PageRequest, Pagination};
use recado_core::prosas::{LedgerFilter, LedgerLineView, LedgerTotals, LineKind};
use serde::Serialize;

use crate::answer::Answer;
use crate::call::PublicCall;
use crate::error::Outcome;
use crate::messages::{FROM, LIMIT, PAGE, TO};
use crate::openapi::{ParamKind, QueryParam};
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[Route::public(
    verb::GET,
    "/api/v1/prosas/consumption",
    Scope::MessagesRead,
    |c| Box::pin(consumption(c)),
    |mut op| {
        let pagination = op.refer::<Pagination>();
        let totals = op.refer::<LedgerTotals>();
        op.says("listConsumption", "List the lines of the prosas ledger")
            .more("Newest first. Refunds are lines with negative amounts.")
            .pages_with::<LedgerLineView>(pagination, "totals", totals)
    },
)
.query(&[
    FROM,
    TO,
    QueryParam::new("kind", ParamKind::Words(LineKind::WORDS), "Lines of this kind."),
    PAGE,
    LIMIT,
])];

#[derive(Serialize)]
struct Ledger {
    data: Vec<LedgerLineView>,
    pagination: Pagination,
    totals: LedgerTotals,
}

async fn consumption(call: PublicCall) -> Outcome {
    let filter = LedgerFilter::parse(&call.params)?;
    let page = PageRequest::parse(&call.params)?;
    let listed = call.recado.prosas().consumption(&call.who, &filter, page).await?;
    let pagination = Pagination::new(page, listed.total);
    Answer::root(Ledger { data: listed.items, pagination, totals: listed.totals })
}
