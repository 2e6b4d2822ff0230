//! What a store offers so that it can be moved.

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::ids::CompanyId;
use recado_core::store::StoreError;

use super::changes::{ChangedCell, FollowError, Followed, RowChange};
use super::moved::{Moved, Places};
use super::part::Part;

/// What is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The whole installation.
    Installation,
    /// One company.
    Company(CompanyId),
}

/// How a target is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// The target holds no company: whatever else it has is replaced, and what follows from rows is
    /// derived once all rows are there.
    Anew,
    /// The target holds other companies, which may be in use: nothing of them is touched.
    Beside,
}

/// A store that can be moved.
#[async_trait]
pub trait Transferable: Send + Sync {
    /// The companies that it holds, by id.
    ///
    /// # Errors
    ///
    /// As any read.
    async fn held_companies(&self) -> Result<Vec<CompanyId>, StoreError>;

    /// Which database this is: two stores on one database answer the same.
    ///
    /// # Errors
    ///
    /// As any read.
    async fn identity(&self) -> Result<String, StoreError>;

    /// How many sends, remembered calls and jobs processes have under way at `now`.
    ///
    /// # Errors
    ///
    /// As any read.
    async fn under_way(&self, scope: Scope, now: Timestamp) -> Result<u64, StoreError>;

    /// Reads one state of the database. If the installation is closed, a store may also lock what
    /// is moved until the reader is dropped, so that programs that know nothing of closures do not
    /// write meanwhile.
    ///
    /// R262.
    ///
    /// # Errors
    ///
    /// When the database fails, or others write for too long.
    async fn transfer_out(
        &self,
        scope: Scope,
        is_closed: bool,
    ) -> Result<Box<dyn TransferReader>, StoreError>;

    /// Begins to fill the database, in one transaction. Nothing of it is there until
    /// [`TransferWriter::commit`] answers; if the writer is dropped, nothing remains. Secrets are
    /// sealed with the keys of this store.
    ///
    /// R259, R260.
    ///
    /// # Errors
    ///
    /// When the database fails.
    async fn transfer_in(
        &self,
        scope: Scope,
        fill: Fill,
    ) -> Result<Box<dyn TransferWriter>, StoreError>;

    /// Whether changes can be repeated in it: [`TransferWriter::repeat`].
    fn can_repeat(&self) -> bool {
        false
    }

    /// Reads one state of a company, and what changes after it.
    ///
    /// R461.
    ///
    /// # Errors
    ///
    /// [`FollowError::Unsupported`] where the store cannot.
    async fn follow(&self, _company: CompanyId) -> Result<Followed, FollowError> {
        Err(FollowError::Unsupported(ONLY_POSTGRES.to_owned()))
    }
}

/// Why another store cannot be followed, nor follow.
pub(super) const ONLY_POSTGRES: &str =
    "a company moves while it is in use only from one Postgres to another";

/// The most rows that a reader hands on together.
const ROWS: usize = 2_000;
/// The most bytes, if it is more than one row.
const BYTES: usize = 4 * 1024 * 1024;

/// Whether a reader hands on what it has before it reads more.
pub const fn is_full(rows: usize, bytes: usize) -> bool {
    rows >= ROWS || bytes >= BYTES
}

/// Reads the rows of a scope, part after part.
#[async_trait]
pub trait TransferReader: Send {
    /// How many rows a part has.
    async fn count(&mut self, part: Part) -> Result<u64, StoreError>;

    /// Begins to read a part: events and deliveries by their places, others in any order.
    async fn open(&mut self, part: Part) -> Result<(), StoreError>;

    /// The next rows of the part that was opened, a bounded number of bytes; `None` after the last.
    async fn next(&mut self) -> Result<Option<Vec<Moved>>, StoreError>;

    /// The rows of a part that have one of these keys.
    async fn rows_of(
        &mut self,
        _part: Part,
        _keys: &[Vec<ChangedCell>],
    ) -> Result<Vec<Moved>, StoreError> {
        Err(StoreError::Unavailable(None))
    }

    /// The highest places that were given.
    async fn places(&mut self) -> Result<Places, StoreError>;
}

/// Writes rows as they are, and reads what was written before.
#[async_trait]
pub trait TransferWriter: Send {
    /// A reader of what was written, once all of it is there.
    async fn written(&mut self) -> Result<&mut dyn TransferReader, StoreError>;

    /// Writes rows of a part. A failure may be answered by a later call.
    async fn write(&mut self, part: Part, rows: Vec<Moved>) -> Result<(), StoreError>;

    /// Repeats changes of rows in their order, once everything is derived.
    async fn repeat(&mut self, _changes: &[RowChange]) -> Result<(), StoreError> {
        Err(StoreError::Unavailable(None))
    }

    /// Removes the company's rows of a part that no other rows refer to.
    async fn clear(&mut self, _part: Part) -> Result<(), StoreError> {
        Err(StoreError::Unavailable(None))
    }

    /// Derives what follows from the rows. Places that are given later are higher than these.
    async fn finish(&mut self, places: Places) -> Result<(), StoreError>;

    /// Makes everything durable and visible.
    ///
    /// # Errors
    ///
    /// [`StoreError::OutcomeUnknown`] when it may be there or not; otherwise nothing is.
    async fn commit(self: Box<Self>) -> Result<(), StoreError>;
}
