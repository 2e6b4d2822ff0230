//! The ledger of prosas.

use std::sync::LazyLock;

use async_trait::async_trait;
use recado_core::ids::{CampaignId, CompanyId};
use recado_core::page::{Page, PageRequest};
use recado_core::prosas::{
    Brl, LedgerFilter, LedgerLine, LedgerPage, LedgerReads, LedgerSpan, LedgerTotals, LineKind,
    Prosas, SpanTotals,
};
use recado_core::store::{StoreError, Stored};
use rusqlite::{Connection, params_from_iter};

use crate::SqliteStore;
use crate::cell::{Cell, Columns};
use crate::error::ReadResult;
use crate::newest_first::{Index, IndexRange, Span, part_of};
use crate::table::{Table, read_stored};

/// The index holds all columns that are summed.
pub(crate) static BY_KIND: Index =
    Index { table: "ledger_lines", name: "ledger_lines_by_kind", scope: &["company_id", "kind"] };

/// Each sum is taken in two parts, because a sum of whole amounts could overflow SQLite's integers.
const PART: i64 = 1_000_000_000;
const SUMS: &str = "count(*), \
     coalesce(sum(prosas / 1000000000), 0), coalesce(sum(prosas % 1000000000), 0), \
     coalesce(sum(cost / 1000000000), 0), coalesce(sum(cost % 1000000000), 0)";

/// The kept sums of a campaign's lines (R448).
const OF_CAMPAIGN: &str = "SELECT lines, prosas_upper, prosas_lower, cost_upper, cost_lower \
     FROM campaign_sums WHERE company_id = ?1 AND campaign_id = ?2";

/// The debits of a campaign less their refunds.
pub(crate) fn of_campaign(
    conn: &Connection,
    company: CompanyId,
    campaign: CampaignId,
) -> ReadResult<LedgerTotals> {
    let key: [Cell<'_>; 2] = [company.into(), campaign.into()];
    let mut sums = Sums::default();
    let mut statement = conn.prepare_cached(OF_CAMPAIGN)?;
    let mut found = statement.query(params_from_iter(&key))?;
    while let Some(row) = found.next()? {
        sums.add(&mut Columns::new(row))?;
    }
    Ok(sums.totals())
}

/// The sums of a span by kind. Only the index is read.
fn of_span(conn: &Connection, company: CompanyId, span: LedgerSpan) -> ReadResult<SpanTotals> {
    let span = Span::new(Some(span.from), Some(span.to));
    let of = |kind: LineKind| -> ReadResult<LedgerTotals> {
        let mut sums = Sums::default();
        let range = IndexRange::new(&BY_KIND, vec![company.into(), kind.as_str().into()], span);
        range.aggregate(conn, SUMS, |columns| sums.add(columns))?;
        Ok(sums.totals())
    };
    Ok(SpanTotals { debits: of(LineKind::Debit)?, refunds: of(LineKind::Refund)? })
}

/// Lines, prosas and cost of ranges together.
#[derive(Debug, Default)]
struct Sums {
    lines: u64,
    prosas: i128,
    cost: i128,
}

impl Sums {
    fn add(&mut self, columns: &mut Columns<'_, '_>) -> ReadResult<()> {
        let whole = |columns: &mut Columns<'_, '_>| -> ReadResult<i128> {
            let (upper, lower): (i64, i64) = (columns.get()?, columns.get()?);
            Ok(i128::from(upper) * i128::from(PART) + i128::from(lower))
        };
        self.lines += columns.get::<u64>()?;
        self.prosas += whole(columns)?;
        self.cost += whole(columns)?;
        Ok(())
    }

    fn totals(&self) -> LedgerTotals {
        LedgerTotals {
            prosas: Prosas::from_units(clamped(self.prosas)),
            cost_brl: Brl::from_units(clamped(self.cost)),
        }
    }
}

/// The sum, limited to what an `i64` can hold.
fn clamped(sum: i128) -> i64 {
    i64::try_from(sum).unwrap_or(if sum < 0 { i64::MIN } else { i64::MAX })
}

fn page(
    conn: &Connection,
    company: CompanyId,
    filter: &LedgerFilter,
    page: PageRequest,
) -> ReadResult<LedgerPage> {
    static SELECT: LazyLock<String> =
        LazyLock::new(|| format!("{} WHERE seq = ?1", LedgerLine::statements().select));
    let span = Span::new(filter.from, filter.to);
    let ranges: Vec<IndexRange> = LineKind::ALL
        .iter()
        .filter(|kind| filter.kind.is_none_or(|wanted| wanted == **kind))
        .map(|kind| IndexRange::new(&BY_KIND, vec![company.into(), kind.as_str().into()], span))
        .collect();
    let mut sums = Sums::default();
    for range in &ranges {
        range.aggregate(conn, SUMS, |columns| sums.add(columns))?;
    }
    let keys = if page.offset() >= sums.lines {
        Vec::new()
    } else {
        part_of(conn, ranges, page.limit.into(), page.offset())?
    };
    let mut statement = conn.prepare_cached(&SELECT)?;
    let lines = keys.iter().map(|key| {
        statement.query_row([key.seq], read_stored::<LedgerLine>).map(Stored::into_value)
    });
    Ok(LedgerPage {
        page: Page { items: lines.collect::<ReadResult<_>>()?, total: sums.lines },
        prosas: Prosas::from_units(clamped(sums.prosas)),
        cost: Brl::from_units(clamped(sums.cost)),
    })
}

#[async_trait]
impl LedgerReads for SqliteStore {
    async fn ledger_page(
        &self,
        company: CompanyId,
        filter: &LedgerFilter,
        request: PageRequest,
    ) -> Result<LedgerPage, StoreError> {
        let filter = *filter;
        self.read_of(company, move |conn| page(conn, company, &filter, request)).await
    }

    async fn ledger_totals(
        &self,
        company: CompanyId,
        spans: &[LedgerSpan],
    ) -> Result<Vec<SpanTotals>, StoreError> {
        let spans = spans.to_vec();
        self.read_of(company, move |conn| {
            spans.into_iter().map(|span| of_span(conn, company, span)).collect()
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans;

    #[test]
    fn the_sums_of_a_campaign_are_one_row() {
        let found = "SEARCH campaign_sums USING PRIMARY KEY (company_id=? AND campaign_id=?)";
        assert_eq!(plans::step(&plans::database(), OF_CAMPAIGN), found);
    }
}
