//! What a company used, day by day (R430).

use serde::Serialize;

use super::{LedgerSpan, ProsaLedger, SpanTotals};
use crate::access::LocalDay;
use crate::ids::CompanyId;
use crate::manage::{ManageResult, NOT_FOUND};

/// How many days are shown (R430).
pub const USAGE_DAYS: u32 = 30;

/// What was booked on a day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UsageDay {
    /// Its date in the time zone of the company, such as `2026-11-20`.
    pub date: String,
    /// The sums.
    #[serde(flatten)]
    pub totals: SpanTotals,
}

/// Gives each day its sums (R430).
fn by_day(days: Vec<LocalDay>, totals: Vec<SpanTotals>) -> Vec<UsageDay> {
    let days = days.into_iter().zip(totals);
    days.map(|(day, totals)| UsageDay { date: day.date, totals }).collect()
}

impl ProsaLedger<'_> {
    /// What a company booked on each of the last [`USAGE_DAYS`] days of its time zone, today
    /// included, oldest first (R430).
    ///
    /// # Errors
    ///
    /// [`crate::manage::ManageError::NotFound`] for a company that is not there.
    pub async fn usage(&self, company: CompanyId) -> ManageResult<Vec<UsageDay>> {
        let known = self.app.company(company).await?.ok_or(NOT_FOUND)?;
        let days = known.time_zone.last_days(self.app.now(), USAGE_DAYS);
        let spans: Vec<LedgerSpan> =
            days.iter().map(|day| LedgerSpan { from: day.from, to: day.to }).collect();
        let totals = self.app.store().ledger_totals(company, &spans).await?;
        Ok(by_day(days, totals))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;
    use crate::access::TimeZone;
    use crate::prosas::{Brl, LedgerTotals, Prosas};

    /// R430.
    #[test]
    fn each_day_has_its_own_sums_and_the_last_one_is_today() {
        let now = Timestamp::parse("2026-11-20T02:30:00Z").expect("valid");
        let days = TimeZone::default().last_days(now, USAGE_DAYS);
        let units = |n: i64| LedgerTotals {
            prosas: Prosas::from_units(n),
            cost_brl: Brl::from_units(n * 2),
        };
        let totals: Vec<SpanTotals> =
            (0..30).map(|n| SpanTotals { debits: units(n), refunds: units(-n) }).collect();
        let usage = by_day(days, totals);
        assert_eq!(usage.len(), 30);
        let last = usage.last().expect("a day");
        assert_eq!((last.date.as_str(), last.totals.debits), ("2026-11-19", units(29)));
        assert_eq!(usage[0].totals.refunds, units(0));
    }
}
