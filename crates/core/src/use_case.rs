//! One use case: what it reads, and the pure decision on what was read.

use async_trait::async_trait;

use crate::clock::Timestamp;
use crate::store::{Decided, Reads, StoreError};

/// One use case: what it reads, and the pure decision on what was read.
///
/// Everything random (ids, secrets) is made before and kept in `self`, so that deciding again after
/// a conflict has the same result.
#[async_trait]
pub trait UseCase: Send + Sync {
    /// What was read.
    type Loaded: Send;
    /// The answer.
    type Output: Send;
    /// The refusal.
    type Error: Send;

    /// Reads what the decision needs.
    async fn load(&self, store: &dyn Reads) -> Result<Self::Loaded, StoreError>;

    /// Decides; pure.
    ///
    /// # Errors
    ///
    /// The refusal. Nothing is written.
    fn decide(
        &self,
        loaded: Self::Loaded,
        now: Timestamp,
    ) -> Result<Decided<Self::Output>, Self::Error>;
}
