//! The two listings of contacts: by last message, and by creation for exports (4.1).
//!
//! Each order has one index for the whole company and one for each combination of the values that
//! the exact filters compare, for all contacts and for those of each set. The indexes hold all
//! columns that are compared. A listing reads the company's index, or merges the indexes of the
//! combinations that pass. Rows are read only for the contacts that are shown. What no index has in
//! order is found first, and then put in order (`contacts_narrowing`).

use recado_core::contacts::{ContactFilter, ContactSet, ExportPosition};
use recado_core::ids::CompanyId;
use rusqlite::{Connection, Row, params_from_iter};

use crate::cell::{Cell, Columns};
use crate::contacts::{LOOKUP, Seq, SeqRange};
use crate::contacts_facets::{FacetId, Passing, passing};
use crate::contacts_narrowing::{narrowed, narrows};
use crate::contacts_search::Matches;
use crate::error::ReadResult;
use crate::merge::{Merged, OrderedRange};

/// The order of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListingOrder {
    /// Latest message first, contacts without messages last, then by id.
    LastMessage,
    /// Oldest first, then by id.
    Creation,
}

impl ListingOrder {
    const fn company_query(self) -> &'static str {
        match self {
            Self::LastMessage => {
                "SELECT recency, id, seq FROM contacts INDEXED BY contacts_by_recency \
                 WHERE company_id = ?1 AND (recency, id) > (?2, ?3) \
                 ORDER BY recency, id LIMIT ?4 OFFSET ?5"
            }
            Self::Creation => {
                "SELECT created_at, id, seq FROM contacts INDEXED BY contacts_by_creation \
                 WHERE company_id = ?1 AND (created_at, id) > (?2, ?3) \
                 ORDER BY created_at, id LIMIT ?4 OFFSET ?5"
            }
        }
    }

    const fn facet_query(self) -> &'static str {
        match self {
            Self::LastMessage => {
                "SELECT recency, id, seq FROM contacts INDEXED BY contacts_by_facet_recency \
                 WHERE facet_id = ?1 AND (recency, id) > (?2, ?3) \
                 ORDER BY recency, id LIMIT ?4 OFFSET ?5"
            }
            Self::Creation => {
                "SELECT created_at, id, seq FROM contacts INDEXED BY contacts_by_facet_creation \
                 WHERE facet_id = ?1 AND (created_at, id) > (?2, ?3) \
                 ORDER BY created_at, id LIMIT ?4 OFFSET ?5"
            }
        }
    }

    /// `?6` and `?7` name the set.
    const fn set_query(self) -> &'static str {
        match self {
            Self::LastMessage => {
                "SELECT recency, id, seq FROM contact_sets INDEXED BY contact_sets_by_recency \
                 WHERE set_id = ?6 AND kind = ?7 AND facet_id = ?1 AND (recency, id) > (?2, ?3) \
                 ORDER BY recency, id LIMIT ?4 OFFSET ?5"
            }
            Self::Creation => {
                "SELECT created_at, id, seq FROM contact_sets INDEXED BY contact_sets_by_creation \
                 WHERE set_id = ?6 AND kind = ?7 AND facet_id = ?1 \
                 AND (created_at, id) > (?2, ?3) ORDER BY created_at, id LIMIT ?4 OFFSET ?5"
            }
        }
    }

    const fn lookup_query(self) -> &'static str {
        match self {
            Self::LastMessage => "SELECT recency, id, seq, facet_id FROM contacts WHERE seq = ?1",
            Self::Creation => "SELECT created_at, id, seq, facet_id FROM contacts WHERE seq = ?1",
        }
    }
}

/// A position in an order: the compared values of the contact there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SortKey {
    key: i64,
    id: [u8; 16],
    pub(crate) seq: Seq,
}

impl SortKey {
    /// The position before the first contact.
    const START: Self = Self { key: i64::MIN, id: [0; 16], seq: Seq(0) };

    /// The sort key of an export's position.
    pub(crate) fn of(position: ExportPosition) -> Self {
        Self {
            key: position.created_at.millis(),
            id: position.id.uuid().into_bytes(),
            seq: Seq(i64::MAX),
        }
    }

    /// The value that the order compares first.
    pub(crate) fn key(self) -> i64 {
        self.key
    }

    fn read(row: &Row<'_>) -> ReadResult<Self> {
        let mut columns = Columns::new(row);
        Ok(Self { key: columns.get()?, id: columns.get()?, seq: Seq(columns.get()?) })
    }

