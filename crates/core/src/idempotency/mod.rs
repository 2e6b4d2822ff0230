//! Repeated calls: the same key and body get the first answer again (D37).

use std::fmt;

use async_trait::async_trait;

use crate::Timestamp;
use crate::ids::{CompanyId, ContactId, WorkerId};
use crate::store::{StoreError, Stored};

/// What a call is remembered by: the operation (method and path) and the caller's key.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallKey {
    /// Method and path.
    pub operation: String,
    /// The `Idempotency-Key`.
    pub key: String,
}

impl fmt::Debug for CallKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallKey({}, ***)", self.operation)
    }
}

/// How far a remembered call is.
#[derive(Clone, PartialEq, Eq)]
pub enum CallState {
    /// A process is at it; when its lease has lapsed, nobody knows how it ended.
    InFlight {
        /// The process.
        worker: WorkerId,
    },
    /// It was answered: the adapter's own form of the answer.
    Answered {
        /// The answer.
        answer: String,
    },
}

impl fmt::Debug for CallState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InFlight { worker } => {
                f.debug_struct("InFlight").field("worker", worker).finish()
            }
            Self::Answered { .. } => f.write_str("Answered(***)"),
        }
    }
}

/// A call that is remembered. Goes with the contact it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RememberedCall {
    /// The company.
    pub company: CompanyId,
    /// What it is remembered by.
    pub key: CallKey,
    /// SHA-256 of the body's bytes.
    pub body_hash: [u8; 32],
    /// How far it is.
    pub state: CallState,
    /// The contact its answer is about.
    pub contact: Option<ContactId>,
    /// From when on it is forgotten.
    pub expires_at: Timestamp,
}

/// Reads of remembered calls.
#[async_trait]
pub trait IdempotencyReads: Send + Sync {
    /// A remembered call, expired or not.
    async fn remembered_call(
        &self,
        company: CompanyId,
        key: &CallKey,
    ) -> Result<Option<Stored<RememberedCall>>, StoreError>;
}
