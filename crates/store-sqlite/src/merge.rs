//! Merges several ranges of an index in order.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rusqlite::Connection;

use crate::error::ReadResult;

/// The most positions that are read ahead of one range.
const MAX_CHUNK: u64 = 1024;
const MIN_CHUNK: u64 = 8;

/// A range of an index.
pub(crate) trait OrderedRange {
    /// A position in the range; a lesser one is earlier.
    type SortKey: Copy + Ord;

    /// Up to `limit` positions after `after`, in order.
    fn fetch(
        &self,
        conn: &Connection,
        after: Option<Self::SortKey>,
        limit: u64,
    ) -> ReadResult<Vec<Self::SortKey>>;
}

/// The merged positions of several ranges. A bounded number of positions of each range is read
/// ahead.
pub(crate) struct Merged<R: OrderedRange> {
    chunk: u64,
    sources: Vec<MergeSource<R>>,
    heads: BinaryHeap<Reverse<(R::SortKey, usize)>>,
    started: bool,
}

struct MergeSource<R: OrderedRange> {
    range: R,
    ahead: VecDeque<R::SortKey>,
    last: Option<R::SortKey>,
    ended: bool,
}

impl<R: OrderedRange> Merged<R> {
    /// The positions after a given one. `wanted` is how many positions the caller will probably
    /// take.
    pub(crate) fn new(ranges: Vec<R>, after: Option<R::SortKey>, wanted: u64) -> Self {
        let share = wanted.saturating_mul(2) / (ranges.len() as u64).max(1);
        let source =
            |range| MergeSource { range, ahead: VecDeque::new(), last: after, ended: false };
        Self {
            chunk: share.clamp(MIN_CHUNK, MAX_CHUNK),
            sources: ranges.into_iter().map(source).collect(),
            heads: BinaryHeap::new(),
            started: false,
        }
    }

    /// The next position.
    pub(crate) fn next(&mut self, conn: &Connection) -> ReadResult<Option<R::SortKey>> {
        if !self.started {
            self.started = true;
            for index in 0..self.sources.len() {
                self.refill(conn, index)?;
            }
        }
        let Some(Reverse((key, index))) = self.heads.pop() else { return Ok(None) };
        self.refill(conn, index)?;
        Ok(Some(key))
    }

    /// Adds the next position of a range to the heads.
    fn refill(&mut self, conn: &Connection, index: usize) -> ReadResult<()> {
        let source = &mut self.sources[index];
        if source.ahead.is_empty() && !source.ended {
            let fetched = source.range.fetch(conn, source.last, self.chunk)?;
            source.ended = (fetched.len() as u64) < self.chunk;
            source.last = fetched.last().copied().or(source.last);
            source.ahead = fetched.into();
        }
        if let Some(key) = source.ahead.pop_front() {
            self.heads.push(Reverse((key, index)));
        }
        Ok(())
    }
}
