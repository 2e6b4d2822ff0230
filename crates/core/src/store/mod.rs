//! The interface between the core and a database: [`Records`] for reading rows of any kind, queries
//! by feature, one atomic [`Commit`], and [`Claims`] for queues.
//!
//! # Contract
//!
//! Every store keeps these promises; the conformance suite of `recado-testkit` has a test for each.
//!
//! 1. `commit` applies every change, precondition and event of a set, or none of them, and answers
//!    `Ok` only when the result survives a crash of the process and of the machine.
//! 2. An insert of a row whose unique key is held answers [`Conflict::Taken`] naming the key.
//! 3. An update or delete of a row whose version is no longer the one that was read answers
//!    [`Conflict::Stale`]; so does one of a row that is gone.
//! 4. A precondition that does not hold answers [`Conflict::Stale`], or the conflict that it names,
//!    and holds until the commit is visible: no concurrent commit can break it in between.
//! 5. A row that refers to a missing row, and a delete of a row that others still refer to, answer
//!    [`Conflict::Reference`].
//! 6. Deleting a contact deletes its memberships, tags, deals, links, clicks, aliases,
//!    conversations, messages with their references, dispatch windows, lead memory and the calls
//!    remembered about it; its ledger lines and recipients of campaigns stay, without it, and the
//!    lines without their descriptions. Deleting a campaign deletes its recipients. Deleting a list
//!    or a tag deletes its memberships; deleting a member deletes its login, one-time link and
//!    sessions; deleting a connection deletes its groups, the unknown kinds
//!    of events and the reports kept for it, and is refused while messages, conversations or
//!    templates refer to it. Documents, jobs, events and deliveries are never deleted by another
//!    row's deletion.
//! 7. A committed change is seen by every read that begins after `commit` answered, in any process.
//! 8. Reads and writes are bound to one company; a row of another company is as good as missing.
//! 9. An insert starts at version 1 and each update adds 1.
//! 10. Events and deliveries get positions in the order in which a change set holds them; of two
//!     commits that write the same row, the later one's positions are higher.
//! 11. A set that reassigns what belongs to a contact and deletes the contact loses nothing that
//!     others store for it at the same time: what they store is moved, too, or refused with
//!     [`Conflict::Reference`].

#[macro_use]
mod kinds;
#[macro_use]
mod reads;

mod change;
mod conflict;
mod cutoffs;
mod error;
mod key;
mod records;
mod references;
mod row;
mod stored;
#[doc(hidden)]
pub mod stubs;
mod unique;

use async_trait::async_trait;

pub use change::{Change, ChangeKind, ChangeSet, Collection, Decided, Precondition, UpdatedPart};
pub use conflict::{CommitError, Conflict, UniqueKey};
pub use cutoffs::Cutoffs;
pub use error::StoreError;
pub use key::{RowKey, RowKind};
pub use records::{Listed, Listing, ManyRows, Records, RecordsExt, Removable};
pub use references::{OnDelete, REFERENCES, Reference};
pub use row::{Record, Row, WrongKind};
pub use stored::{Stored, Version};
pub use unique::{UNIQUE, Unique, UniqueValue};

use crate::Timestamp;
use crate::access::AccessReads;
use crate::accounts::AccountReads;
use crate::campaigns::CampaignReads;
use crate::connections::ConnectionReads;
use crate::contacts::ContactReads;
use crate::conversations::ConversationReads;
use crate::custom_fields::CustomFieldReads;
use crate::deals::DealReads;
use crate::deliveries::{DeliveryReads, DueReads, Signals};
use crate::dispatches::DispatchReads;
use crate::documents::DocumentReads;
use crate::events::{EventReads, Outbox};
use crate::figures::FigureReads;
use crate::groups::GroupReads;
use crate::inbound::InboundReads;
use crate::jobs::{Job, JobReads};
use crate::links::LinkReads;
use crate::lists::ListReads;
use crate::messages::MessageReads;
use crate::prosas::LedgerReads;
use crate::templates::TemplateReads;
use crate::webhooks::WebhookReads;

/// All reads that use cases need.
pub trait Reads:
    Records
    + AccessReads
    + AccountReads
    + CampaignReads
    + ConnectionReads
    + ContactReads
    + ConversationReads
    + CustomFieldReads
    + DealReads
    + DeliveryReads
    + DispatchReads
    + DocumentReads
    + EventReads
    + FigureReads
    + GroupReads
    + InboundReads
    + JobReads
    + LedgerReads
    + LinkReads
    + ListReads
    + MessageReads
    + TemplateReads
    + WebhookReads
{
}

impl<T> Reads for T where
    T: Records
        + AccessReads
        + AccountReads
        + CampaignReads
        + ConnectionReads
        + ContactReads
        + ConversationReads
        + CustomFieldReads
        + DealReads
        + DeliveryReads
        + DispatchReads
        + DocumentReads
        + EventReads
        + FigureReads
        + GroupReads
        + InboundReads
        + JobReads
        + LedgerReads
        + LinkReads
        + ListReads
        + MessageReads
        + TemplateReads
        + WebhookReads
        + ?Sized
{
}

/// The only way to write.
#[async_trait]
pub trait Commit: Send + Sync {
    /// Applies every change and event of the set, or none of them.
    ///
    /// # Errors
    ///
    /// [`CommitError::Conflict`] when a row that was read has changed: nothing was applied; read
    /// and decide again. [`CommitError::Store`] when the database failed.
    async fn commit(&self, changes: ChangeSet) -> Result<(), CommitError>;
}

/// Queues: select due rows and lease them in one step.
#[async_trait]
pub trait Claims: Send + Sync {
    /// Leases up to `limit` jobs that are due at `now` and not leased beyond it, oldest `due_at`
    /// first; none whose [name](crate::jobs::JobKind::name) is in `except`, and none while the
    /// installation or the job's company is closed ([`Precondition::Open`]). A claimed job has
    /// `leased_until` set and its version raised; no other caller gets it until the lease lapses.
    /// The outcome is an ordinary commit on the claimed version.
    async fn claim_jobs(
        &self,
        now: Timestamp,
        leased_until: Timestamp,
        limit: u32,
        except: &[&'static str],
    ) -> Result<Vec<Stored<Job>>, StoreError>;
}

/// Housekeeping that changes no answer.
#[async_trait]
pub trait Upkeep: Send + Sync {
    /// Whether the database can be reached, has the current schema, and what writes to it in this
    /// process lives (for readiness probes, and at the start). It is cheap and writes nothing. A
    /// database without the schema is [`StoreError::NotMigrated`].
    async fn ready(&self) -> Result<(), StoreError>;

    /// Bounded housekeeping: folds counters; drops lapsed rate-limit state, and the status reports,
    /// traces of forgotten messages, remembered calls, dispatch windows, workers and unknown kinds
    /// of events that are older than [`Cutoffs::at`] `now` says. Call it every few seconds; a
    /// missed call only makes other calls slower.
    async fn upkeep(&self, now: Timestamp) -> Result<(), StoreError>;
}

/// A database.
pub trait Store: Reads + Commit + Claims + Upkeep + DueReads + Outbox + Signals {}

impl<T> Store for T where T: Reads + Commit + Claims + Upkeep + DueReads + Outbox + Signals + ?Sized {}
