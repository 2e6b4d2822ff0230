//! The read of figures.

use async_trait::async_trait;

use super::{FigureQuery, Figures};
use crate::store::StoreError;

/// The read of figures over all companies: for metrics only.
#[async_trait]
pub trait FigureReads: Send + Sync {
    /// The figures of the installation (R280).
    ///
    /// # Contract
    ///
    /// - `connections` has one entry for each gateway, kind, `is_active` and status, in any order.
    /// - `deliveries` has the pending deliveries of active webhooks. Of these, a delivery that was
    ///   never tried is due, and another one from its `due_at` on. The oldest due time is that of
    ///   the heads of the queues: of the delivery with the lowest position that was never tried,
    ///   and of the one with the lowest `due_at` that was.
    /// - `jobs` has those that can be claimed.
    /// - Of deliveries and of jobs at most [`FigureQuery::most`] are counted, the queues one after
    ///   the other, the due ones of each first.
    /// - `journal` is the position of the newest event or one after it, and never goes back.
    /// - The cost grows with the number of connections, of webhooks that have pending deliveries,
    ///   of running campaigns and of messages left at `sent`, and with `most`; with nothing else.
    async fn figures(&self, query: &FigureQuery) -> Result<Figures, StoreError>;
}
