//! Listings with the newest first: by `created_at` descending, then `id` descending. A listing is
//! one range of one index, or a merge of several ranges. Rows are read only for what is shown.

use std::cmp::Reverse;

use recado_core::Timestamp;
use rusqlite::{Connection, params_from_iter};

use crate::cell::{Cell, Columns};
use crate::error::ReadResult;
use crate::merge::{self, Merged};

/// A value that is greater than every id in an index.
const ABOVE_IDS: [u8; 17] = [0xff; 17];

/// A position in such a listing; a lesser one is newer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SortKey {
    at: Reverse<i64>,
    id: Reverse<[u8; 16]>,
    /// The `seq` of the row.
    pub(crate) seq: i64,
}

impl SortKey {
    /// The position that consists of the columns `created_at`, `id` and `seq`.
    pub(crate) fn read(columns: &mut Columns<'_, '_>) -> ReadResult<Self> {
        let (at, id) = (Reverse(columns.get()?), Reverse(columns.get()?));
        Ok(Self { at, id, seq: columns.get()? })
    }
}

/// The time that a listing is limited to, both ends included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    from: i64,
    to: i64,
}

impl Span {
    /// The span between two times; one that is `None` sets no limit.
    pub(crate) fn new(from: Option<Timestamp>, to: Option<Timestamp>) -> Self {
        Self {
            from: from.map_or(i64::MIN, Timestamp::millis),
            to: to.map_or(i64::MAX, Timestamp::millis),
        }
    }

    /// Its ends, as parameters of a statement.
    pub(crate) fn ends(self) -> [Cell<'static>; 2] {
        [Cell::Int(self.from), Cell::Int(self.to)]
    }

    /// Whether the span has no limit.
    pub(crate) fn is_all(self) -> bool {
        (self.from, self.to) == (i64::MIN, i64::MAX)
    }
}

/// An index on the columns of a scope, then `created_at` and `id`.
#[derive(Debug)]
pub(crate) struct Index {
    /// The table. Its rows have a `seq`.
    pub(crate) table: &'static str,
    /// The name of the index.
    pub(crate) name: &'static str,
    /// The columns of the scope.
    pub(crate) scope: &'static [&'static str],
}

/// The part of an index that belongs to one scope and one span of time.
#[derive(Clone, Debug)]
pub(crate) struct IndexRange {
    index: &'static Index,
    scope: Vec<Cell<'static>>,
    span: Span,
}

impl IndexRange {
    /// The range of a scope, which has one value for each of the index's scope columns.
    pub(crate) fn new(index: &'static Index, scope: Vec<Cell<'static>>, span: Span) -> Self {
        Self { index, scope, span }
    }

    /// The table and the condition of the scope, which uses the first parameters.
    fn source(&self) -> String {
        let Index { table, name, scope } = self.index;
        let conditions: Vec<String> = scope
            .iter()
            .enumerate()
            .map(|(at, column)| format!("{column} = ?{}", at + 1))
            .collect();
        format!("FROM {table} INDEXED BY {name} WHERE {}", conditions.join(" AND "))
    }

    /// The expression `selected` over the whole range. Only the index is read.
    pub(crate) fn aggregate<T>(
        &self,
        conn: &Connection,
        selected: &str,
        read: impl FnOnce(&mut Columns<'_, '_>) -> ReadResult<T>,
    ) -> ReadResult<T> {
        let next = self.scope.len() + 1;
        let query = format!(
            "SELECT {selected} {} AND created_at BETWEEN ?{next} AND ?{}",
            self.source(),
            next + 1
        );
        let mut values = self.scope.clone();
        values.extend(self.span.ends());
        conn.prepare_cached(&query)?
            .query_row(params_from_iter(values), |row| read(&mut Columns::new(row)))
    }

    /// The number of rows in the range.
    pub(crate) fn count(&self, conn: &Connection) -> ReadResult<u64> {
        self.aggregate(conn, "count(*)", |columns| columns.get())
    }

    fn query(&self) -> String {
        let n = self.scope.len();
        format!(
            "SELECT created_at, id, seq {} AND created_at >= ?{} AND (created_at, id) < (?{}, ?{}) \
             ORDER BY created_at DESC, id DESC LIMIT ?{} OFFSET ?{}",
            self.source(),
            n + 1,
            n + 2,
            n + 3,
            n + 4,
            n + 5
        )
    }

    /// A part of the range. SQLite skips the offset inside the index.
    pub(crate) fn part(
        &self,
        conn: &Connection,
        after: Option<SortKey>,
        limit: u64,
        offset: u64,
    ) -> ReadResult<Vec<SortKey>> {
        let (at, id) = match after {
            Some(SortKey { at, id, .. }) => (at.0, Cell::Id(id.0)),
            None => (self.span.to, Cell::Bytes(&ABOVE_IDS)),
        };
        let mut values = self.scope.clone();
        values.extend([Cell::Int(self.span.from), Cell::Int(at), id, limit.into(), offset.into()]);
        conn.prepare_cached(&self.query())?
            .query_map(params_from_iter(values), |row| SortKey::read(&mut Columns::new(row)))?
            .collect()
    }
}

impl merge::OrderedRange for IndexRange {
    type SortKey = SortKey;

    fn fetch(
        &self,
        conn: &Connection,
        after: Option<SortKey>,
        limit: u64,
    ) -> ReadResult<Vec<SortKey>> {
        self.part(conn, after, limit, 0)
    }
}

/// A part of several ranges together.
pub(crate) fn part_of(
    conn: &Connection,
    ranges: Vec<IndexRange>,
    limit: u64,
    offset: u64,
) -> ReadResult<Vec<SortKey>> {
    if let [range] = ranges.as_slice() {
        return range.part(conn, None, limit, offset);
    }
    let mut merged = Merged::new(ranges, None, offset.saturating_add(limit));
    let mut keys = Vec::new();
    let mut passed = 0;
    while (keys.len() as u64) < limit {
        let Some(key) = merged.next(conn)? else { break };
        if passed < offset {
            passed += 1;
        } else {
            keys.push(key);
        }
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans;

    #[test]
    fn a_range_is_read_in_its_index_alone_and_ends_with_its_span() {
        let conn = plans::database();
        let others = [&crate::prosas::BY_KIND, &crate::deliveries_listing::LISTED];
        let indexes = [&crate::messages_listing::INDEXES[..], &others].concat();
        for index in indexes {
            let scope = vec![Cell::Null; index.scope.len()];
            let range = IndexRange::new(index, scope, Span::new(None, None));
            let step = plans::step(&conn, &range.query());
            let covering = format!("SEARCH {} USING COVERING INDEX {}", index.table, index.name);
            assert!(step.starts_with(&covering), "{step}");
            assert!(step.ends_with("created_at>? AND (created_at,id)<(?,?))"), "{step}");
        }
    }
}
