//! The ledger of prosas.

use std::fmt::Write;

use async_trait::async_trait;
use recado_core::ids::CompanyId;
use recado_core::page::{Page, PageRequest};
use recado_core::prosas::{
    Brl, LedgerFilter, LedgerLine, LedgerPage, LedgerReads, LedgerSpan, LedgerTotals, LineKind,
    Prosas, SpanTotals,
};
use recado_core::store::StoreError;
use recado_store_sql::signed;

use crate::PostgresStore;
use crate::columns::Columns;
use crate::param::{Param, params};
use crate::session::rows;
use crate::table::columns_of;

/// The sum of a column. Postgres computes sums of 64-bit numbers exactly. A sum beyond 64 bits is
/// limited to the greatest or least number.
fn sum(column: &str) -> String {
    format!("{} AS {column}", limited(&format!("sum({column})")))
}

fn limited(sum: &str) -> String {
    format!(
        "greatest(least(coalesce({sum}, 0), 9223372036854775807), -9223372036854775808)::bigint"
    )
}

/// The sums of spans by kind, in their order. Each span is read in the index alone.
fn spans_statement(company: CompanyId, spans: &[LedgerSpan]) -> (String, Vec<Param>) {
    let of = |kind: LineKind, column: &str| {
        limited(&format!("sum({column}) FILTER (WHERE kind = '{}')", kind.as_str()))
    };
    let sql = format!(
        "SELECT sums.* FROM unnest($2::bigint[], $3::bigint[]) WITH ORDINALITY \
         AS span (low, high, place) CROSS JOIN LATERAL (SELECT {}, {}, {}, {} FROM ledger_lines \
         WHERE company_id = $1 AND created_at >= span.low AND created_at <= span.high) \
         AS sums (debited, debited_cost, refunded, refunded_cost) ORDER BY span.place",
        of(LineKind::Debit, "prosas"),
        of(LineKind::Debit, "cost"),
        of(LineKind::Refund, "prosas"),
        of(LineKind::Refund, "cost"),
    );
    let low: Vec<_> = spans.iter().map(|span| span.from.millis()).collect();
    let high: Vec<_> = spans.iter().map(|span| span.to.millis()).collect();
    (sql, params![company.uuid(), low, high])
}

/// The debits of a campaign less their refunds: the folded sums, and what came since (R448).
pub(crate) fn spent_on(company: &str, campaign: &str) -> String {
    let summed = |table: &str| {
        format!(
            "SELECT prosas, cost FROM {table} \
             WHERE company_id = {company} AND campaign_id = {campaign}"
        )
    };
    format!(
        "SELECT {}, {} FROM ({} UNION ALL {}) AS k",
        sum("prosas"),
        sum("cost"),
        summed("campaign_sums"),
        summed("campaign_sum_deltas"),
    )
}

/// One page with the totals of all pages, read from one state of the database.
fn page_statement(
    company: CompanyId,
    filter: &LedgerFilter,
    page: PageRequest,
) -> (String, Vec<Param>) {
    let mut params = params![company.uuid(), i64::from(page.limit), signed(page.offset())];
    let mut condition = "company_id = $1".to_owned();
    let mut and = |test: &str, value: Param| {
        params.push(value);
        let _ = write!(condition, " AND {test} ${}", params.len());
    };
    if let Some(from) = filter.from {
        and("created_at >=", Param::of(from.millis()));
    }
    if let Some(to) = filter.to {
        and("created_at <=", Param::of(to.millis()));
    }
    if let Some(kind) = filter.kind {
        and("kind =", Param::of(kind.as_str()));
    }
    let sql = format!(
        "WITH matching AS MATERIALIZED (SELECT count(*) AS total, {}, {} FROM ledger_lines \
         WHERE {condition}), page AS MATERIALIZED (SELECT * FROM ledger_lines WHERE {condition} \
         ORDER BY created_at DESC, id DESC LIMIT $2::bigint OFFSET $3::bigint) \
         SELECT matching.total, matching.prosas, matching.cost, {} \
         FROM matching LEFT JOIN page ON true ORDER BY page.created_at DESC, page.id DESC",
        sum("prosas"),
        sum("cost"),
        columns_of::<LedgerLine>("page"),
    );
    (sql, params)
}

#[async_trait]
impl LedgerReads for PostgresStore {
    async fn ledger_page(
        &self,
        company: CompanyId,
        filter: &LedgerFilter,
        page: PageRequest,
    ) -> Result<LedgerPage, StoreError> {
        let (sql, params) = page_statement(company, filter, page);
        let found = rows(&self.pool, sql, params).await?;
        let mut ledger = LedgerPage { page: Page::empty(), prosas: Prosas::ZERO, cost: Brl::ZERO };
        for row in &found {
            let mut columns = Columns::new(row);
            ledger.page.total = columns.get()?;
            ledger.prosas = columns.get()?;
            ledger.cost = columns.get()?;
            ledger.page.items.extend(columns.joined()?);
        }
        Ok(ledger)
    }

    async fn ledger_totals(
        &self,
        company: CompanyId,
        spans: &[LedgerSpan],
    ) -> Result<Vec<SpanTotals>, StoreError> {
        let (sql, params) = spans_statement(company, spans);
        let found = rows(&self.pool, sql, params).await?;
        let totals = |row| {
            let mut columns = Columns::new(row);
            let mut totals = || {
                Ok::<_, StoreError>(LedgerTotals {
                    prosas: columns.get()?,
                    cost_brl: columns.get()?,
                })
            };
            Ok(SpanTotals { debits: totals()?, refunds: totals()? })
        };
        found.iter().map(totals).collect()
    }
}
