//! What is changed in a source while it is copied (R461).

use async_trait::async_trait;
use recado_core::store::StoreError;

use super::stores::TransferReader;

/// How many changes are told at once, if it is not more of one transaction.
pub const CHANGES: usize = 5_000;

/// A change of a row, as the source's database tells it. Values are in the database's text form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowChange {
    /// The table.
    pub table: String,
    /// What happened to the row.
    pub kind: RowChangeKind,
    /// The columns of the key that the row had before, or has if it is new.
    pub key: Vec<ChangedCell>,
    /// The columns of the row afterwards, but for large ones that stayed as they were.
    pub values: Vec<ChangedCell>,
}

/// What happens to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowChangeKind {
    /// It is new.
    Insert,
    /// It was there before.
    Update,
    /// It is there no more.
    Delete,
}

/// A value of a column.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChangedCell {
    /// The column.
    pub column: String,
    /// Its text; `None` for NULL.
    pub value: Option<String>,
}

/// Changes that were told at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// The changes, of whole transactions, in the order in which these were committed.
    pub changes: Vec<RowChange>,
    /// Whether these are the last ones that were committed before they were asked for.
    pub is_all: bool,
}

/// A company that is followed: one state of it, and what changes after that state.
#[expect(missing_debug_implementations, reason = "it holds connections")]
pub struct Followed {
    /// The state.
    pub state: Box<dyn TransferReader>,
    /// Everything that it does not have.
    pub changes: Box<dyn ChangeReader>,
}

/// Why a company cannot be followed. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// The database offers no such thing; the text says what is missing.
    #[error("{0}")]
    Unsupported(String),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Tells what has changed, in the order in which it was committed.
#[async_trait]
pub trait ChangeReader: Send {
    /// The next changes. Each is told once.
    ///
    /// # Errors
    ///
    /// When the database fails; what was not told then is lost.
    async fn next(&mut self) -> Result<Told, StoreError>;

    /// Leaves nothing behind in the source.
    ///
    /// # Errors
    ///
    /// When the database fails.
    async fn end(self: Box<Self>) -> Result<(), StoreError>;
}