    fn is_after(self, other: Self) -> bool {
        (self.key, self.id) > (other.key, other.id)
    }
}

/// Which part of a listing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListingPart {
    /// Only what comes after this position.
    pub(crate) after: Option<SortKey>,
    /// How many of those to skip.
    pub(crate) offset: u64,
    /// How many to show.
    pub(crate) limit: u64,
}

/// A part of a listing, and the number of contacts in the whole listing.
#[derive(Debug, Default)]
pub(crate) struct ListingPage {
    /// The positions, in order.
    pub(crate) keys: Vec<SortKey>,
    /// How many match in all.
    pub(crate) total: u64,
}

/// The part of a company's listing under a filter.
pub(crate) fn list(
    conn: &Connection,
    company: CompanyId,
    filter: &ContactFilter,
    order: ListingOrder,
    part: ListingPart,
) -> ReadResult<ListingPage> {
    let mut sets = filter.sets();
    if !narrows(filter) {
        let passing = passing(conn, company, sets.pop(), filter)?;
        let keys = if part.offset >= passing.total {
            Vec::new()
        } else {
            unsearched(conn, company, order, &passing, part)?
        };
        return Ok(ListingPage { keys, total: passing.total });
    }
    let passing = passing(conn, company, None, filter)?;
    let Some(range) = SeqRange::find(conn, company)? else { return Ok(ListingPage::default()) };
    if passing.total == 0 {
        return Ok(ListingPage::default());
    }
    let found = narrowed(conn, company, range, filter)?;
    searched(conn, company, order, &passing, &found, part)
}

fn unsearched(
    conn: &Connection,
    company: CompanyId,
    order: ListingOrder,
    passing: &Passing,
    part: ListingPart,
) -> ReadResult<Vec<SortKey>> {
    let is_page = order == ListingOrder::LastMessage && part.after.is_none();
    if is_page && passing.all && part.offset > passing.total / 2 {
        return from_end(conn, company, passing.total, part);
    }
    let scopes = scopes(company, passing);
    if let [scope] = scopes.as_slice() {
        // SQLite skips the offset inside the index.
        let after = part.after.unwrap_or(SortKey::START);
        return scope.fetch(conn, order, after, part.limit, part.offset);
    }
    if is_page
        && let Some(steps) = steps_of_all(passing, part)
        && let Some(keys) = walked(conn, company, passing, part, steps)?
    {
        return Ok(keys);
    }
    let wanted = part.offset.saturating_add(part.limit);
    let mut merged = merged(scopes, order, part.after, wanted);
    let mut keys = Vec::new();
    let mut passed = 0;
    while (keys.len() as u64) < part.limit {
        let Some(key) = merged.next(conn)? else { break };
        if passed < part.offset {
            passed += 1;
        } else {
            keys.push(key);
        }
    }
    Ok(keys)
}

const BACK: &str = "SELECT recency, id, seq FROM contacts INDEXED BY contacts_by_recency \
    WHERE company_id = ?1 ORDER BY recency DESC, id DESC LIMIT ?2 OFFSET ?3";

