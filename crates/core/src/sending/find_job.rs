//! Which messages can be searched for, and the job of the search (D28).

use std::time::Duration;

use crate::Timestamp;
use crate::connections::{Capability, Connection};
use crate::gateway::Providers;
use crate::ids::JobId;
use crate::jobs::{Job, JobKind};
use crate::messages::{Failure, Message};

/// The waits before each search; after the last one the message stays uncertain (R110).
pub(super) const WAITS: [Duration; 4] = [
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_secs(2 * 60),
    Duration::from_secs(10 * 60),
];

/// Whether a search through its connection may find a message's outcome, whatever its kind (R110).
pub(super) fn can_be_found(
    connection: &Connection,
    message: &Message,
    gateways: &Providers,
) -> bool {
    let uncertain = message.failure.as_ref().is_some_and(Failure::is_uncertain);
    let finds = gateways.can(connection, Capability::FindSent);
    finds && uncertain && message.provider_id.is_none()
}

/// The job that searches for a message.
pub(super) fn find_job(id: JobId, message: &Message, now: Timestamp) -> Job {
    let kind = JobKind::FindSent { message: message.id };
    let job = Job::due_now(id, message.company, kind, now);
    Job { due_at: now.plus(WAITS[0]), ..job }
}
