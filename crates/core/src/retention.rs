//! What is not kept forever: messages, clicks and ledger lines, each by an option that is off by
//! default (R210, R211, R212), and organizations that no contact has any more (R213).

use std::collections::HashMap;
use std::time::Duration;

use crate::documents::{Document, file_key, undo_key};
use crate::ids::{CompanyId, DocumentId, LedgerLineId};
use crate::jobs::JobKind;
use crate::messages::{Failure, Message, MessageStatus};
use crate::prosas::{LedgerLine, LineKind};
use crate::store::{ChangeSet, Listing, Record, RecordsExt, Row, RowKind, StoreError, Stored};
use crate::{Recado, Timestamp};

/// How many rows of a kind and company are looked at in one step.
const AT_ONCE: u32 = 500;

/// The removal of old records. Made by [`Recado::retention`].
#[derive(Clone, Copy, Debug)]
pub struct Retention<'a> {
    app: &'a Recado,
}

impl Recado {
    /// The removal of records that are not kept any longer.
    pub fn retention(&self) -> Retention<'_> {
        Retention { app: self }
    }
}

impl Retention<'_> {
    /// Removes some of the messages, clicks and ledger lines that are older than
    /// [`Settings`](crate::Settings) says: of each company that this process looks after (R456) a few
    /// hundred of each kind. Answers whether there may be more. Without any such setting it reads
    /// nothing.
    ///
    /// # Errors
    ///
    /// When the store fails; what was removed stays removed.
    pub async fn sweep(&self) -> Result<bool, StoreError> {
        let (settings, now) = (self.app.settings(), self.app.now());
        let until = |kept: Option<Duration>| kept.map(|kept| now.minus(kept));
        let wanted = [
            (RowKind::Message, until(settings.message_retention)),
            (RowKind::Click, until(settings.click_retention)),
            (RowKind::LedgerLine, until(settings.ledger_retention)),
        ];
        let mut more = false;
        for (kind, until) in wanted {
            let Some(until) = until else { continue };
            for company in self.app.companies_looked_after(kind).await? {
                more |= self.sweep_kind(company, kind, until).await?;
            }
        }
        Ok(more)
    }

    /// Removes some organizations that no contact has (R213), of the companies that this process
    /// looks after (R456). An organization is made with its
    /// contact, so one that is about to be used is never among them; a contact that is given one
    /// meanwhile keeps it, because then its removal is refused. Answers whether there may be more.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn sweep_organizations(&self) -> Result<bool, StoreError> {
        let mut more = false;
        for company in self.app.companies_looked_after(RowKind::Organization).await? {
            let listing = Listing::Unused { company, kind: RowKind::Organization, limit: AT_ONCE };
            let unused = self.app.store().rows(listing).await?;
            more |= self.remove(&unused).await?;
        }
        Ok(more)
    }

    async fn sweep_kind(
        &self,
        company: CompanyId,
        kind: RowKind,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        let listing = Listing::Oldest { company, kind, until, limit: AT_ONCE };
        let old = self.app.store().rows(listing).await?;
        match kind {
            RowKind::Message => self.remove_messages(&old).await,
            RowKind::LedgerLine => self.remove_lines(&old).await,
            _ => self.remove(&old).await,
        }
    }

    /// Removes rows. Answers whether there may be more: not after a conflict, as another process
    /// removes them, too.
    async fn remove(&self, rows: &[Stored<Row>]) -> Result<bool, StoreError> {
        if rows.is_empty() {
            return Ok(false);
        }
        let changes = rows.iter().fold(ChangeSet::new(), |set, row| set.with(row.delete()));
        Ok(self.app.commit_once(changes).await? && rows.len() >= AT_ONCE as usize)
    }

    /// Removes messages with their files (R210).
    async fn remove_messages(&self, rows: &[Stored<Row>]) -> Result<bool, StoreError> {
        let mut changes = ChangeSet::new();
        let mut gone = 0;
        for row in rows {
            let Row::Message(message) = row.value() else { continue };
            if self.is_awaited(message).await? {
                continue;
            }
            if let Some(document) = message.media.document {
                match self.remove_file(message, document).await? {
                    Removed::Kept => continue,
                    Removed::Before => {}
                    Removed::Now(document) => changes = changes.with(document.delete()),
                }
            }
            changes = changes.with(row.delete());
            gone += 1;
        }
        if gone == 0 {
            return Ok(false);
        }
        Ok(self.app.commit_once(changes).await? && rows.len() >= AT_ONCE as usize)
    }

    /// Whether a message is in flight, or its uncertain outcome is still being looked for (R210).
    async fn is_awaited(&self, message: &Message) -> Result<bool, StoreError> {
        if message.status == MessageStatus::Pending {
            return Ok(true);
        }
        if !message.failure.as_ref().is_some_and(Failure::is_uncertain) {
            return Ok(false);
        }
        let kind = JobKind::FindSent { message: message.id };
        Ok(self.app.store().job_like(message.company, &kind).await?.is_some())
    }

    /// Removes the file of a message. It goes before its record, by which it is found again after a
    /// failure.
    async fn remove_file(
        &self,
        message: &Message,
        document: DocumentId,
    ) -> Result<Removed, StoreError> {
        let (store, company) = (self.app.store(), message.company);
        let Some(known) = store.get::<Document>((company, document)).await? else {
            return Ok(Removed::Before);
        };
        // A deletion of the contact that fails puts its files back.
        let purge = JobKind::purge_of(known.contact_id);
        if store.job_like(company, &purge).await?.is_some() {
            return Ok(Removed::Kept);
        }
        for key in [file_key(company, document), undo_key(company, document)] {
            if self.app.files().remove(&key).await.is_err() {
                return Ok(Removed::Kept);
            }
        }
        Ok(Removed::Now(known))
    }

    /// Removes debits with their refunds (R212).
    async fn remove_lines(&self, rows: &[Stored<Row>]) -> Result<bool, StoreError> {
        let lines: Vec<&LedgerLine> =
            rows.iter().filter_map(|row| LedgerLine::of(row.value())).collect();
        let mut settled = settled(&lines);
        for line in &lines {
            // The debit of a refund may have been removed by a release that kept them apart.
            if line.kind == LineKind::Refund
                && !settled.contains_key(&line.consumption_id)
                && !lines.iter().any(|other| other.id == line.consumption_id)
            {
                let debit = (line.company, line.consumption_id);
                let debit = self.app.store().get::<LedgerLine>(debit).await?;
                settled.insert(line.consumption_id, debit.is_none());
            }
        }
        let goes = |row: &&Stored<Row>| {
            let line = LedgerLine::of(row.value());
            line.is_some_and(|line| settled.get(&line.consumption_id) == Some(&true))
        };
        let gone: Vec<Stored<Row>> = rows.iter().filter(goes).cloned().collect();
        let removed = self.remove(&gone).await?;
        Ok(removed || (!gone.is_empty() && rows.len() >= AT_ONCE as usize))
    }
}

