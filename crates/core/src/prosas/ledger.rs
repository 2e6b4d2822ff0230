//! The listing of the ledger (D59).

use serde::Serialize;

use super::{
    Brl, LedgerFilter, LedgerLine, LedgerPage, LedgerTotals, LineKind, ProsaScope, Prosas,
};
use crate::Timestamp;
use crate::access::{Caller, Scope};
use crate::ids::{CampaignId, CompanyId, ContactId, LedgerLineId};
use crate::manage::ManageResult;
use crate::page::PageRequest;
use crate::query::{InvalidParameter, Params, from_bound, to_bound};

/// A line of the ledger as it is shown (D59).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct LedgerLineView {
    /// Its id.
    pub id: LedgerLineId,
    /// The debit: this line, or the one that it refunds.
    pub consumption_id: LedgerLineId,
    /// `debit` or `refund`.
    pub kind: LineKind,
    /// What the debit covers.
    pub scope: ProsaScope,
    /// The value in prosas; negative for a refund.
    pub prosas: Prosas,
    /// The cost; negative for a refund.
    pub cost_brl: Brl,
    /// The contact it was spent on.
    pub contact_id: Option<ContactId>,
    /// The campaign it was spent on.
    pub campaign_id: Option<CampaignId>,
    /// What the debit was for; of a refund, its reason.
    pub description: Option<String>,
    /// When it was booked.
    pub created_at: Timestamp,
}

impl LedgerLineView {
    /// The line as it is shown.
    pub fn new(line: &LedgerLine) -> Self {
        Self {
            id: line.id,
            consumption_id: line.consumption_id,
            kind: line.kind,
            scope: line.scope,
            prosas: line.prosas,
            cost_brl: line.cost,
            contact_id: line.contact,
            campaign_id: line.campaign,
            description: line.description.clone(),
            created_at: line.created_at,
        }
    }
}

/// A page of the ledger as it is shown.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LedgerListing {
    /// The lines, newest first.
    pub items: Vec<LedgerLineView>,
    /// How many lines match on all pages.
    pub total: u64,
    /// The sums over all pages.
    pub totals: LedgerTotals,
}

impl From<LedgerPage> for LedgerListing {
    fn from(found: LedgerPage) -> Self {
        Self {
            items: found.page.items.iter().map(LedgerLineView::new).collect(),
            total: found.page.total,
            totals: LedgerTotals { prosas: found.prosas, cost_brl: found.cost },
        }
    }
}

impl LedgerFilter {
    /// Reads `from`, `to` and `kind`.
    ///
    /// # Errors
    ///
    /// The first parameter that is not acceptable.
    pub fn parse(params: &Params) -> Result<Self, InvalidParameter> {
        Ok(Self {
            from: from_bound(params)?,
            to: to_bound(params)?,
            kind: params.read("kind", "debit or refund", LineKind::parse)?,
        })
    }
}

impl super::ProsaLedger<'_> {
    /// A page of the ledger of the caller's company (4.12, D59).
    ///
    /// # Errors
    ///
    /// Only [`crate::Error::Denied`] and [`crate::Error::Store`].
    pub async fn consumption(
        &self,
        caller: &Caller,
        filter: &LedgerFilter,
        page: PageRequest,
    ) -> ManageResult<LedgerListing> {
        caller.require(Scope::MessagesRead)?;
        self.lines(caller.company(), filter, page).await
    }

    /// A page of the ledger of a company.
    ///
    /// # Errors
    ///
    /// Only of the store.
    pub async fn lines(
        &self,
        company: CompanyId,
        filter: &LedgerFilter,
        page: PageRequest,
    ) -> ManageResult<LedgerListing> {
        Ok(self.app.listing(|store| store.ledger_page(company, filter, page)).await?.into())
    }
}
