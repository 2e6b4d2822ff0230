//! The code that the use cases of the operator's small records share: refusals, and inserting,
//! changing and deleting rows.

use serde_json::{Map, Value};

use crate::Recado;
use crate::code::Code;
use crate::error::{Error, Rejection};
use crate::problems::Problems;
use crate::store::{ChangeSet, Decided, Row, StoreError, Stored};

/// Why an operator's record was not written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManageError {
    /// The body is not acceptable; correct what it names.
    #[error(transparent)]
    Invalid(#[from] Problems),
    /// There is no such record in the company.
    #[error("no such record")]
    NotFound,
    /// The slug is taken by another record of the company.
    #[error("the slug is taken")]
    SlugTaken,
    /// Other records refer to it; change those first.
    #[error("the record is still in use")]
    InUse,
}

impl Rejection for ManageError {
    fn code(&self) -> Code {
        match self {
            Self::Invalid(problems) => problems.code(),
            Self::NotFound => Code::NotFound,
            Self::SlugTaken => Code::SlugTaken,
            Self::InUse => Code::InUse,
        }
    }

    fn details(&self) -> Option<Map<String, Value>> {
        match self {
            Self::Invalid(problems) => problems.details(),
            Self::NotFound | Self::SlugTaken | Self::InUse => None,
        }
    }
}

/// The result of a use case on a managed record.
pub type ManageResult<T> = Result<T, Error<ManageError>>;

/// The refusal for the problems of a body.
pub(crate) fn invalid(problems: Problems) -> Error<ManageError> {
    Error::Rejected(ManageError::Invalid(problems))
}

pub(crate) const NOT_FOUND: Error<ManageError> = Error::Rejected(ManageError::NotFound);
pub(crate) const IN_USE: Error<ManageError> = Error::Rejected(ManageError::InUse);

/// A row that the operator manages.
pub(crate) trait Managed: Into<Row> + Clone + PartialEq + Send + Sync {}

impl<T: Into<Row> + Clone + PartialEq + Send + Sync> Managed for T {}

impl Recado {
    /// Stores new rows whose unique keys no other row can hold.
    pub(crate) async fn insert_all<T>(&self, changes: ChangeSet, made: T) -> ManageResult<T> {
        // A conflict is possible only if the company is missing, or an id was made twice.
        if self.commit_once(changes).await? { Ok(made) } else { Err(NOT_FOUND) }
    }

    /// Replaces a row by the result of `change`.
    pub(crate) async fn change<T: Managed, L>(
        &self,
        load: impl Fn() -> L + Send + Sync,
        change: impl Fn(&T) -> T + Send + Sync,
    ) -> ManageResult<T>
    where
        L: Future<Output = Result<Option<Stored<T>>, StoreError>> + Send,
    {
        let (load, change) = (&load, &change);
        self.decide(|_| async move {
            let stored = load().await?.ok_or(NOT_FOUND)?;
            let changed = change(stored.value());
            if changed == *stored.value() {
                return Ok(Decided::unchanged(changed));
            }
            let changes = ChangeSet::new().with(stored.update(changed.clone()));
            Ok(Decided::new(changes, changed))
        })
        .await
    }

    /// Deletes a row that is not in use, again after a conflict.
    pub(crate) async fn remove<T: Managed, L, U>(
        &self,
        load: impl Fn() -> L + Send + Sync,
        in_use: impl Fn() -> U + Send + Sync,
    ) -> ManageResult<()>
    where
        L: Future<Output = Result<Option<Stored<T>>, StoreError>> + Send,
        U: Future<Output = Result<bool, StoreError>> + Send,
    {
        let (load, in_use) = (&load, &in_use);
        self.decide(|_| async move {
            let stored = load().await?.ok_or(NOT_FOUND)?;
            if in_use().await? {
                return Err(IN_USE);
            }
            Ok(Decided::new(ChangeSet::new().with(stored.delete()), ()))
        })
        .await
    }
}
