//! Listing the audit log (R388).

use uuid::Uuid;

use super::{ActorKind, Audit, AuditEntry, AuditEntryView, AuditOutcome};
use crate::Timestamp;
use crate::error::Error;
use crate::ids::{AuditEntryId, CompanyId};
use crate::page;
use crate::query::{InvalidParameter, Params, since_bound};
use crate::store::{Listing, Row, StoreError};

/// How many entries one read looks at.
const AT_ONCE: u32 = 500;
/// How many reads one call makes: of the filters only company and time are in an index.
const READS: u32 = 10;

/// The place of an entry in the log.
type Place = (Timestamp, AuditEntryId);

/// What is listed. Made by [`AuditRequest::parse`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditRequest {
    actor: Option<ActorKind>,
    actor_id: Option<Uuid>,
    operation: Option<String>,
    record_kind: Option<String>,
    record_id: Option<String>,
    outcome: Option<AuditOutcome>,
    since: Option<Timestamp>,
    before: Option<Place>,
    limit: u32,
}

/// The position of an entry, as text.
fn position((at, id): Place) -> String {
    format!("{}_{id}", at.millis())
}

fn read_position(text: &str) -> Option<Place> {
    let (at, id) = text.split_once('_')?;
    Some((Timestamp::from_millis(at.parse().ok()?), AuditEntryId::parse(id)?))
}

/// The last place at a time or before it.
fn until(at: Timestamp) -> Place {
    (Timestamp::from_millis(at.millis().saturating_add(1)), AuditEntryId::new(Uuid::nil()))
}

impl AuditRequest {
    /// Reads `actor`, `actor_id`, `operation`, `record_kind`, `record_id`, `outcome`, `since`,
    /// `until`, `cursor` and `limit`.
    ///
    /// # Errors
    ///
    /// The first parameter that is not acceptable.
    pub fn parse(params: &Params) -> Result<Self, InvalidParameter> {
        let end = since_bound(params, "until")?.map(until);
        let what = "a cursor that this list answered";
        let cursor = params.read("cursor", what, read_position)?;
        let text = |name| Ok::<_, InvalidParameter>(params.text(name)?.map(str::to_owned));
        Ok(Self {
            actor: params.read("actor", &ActorKind::WORDS.join(", "), ActorKind::parse)?,
            actor_id: params.read("actor_id", "a UUID", |text| Uuid::try_parse(text).ok())?,
            operation: text("operation")?,
            record_kind: text("record_kind")?,
            record_id: text("record_id")?,
            outcome: params.read("outcome", "done or denied", AuditOutcome::parse)?,
            since: since_bound(params, "since")?,
            before: [end, cursor].into_iter().flatten().min(),
            limit: page::limit(params)?,
        })
    }

    /// Whether an entry is listed. That it is old enough was asked of the store.
    ///
    /// R388.
    fn wants(&self, entry: &AuditEntry) -> bool {
        let is = |wanted: &Option<String>, found: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted == found)
        };
        let has_record = match (&self.record_kind, &self.record_id) {
            (None, None) => true,
            (kind, id) => {
                let named = entry.records.named();
                named.iter().any(|record| is(kind, &record.kind) && is(id, &record.id))
            }
        };
        self.actor.is_none_or(|wanted| wanted == entry.actor)
            && self.actor_id.is_none_or(|wanted| entry.actor_id == Some(wanted))
            && is(&self.operation, entry.operation.as_str())
            && self.outcome.is_none_or(|wanted| wanted == entry.outcome())
            && has_record
    }
}

/// A part of the log, the newest first.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AuditPage {
    /// The entries; fewer than `limit`, even none, where many others had to be looked at.
    pub entries: Vec<AuditEntryView>,
    /// The `limit` that was applied.
    pub limit: u32,
    /// Send it as `cursor` to go on; `None` at the end.
    pub next_cursor: Option<String>,
}

impl Audit<'_> {
    /// Lists the log of a company, or of the whole installation, the newest first (R388). One call
    /// looks at 5,000 entries at most; where the filters are met by few, it answers those and where
    /// to go on.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn list(
        &self,
        company: Option<CompanyId>,
        request: &AuditRequest,
    ) -> Result<AuditPage, Error<InvalidParameter>> {
        let limit = usize::try_from(request.limit).unwrap_or(usize::MAX);
        let (mut entries, mut before) = (Vec::new(), request.before);
        for _ in 0..READS {
            let found = self.read(company, before).await?;
            let is_last = found.len() < AT_ONCE as usize;
            for entry in found {
                if request.since.is_some_and(|since| entry.at < since) {
                    return Ok(AuditPage { entries, limit: request.limit, next_cursor: None });
                }
                if entries.len() == limit {
                    let next_cursor = before.map(position);
                    return Ok(AuditPage { entries, limit: request.limit, next_cursor });
                }
                before = Some((entry.at, entry.id));
                if request.wants(&entry) {
                    entries.push(AuditEntryView::from(entry));
                }
            }
            if is_last {
                return Ok(AuditPage { entries, limit: request.limit, next_cursor: None });
            }
        }
        Ok(AuditPage { entries, limit: request.limit, next_cursor: before.map(position) })
    }

    async fn read(
        &self,
        company: Option<CompanyId>,
        before: Option<Place>,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        let before = before.unwrap_or((Timestamp::MAX, AuditEntryId::new(Uuid::max())));
        let listing = Listing::Audited { company, before, limit: AT_ONCE };
        let rows = self.app.listing(|store| store.rows(listing.clone())).await?;
        let entry = |row: crate::store::Stored<Row>| match row.into_value() {
            Row::AuditEntry(entry) => Some(entry),
            _ => None,
        };
        Ok(rows.into_iter().filter_map(entry).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R388.
    #[test]
    fn a_cursor_is_the_place_of_an_entry() {
        let place = (Timestamp::from_millis(1_795_000_000_000), AuditEntryId::new(Uuid::max()));
        assert_eq!(read_position(&position(place)), Some(place));
        for text in ["", "_", "1_", "x_00000000-0000-0000-0000-000000000000"] {
            assert_eq!(read_position(text), None, "{text}");
        }
    }
}
