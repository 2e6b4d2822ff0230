//! The database could not answer.

/// The database could not answer. What the caller can do is try again later.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Not reachable, overloaded or shutting down; nothing was written.
    #[error("the store is unavailable")]
    Unavailable(#[source] Option<Box<dyn std::error::Error + Send + Sync>>),
    /// The database does not have the schema of this release: it was never migrated, or only by an
    /// older release. Nothing was written.
    #[error("the database was not migrated to this release: run {migrate}")]
    NotMigrated {
        /// The name of the function that migrates, such as `SqliteStore::migrate`.
        migrate: &'static str,
        /// What was found.
        #[source]
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The installation, or the company, is closed while its data is moved (D76). Nothing was
    /// written.
    #[error("the data is being moved: nothing is written meanwhile")]
    Closed,
    /// Messages that an earlier release stored are still being made searchable (R302).
    #[error("messages are still being made searchable")]
    NotSearchable,
    /// The connection broke while a commit was under way: it may have been applied or not.
    #[error("the outcome of a commit is unknown")]
    OutcomeUnknown(#[source] Option<Box<dyn std::error::Error + Send + Sync>>),
    /// A stored value that cannot be read, or a defect of the adapter.
    #[error("the store answered something unexpected: {0}")]
    Corrupt(String),
}

impl StoreError {
    /// An [`StoreError::Unavailable`] with its cause.
    pub fn unavailable(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Unavailable(Some(cause.into()))
    }

    /// An [`StoreError::NotMigrated`] with the function that migrates, and what was found.
    pub fn not_migrated(
        migrate: &'static str,
        cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::NotMigrated { migrate, cause: cause.into() }
    }

    /// An [`StoreError::OutcomeUnknown`] with its cause.
    pub fn outcome_unknown(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::OutcomeUnknown(Some(cause.into()))
    }

    /// An [`StoreError::Corrupt`] that says what was found.
    pub fn corrupt(what: impl std::fmt::Display) -> Self {
        Self::Corrupt(what.to_string())
    }
}
