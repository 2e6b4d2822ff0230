//! Filters of the listing that no index has in order together: a search, times, a second set.
//!
//! Each finds a set of contacts, and what is in all of them is put in order as the contacts of a
//! search are. The search, the smallest set, or a time that finds fewer contacts is read whole.
//! Another one is read only while it is not much greater than what is left; if it is greater, the
//! contacts that are left are looked up in it. So the cost is bounded by the smallest of them, or
//! by the search.

use recado_core::Timestamp;
use recado_core::contacts::{ContactFilter, ContactSet};
use recado_core::ids::CompanyId;
use rusqlite::{Connection, params_from_iter};

use crate::cell::{Cell, Columns};
use crate::contacts::{LOOKUP, Seq, SeqRange};
use crate::contacts_search::{Matches, matches};
use crate::error::ReadResult;
use crate::table::exists;

/// Whether a filter has to be applied by finding contacts. Otherwise the listing is read in order.
pub(crate) fn narrows(filter: &ContactFilter) -> bool {
    filter.search.is_some()
        || filter.updated_since.is_some()
        || filter.active_since.is_some()
        || filter.sets().len() > 1
}

/// A condition on contacts.
#[derive(Clone, Copy, Debug)]
enum Condition {
    In(ContactSet),
    UpdatedSince(Timestamp),
    ActiveSince(Timestamp),
}

impl Condition {
    /// Finds the contacts of a company that fulfil it; the last parameter is how many are wanted.
    const fn find_query(self) -> &'static str {
        match self {
            Self::In(_) => {
                "SELECT seq FROM contact_sets INDEXED BY contact_sets_by_creation \
                 WHERE set_id = ?1 AND kind = ?2 AND seq BETWEEN ?3 AND ?4 LIMIT ?5"
            }
            Self::UpdatedSince(_) => {
                "SELECT seq FROM contacts INDEXED BY contacts_by_update \
                 WHERE company_id = ?1 AND updated_at >= ?2 LIMIT ?3"
            }
            Self::ActiveSince(_) => {
                "SELECT seq FROM contacts INDEXED BY contacts_by_recency \
                 WHERE company_id = ?1 AND recency <= ?2 LIMIT ?3"
            }
        }
    }

    fn find_values(self, company: CompanyId, range: SeqRange, limit: u64) -> Vec<Cell<'static>> {
        let mut values = self.values();
        match self {
            Self::In(_) => values.extend([Cell::Int(range.first), Cell::Int(range.last)]),
            Self::UpdatedSince(_) | Self::ActiveSince(_) => values.insert(0, company.into()),
        }
        values.push(limit.into());
        values
    }

    /// Whether a contact fulfils it; the last parameter is its `seq`.
    const fn check_query(self) -> &'static str {
        match self {
            Self::In(_) => {
                "SELECT 1 FROM contact_sets WHERE set_id = ?1 AND kind = ?2 AND seq = ?3"
            }
            Self::UpdatedSince(_) => "SELECT 1 FROM contacts WHERE updated_at >= ?1 AND seq = ?2",
            Self::ActiveSince(_) => "SELECT 1 FROM contacts WHERE recency <= ?1 AND seq = ?2",
        }
    }

    /// What is asked for.
    fn values(self) -> Vec<Cell<'static>> {
        match self {
            Self::In(set) => vec![set.id().into(), Cell::Int(set.kind())],
            Self::UpdatedSince(since) => vec![since.into()],
            // The recency of a contact without messages is greater than that of any time.
            Self::ActiveSince(since) => vec![Cell::Int(-since.millis())],
        }
    }

    /// The first `limit` contacts that fulfil it, in no order.
    fn find(
        self,
        conn: &Connection,
        company: CompanyId,
        range: SeqRange,
        limit: u64,
    ) -> ReadResult<Matches> {
        let mut found = Matches::new(range);
        let mut statement = conn.prepare_cached(self.find_query())?;
        let values = self.find_values(company, range, limit);
        let mut rows = statement.query(params_from_iter(values))?;
        while let Some(row) = rows.next()? {
            found.insert(row.get(0)?);
        }
        Ok(found)
    }

    fn check(self, conn: &Connection, seq: Seq) -> ReadResult<bool> {
        let mut values = self.values();
        values.push(Cell::Int(seq.0));
        exists(conn, self.check_query(), &values)
    }

    /// Those of `found` that fulfil it. `size` is how many contacts fulfil it in all, if known.
    fn narrow(
        self,
        conn: &Connection,
        company: CompanyId,
        found: &Matches,
        size: Option<u64>,
    ) -> ReadResult<Matches> {
        let range = found.range();
        let limit = found.count().saturating_mul(LOOKUP);
        let own = match size {
            Some(size) if size >= limit => None,
            _ => Some(self.find(conn, company, range, limit)?).filter(|own| own.count() < limit),
        };
        let mut left = Matches::new(range);
        for seq in found.iter() {
            let fulfils = match &own {
                Some(own) => own.contains(seq),
                None => self.check(conn, seq)?,
            };
            if fulfils {
                left.insert(seq.0);
            }
        }
        Ok(left)
    }
}