/// A part of all contacts of a company by last message, counted from the end (R417).
fn from_end(
    conn: &Connection,
    company: CompanyId,
    total: u64,
    part: ListingPart,
) -> ReadResult<Vec<SortKey>> {
    let left = total.saturating_sub(part.offset);
    let behind = left.saturating_sub(part.limit);
    let values: [Cell<'_>; 3] = [company.into(), left.min(part.limit).into(), behind.into()];
    let mut statement = conn.prepare_cached(BACK)?;
    let keys = statement.query_map(params_from_iter(values), SortKey::read)?;
    let mut keys = keys.collect::<ReadResult<Vec<SortKey>>>()?;
    keys.reverse();
    Ok(keys)
}

/// What beginning one more range of an index costs, in steps of a walk through all contacts.
const RANGE_STEPS: u64 = 16;

/// How many of the first contacts of the company to look for a part in, if that should cost less
/// than a range of an index for each combination does (R417). It is twice as many as should be
/// needed, so that looking in vain never costs much more than the ranges.
fn steps_of_all(passing: &Passing, part: ListingPart) -> Option<u64> {
    if passing.within.is_some() || passing.total == 0 {
        return None;
    }
    let ranges = passing.facets.len() as u64;
    let wanted = part.offset.saturating_add(part.limit);
    let steps = wanted.saturating_mul(passing.of_company) / passing.total;
    let merging = RANGE_STEPS.saturating_mul(ranges).saturating_add(wanted.min(passing.total));
    (steps <= merging).then(|| steps.saturating_mul(2).saturating_add(100))
}

const WALK: &str = "SELECT recency, id, seq, facet_id FROM contacts INDEXED BY contacts_by_recency \
    WHERE company_id = ?1 ORDER BY recency, id LIMIT ?2";

/// A part, if it is among the first `steps` contacts of the company; it may be short only if these
/// are all. Where many contacts pass, they are found sooner so than by their combinations.
fn walked(
    conn: &Connection,
    company: CompanyId,
    passing: &Passing,
    part: ListingPart,
    steps: u64,
) -> ReadResult<Option<Vec<SortKey>>> {
    let mut facets = passing.facets.clone();
    facets.sort_unstable();
    let mut statement = conn.prepare_cached(WALK)?;
    let values: [Cell<'_>; 2] = [company.into(), steps.into()];
    let mut rows = statement.query(params_from_iter(values))?;
    let mut keys = Vec::new();
    let mut passed = 0;
    while let Some(row) = rows.next()? {
        if facets.binary_search(&FacetId(Columns::from(row, 3).get()?)).is_err() {
            continue;
        }
        passed += 1;
        if passed > part.offset {
            keys.push(SortKey::read(row)?);
        }
        if keys.len() as u64 == part.limit {
            return Ok(Some(keys));
        }
    }
    Ok((passed == passing.total).then_some(keys))
}

/// Puts the contacts that were found in order. A few matches are looked up one by one. Many
/// matches are found by reading the index in order until the part is full. Both costs are bounded
/// by the number of matches.
fn searched(
    conn: &Connection,
    company: CompanyId,
    order: ListingOrder,
    passing: &Passing,
    found: &Matches,
    part: ListingPart,
) -> ReadResult<ListingPage> {
    let lookups = found.count().saturating_mul(LOOKUP);
    let wanted = part.offset.saturating_add(part.limit);
    let walk = if passing.all && part.after.is_none() {
        wanted.saturating_mul(passing.total) / found.count().max(1)
    } else {
        passing.total
    };
    if lookups <= walk.max(256) {
        return looked_up(conn, order, passing, found, part);
    }
    let total = if passing.all { found.count() } else { count(conn, order, passing, found)? };
    let scopes = scopes(company, passing);
    let mut merged = merged(scopes, order, part.after, walk);
    let mut keys = Vec::new();
    let mut passed = 0;
    while passed < total && (keys.len() as u64) < part.limit {
        let Some(key) = merged.next(conn)? else { break };
        if found.contains(key.seq) {
            passed += 1;
            if passed > part.offset {
                keys.push(key);
            }
        }
    }
    Ok(ListingPage { keys, total })
}

fn looked_up(
    conn: &Connection,
    order: ListingOrder,
    passing: &Passing,
    found: &Matches,
    part: ListingPart,
) -> ReadResult<ListingPage> {
    let mut statement = conn.prepare_cached(order.lookup_query())?;
    let mut total = 0;
    let mut keys = Vec::new();
    for seq in found.iter() {
        let (key, facet) = statement.query_row([seq.0], |row| {
            Ok((SortKey::read(row)?, FacetId(Columns::from(row, 3).get()?)))
        })?;
        if !passing.all && !passing.facets.contains(&facet) {
            continue;
        }
        total += 1;
        if part.after.is_none_or(|after| key.is_after(after)) {
            keys.push(key);
        }
    }
    keys.sort_unstable();
    let shown = keys
        .into_iter()
        .skip(usize::try_from(part.offset).unwrap_or(usize::MAX))
        .take(usize::try_from(part.limit).unwrap_or(usize::MAX));
    Ok(ListingPage { keys: shown.collect(), total })
}

/// The number of found contacts whose combination passes.
fn count(
    conn: &Connection,
    order: ListingOrder,
    passing: &Passing,
    found: &Matches,
) -> ReadResult<u64> {
    let mut statement = conn.prepare_cached(order.facet_query())?;
    let mut total = 0;
    for facet in &passing.facets {
        let values = IndexRange::Facet(*facet).values(SortKey::START, u64::MAX, 0);
        let mut rows = statement.query(params_from_iter(values))?;
        while let Some(row) = rows.next()? {
            total += u64::from(found.contains(Seq(Columns::from(row, 2).get()?)));
        }
    }
    Ok(total)
}

fn scopes(company: CompanyId, passing: &Passing) -> Vec<IndexRange> {
    if passing.all {
        vec![IndexRange::Company(company)]
    } else {
        let range = |facet: &FacetId| match passing.within {
            None => IndexRange::Facet(*facet),
            Some(set) => IndexRange::Set(set, *facet),
        };
        passing.facets.iter().map(range).collect()
    }
}

/// The contacts that one range of an index holds.
#[derive(Clone, Copy, Debug)]
enum IndexRange {
    Company(CompanyId),
    Facet(FacetId),
    Set(ContactSet, FacetId),
}

impl IndexRange {
    fn values(self, after: SortKey, limit: u64, offset: u64) -> Vec<Cell<'static>> {
        let scope = match self {
            Self::Company(company) => company.into(),
            Self::Facet(facet) | Self::Set(_, facet) => Cell::Int(facet.0),
        };
        // An empty value is less than every id: the start has to come before a first contact with
        // any id.
        let id = if after == SortKey::START { Cell::Bytes(&[]) } else { Cell::Id(after.id) };
        let mut values = vec![scope, Cell::Int(after.key), id, limit.into(), offset.into()];
        if let Self::Set(set, _) = self {
            values.extend([set.id().into(), Cell::Int(set.kind())]);
        }
        values
    }

    fn fetch(
        self,
        conn: &Connection,
        order: ListingOrder,
        after: SortKey,
        limit: u64,
        offset: u64,
    ) -> ReadResult<Vec<SortKey>> {
        let query = match self {
            Self::Company(_) => order.company_query(),
            Self::Facet(_) => order.facet_query(),
            Self::Set(..) => order.set_query(),
        };
        let values = self.values(after, limit, offset);
        conn.prepare_cached(query)?.query_map(params_from_iter(values), SortKey::read)?.collect()
    }
}

/// A scope with an order.
struct Ordered {
    scope: IndexRange,
    order: ListingOrder,
}

impl OrderedRange for Ordered {
    type SortKey = SortKey;

    fn fetch(
        &self,
        conn: &Connection,
        after: Option<SortKey>,
        limit: u64,
    ) -> ReadResult<Vec<SortKey>> {
        self.scope.fetch(conn, self.order, after.unwrap_or(SortKey::START), limit, 0)
    }
}

fn merged(
    scopes: Vec<IndexRange>,
    order: ListingOrder,
    after: Option<SortKey>,
    wanted: u64,
) -> Merged<Ordered> {
    let ranges = scopes.into_iter().map(|scope| Ordered { scope, order }).collect();
    Merged::new(ranges, after, wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans;

    /// R417.
    #[test]
    fn a_walk_from_either_end_reads_one_index_with_the_combinations() {
        let covered = "SEARCH contacts USING COVERING INDEX contacts_by_recency (company_id=?)";
        for query in [WALK, BACK] {
            assert_eq!(plans::step(&plans::database(), query), covered);
        }
    }

    fn steps(passing: (u64, u64), ranges: usize, offset: u64) -> Option<u64> {
        let (total, of_company) = passing;
        let facets = vec![FacetId(0); ranges];
        let passing = Passing { facets, total, of_company, all: false, within: None };
        steps_of_all(&passing, ListingPart { after: None, offset, limit: 50 })
    }

    /// R417.
    #[test]
    fn a_walk_is_tried_where_it_should_cost_less_than_the_combinations() {
        assert_eq!(steps((500_000, 1_000_000), 280, 0), Some(300));
        assert_eq!(steps((1_000, 1_000_000), 280, 0), None, "few pass");
        assert_eq!(steps((500_000, 1_000_000), 2, 0), None, "few combinations");
        assert_eq!(steps((500_000, 1_000_000), 280, 100_000), None, "twice as many to read");
        assert_eq!(steps((0, 1_000_000), 0, 0), None, "nobody passes");
    }

    /// D77: a set is read as the company and a combination are.
    #[test]
    fn a_listing_is_one_range_of_one_index_which_holds_all_that_is_compared() {
        let conn = plans::database();
        for order in [ListingOrder::LastMessage, ListingOrder::Creation] {
            for query in [order.company_query(), order.facet_query(), order.set_query()] {
                let step = plans::step(&conn, query);
                let table = if query == order.set_query() { "contact_sets" } else { "contacts" };
                let covered = format!("SEARCH {table} USING COVERING INDEX");
                assert!(step.starts_with(&covered), "{step}");
                assert!(step.ends_with(",id)>(?,?))"), "{step}");
            }
        }
    }
}
