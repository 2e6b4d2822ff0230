//! Beginning and finishing calls that carry a key (D37).

use std::convert::Infallible;
use std::future::ready;
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::{CallKey, CallState, RememberedCall};
use crate::code::Code;
use crate::error::{Error, Rejection};
use crate::ids::{CompanyId, ContactId, WorkerId};
use crate::store::{Change, ChangeSet, Conflict, Decided, RecordsExt, StoreError, Stored, Version};
use crate::workers::Worker;
use crate::{Recado, Timestamp};

/// For how long a call is remembered.
pub const KEEP: Duration = Duration::from_hours(24);

/// The use cases on remembered calls. Made by [`Recado::calls`].
#[derive(Clone, Copy, Debug)]
pub struct Calls<'a> {
    pub(crate) app: &'a Recado,
}

impl Recado {
    /// Calls that are remembered by a key.
    pub fn calls(&self) -> Calls<'_> {
        Calls { app: self }
    }
}

/// The right to execute a call, until [`Calls::finish`]. Meanwhile the same key is answered with
/// [`CallError::InProgress`]. If the call is never finished, the key is answered with
/// [`CallError::Uncertain`] once this process has ended.
#[derive(Debug)]
#[must_use = "a call that is never finished blocks its key"]
pub struct Ticket {
    call: Stored<RememberedCall>,
}

/// How a call begins.
#[derive(Debug)]
pub enum Begun {
    /// The call is new: execute it, then finish it.
    Fresh(Ticket),
    /// It was made before: return this answer again and do nothing else.
    Replay(String),
}

/// Why a call cannot begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The key was used with another body.
    #[error("the idempotency key was used with another body")]
    Reused,
    /// The first call is still under way; ask again shortly.
    #[error("the first request with this idempotency key is still in progress")]
    InProgress,
    /// The process that made the first call has ended: its outcome is unknown. It is not executed
    /// again.
    #[error("nobody knows whether the first request with this idempotency key took effect")]
    Uncertain,
}

impl Rejection for CallError {
    fn code(&self) -> Code {
        match self {
            Self::Reused => Code::IdempotencyKeyReused,
            Self::InProgress => Code::RequestInProgress,
            Self::Uncertain => Code::DeliveryUncertain,
        }
    }
}

/// The hash by which bodies are compared: the SHA-256 of the bytes.
pub fn hash_of(body: &[u8]) -> [u8; 32] {
    Sha256::digest(body).into()
}

/// What to do about a remembered call.
#[derive(Clone, Debug, PartialEq, Eq)]
enum RememberedState {
    /// It has expired: it counts as never made.
    Forgotten,
    /// Answer it again.
    Answered(String),
    /// This process, alive or not, was handling it.
    InFlight(WorkerId),
}

/// What a new call with this body does about the remembered one.
fn recall(
    call: &RememberedCall,
    body_hash: &[u8; 32],
    now: Timestamp,
) -> Result<RememberedState, CallError> {
    if call.expires_at <= now {
        return Ok(RememberedState::Forgotten);
    }
    if call.body_hash != *body_hash {
        return Err(CallError::Reused);
    }
    Ok(match &call.state {
        CallState::Answered { answer } => RememberedState::Answered(answer.clone()),
        CallState::InFlight { worker } => RememberedState::InFlight(*worker),
    })
}

impl Calls<'_> {
    /// Begins a call. Of any number that begin at once, in any processes, one gets the ticket
    /// (R40).
    ///
    /// # Errors
    ///
    /// [`CallError`]; nothing is to be done then.
    pub async fn begin(
        &self,
        company: CompanyId,
        key: CallKey,
        body_hash: [u8; 32],
    ) -> Result<Begun, Error<CallError>> {
        self.app.workers().ensure_alive().await?;
        let store = self.app.store();
        let own = self.app.workers().own_id();
        let key = &key;
        let begin = |now: Timestamp| async move {
            let call = RememberedCall {
                company,
                key: key.clone(),
                body_hash,
                state: CallState::InFlight { worker: own },
                contact: None,
                expires_at: now.plus(KEEP),
            };
            let known = store.get::<RememberedCall>((company, key.clone())).await?;
            let (change, version) = match &known {
                None => (Change::insert(call.clone()), Version::FIRST),
                Some(known) => {
                    match recall(known, &body_hash, now).map_err(Error::Rejected)? {
                        RememberedState::Forgotten => {}
                        RememberedState::Answered(answer) => {
                            return Ok(Decided::unchanged(Begun::Replay(answer)));
                        }
                        RememberedState::InFlight(worker) => {
                            return Err(Error::Rejected(self.unfinished(worker, now).await?));
                        }
                    }
                    (known.update(call.clone()), known.version().next())
                }
            };
            let ticket = Ticket { call: Stored::new(call, version) };
            Ok(Decided::new(ChangeSet::new().with(change), Begun::Fresh(ticket)))
        };
        self.app.decide(begin).await
    }

    /// The error for a call that `worker` has begun and not finished.
    async fn unfinished(&self, worker: WorkerId, now: Timestamp) -> Result<CallError, StoreError> {
        if worker == self.app.workers().own_id() {
            return Ok(CallError::InProgress);
        }
        let worker = self.app.store().get::<Worker>(worker).await?;
        let is_alive = worker.is_some_and(|worker| worker.is_alive(now));
        Ok(if is_alive { CallError::InProgress } else { CallError::Uncertain })
    }

    /// Finishes a call: remembers its answer for the rest of its 24 hours, together with the
    /// contact the answer is about, or removes the call when there is nothing to remember. The
    /// answer is deleted with the contact, at once if the contact is deleted already.
    ///
    /// # Errors
    ///
    /// When the store fails: the call then stays in flight.
    pub async fn finish(
        &self,
        ticket: Ticket,
        answer: Option<String>,
        contact: Option<ContactId>,
    ) -> Result<(), StoreError> {
        let call = ticket.call;
        let finished = match answer {
            Some(answer) => {
                let state = CallState::Answered { answer };
                call.update(RememberedCall { state, contact, ..call.value().clone() })
            }
            None => call.delete(),
        };
        let mut change = Some(finished);
        let finish = |_, conflict: Option<Conflict>| {
            match conflict {
                None | Some(Conflict::Contended) => {}
                // It had expired, and was removed or begun anew.
                Some(Conflict::Stale(_)) => change = None,
                // The contact has been deleted meanwhile, and its answers with it.
                Some(_) => change = Some(call.delete()),
            }
            let changes = change.clone().into_iter().fold(ChangeSet::new(), ChangeSet::with);
            ready(Ok(Decided::new(changes, ())))
        };
        Ok(self.app.decide_after::<_, Infallible, _>(finish).await?)
    }
}