/// The sets of a filter with the number of their contacts, the smallest one first.
fn sized(conn: &Connection, filter: &ContactFilter) -> ReadResult<Vec<(Condition, u64)>> {
    let query = "SELECT coalesce(sum(contacts), 0) FROM contact_set_facets \
                 WHERE set_id = ?1 AND kind = ?2";
    let mut sizes = conn.prepare_cached(query)?;
    let mut sets = Vec::new();
    for condition in filter.sets().into_iter().map(Condition::In) {
        let size = sizes
            .query_row(params_from_iter(condition.values()), |row| Columns::from(row, 0).get())?;
        sets.push((condition, size));
    }
    sets.sort_by_key(|(_, size)| *size);
    Ok(sets)
}

/// The contacts of a company that a filter's search, sets and times find; the exact filters are
/// applied afterwards. Without a search, it begins with a time that finds fewer contacts than the
/// smallest set has, or else with that set.
pub(crate) fn narrowed(
    conn: &Connection,
    company: CompanyId,
    range: SeqRange,
    filter: &ContactFilter,
) -> ReadResult<Matches> {
    let mut found = match &filter.search {
        Some(search) => Some(matches(conn, range, search)?),
        None => None,
    };
    let sets = sized(conn, filter)?;
    let updated = filter.updated_since.map(Condition::UpdatedSince);
    let times = updated.into_iter().chain(filter.active_since.map(Condition::ActiveSince));
    let least = sets.first().map_or(u64::MAX, |(_, size)| *size);
    let mut conditions: Vec<(Condition, Option<u64>)> = Vec::new();
    for time in times {
        if found.is_none() {
            let few = time.find(conn, company, range, least)?;
            if few.count() < least {
                found = Some(few);
                continue;
            }
        }
        conditions.push((time, None));
    }
    conditions.splice(0..0, sets.into_iter().map(|(set, size)| (set, Some(size))));
    for (condition, size) in conditions {
        found = Some(match found {
            Some(found) => condition.narrow(conn, company, &found, size)?,
            None => condition.find(conn, company, range, u64::MAX)?,
        });
    }
    Ok(found.unwrap_or_else(|| Matches::new(range)))
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::plans;

    /// D77.
    #[test]
    fn contacts_are_found_by_an_index_and_checked_by_their_key() {
        let conn = plans::database();
        let set = ContactSet::List(recado_core::ids::ListId::new(Uuid::nil()));
        let at = Timestamp::from_millis(1);
        for (condition, found_by) in [
            (Condition::In(set), "contact_sets_by_creation (set_id=? AND kind=?)"),
            (Condition::UpdatedSince(at), "contacts_by_update (company_id=? AND updated_at>?)"),
            (Condition::ActiveSince(at), "contacts_by_recency (company_id=? AND recency<?)"),
        ] {
            let step = plans::step(&conn, condition.find_query());
            assert!(step.contains("COVERING INDEX") && step.ends_with(found_by), "{step}");
            let step = plans::step(&conn, condition.check_query());
            let key =
                ["INTEGER PRIMARY KEY (rowid=?)", "PRIMARY KEY (seq=? AND kind=? AND set_id=?)"];
            assert!(key.iter().any(|key| step.ends_with(key)), "{step}");
        }
    }
}