/// What became of a message's file.
enum Removed {
    /// It could not be removed now.
    Kept,
    /// There was none any more.
    Before,
    /// It is removed; its record is left.
    Now(Stored<Document>),
}

/// Of old lines, which debits may go: those of which all refunds are among the lines, as the newest
/// of them decides (R212).
fn settled(lines: &[&LedgerLine]) -> HashMap<LedgerLineId, bool> {
    let mut open: HashMap<LedgerLineId, (i64, i64)> = HashMap::new();
    for line in lines.iter().filter(|line| line.kind == LineKind::Debit) {
        let (prosas, cost) = line.refunded;
        open.insert(line.id, (prosas.units(), cost.units()));
    }
    for line in lines.iter().filter(|line| line.kind == LineKind::Refund) {
        if let Some((prosas, cost)) = open.get_mut(&line.consumption_id) {
            // The amounts of a refund are negative.
            *prosas = prosas.saturating_add(line.prosas.units());
            *cost = cost.saturating_add(line.cost.units());
        }
    }
    open.into_iter().map(|(debit, left)| (debit, left == (0, 0))).collect()
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::prosas::{Brl, ProsaScope, Prosas};

    fn line(id: u128, of: u128, units: i64, refunded: i64) -> LedgerLine {
        LedgerLine {
            id: LedgerLineId::new(Uuid::from_u128(id)),
            company: CompanyId::new(Uuid::from_u128(1)),
            consumption_id: LedgerLineId::new(Uuid::from_u128(of)),
            kind: if id == of { LineKind::Debit } else { LineKind::Refund },
            scope: ProsaScope::Message,
            prosas: Prosas::from_units(units),
            cost: Brl::from_units(units * 7),
            refunded: (Prosas::from_units(refunded), Brl::from_units(refunded * 7)),
            contact: None,
            campaign: None,
            description: None,
            created_at: Timestamp::from_millis(0),
        }
    }

    /// R212.
    #[test]
    fn a_debit_goes_with_all_its_refunds_and_not_before_the_last() {
        let lines = [
            line(1, 1, 10, 0),
            line(2, 2, 10, 10),
            line(3, 2, -4, 0),
            line(4, 2, -6, 0),
            line(5, 5, 10, 10),
            line(6, 5, -4, 0),
        ];
        let lines: Vec<&LedgerLine> = lines.iter().collect();
        let settled = settled(&lines);
        let of = |id| settled.get(&LedgerLineId::new(Uuid::from_u128(id))).copied();
        assert_eq!((of(1), of(2), of(5)), (Some(true), Some(true), Some(false)));
    }
}
