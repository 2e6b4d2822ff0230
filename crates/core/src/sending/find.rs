//! Searching the gateway for a message whose send has an unknown outcome (D28, D36). It is never
//! sent again, but if the gateway can be searched and has it, that proves that it was sent.

use std::time::Duration;

use super::address::{ChannelAddress, address_of};
use super::find_job::{WAITS, can_be_found};
use crate::connections::Connection;
use crate::error::Error;
use crate::gateway::{Accepted, Content, GatewayEvent, Lookup, NamesReport, Outgoing, StatusEvent};
use crate::ids::MessageId;
use crate::inbox::InboxError;
use crate::jobs::Job;
use crate::messages::{Failure, Message, MessageStatus};
use crate::store::{ChangeSet, RecordsExt, StoreError, Stored};
use crate::{Recado, Timestamp};

/// How much longer than the connection's timeout the lease of one search is.
const LEASE: Duration = Duration::from_secs(30);

/// Searches for a message and finishes the job.
///
/// # Errors
///
/// When the store fails; the job is taken up again later.
pub(crate) async fn find_sent_job(
    app: &Recado,
    job: &Stored<Job>,
    id: MessageId,
) -> Result<(), StoreError> {
    let end = || ChangeSet::new().with(job.delete());
    let Some(message) = uncertain(app, job, id).await? else { return app.close_job(end()).await };
    let connection = app.store().get::<Connection>((job.company, message.connection)).await?;
    let Some(connection) =
        connection.filter(|found| can_be_found(found, &message, app.providers()))
    else {
        return app.close_job(end()).await;
    };
    let lease = connection.settings.timeout() + LEASE;
    let Some(job) = app.hold_job(job, lease).await? else { return Ok(()) };
    if let Some(proof) = ask_gateway(app, &connection, &message).await? {
        prove(app, &message, proof).await?;
    }
    let change = match uncertain(app, &job, id).await?.and_then(|_| next(&job, app.now())) {
        Some(later) => job.update(later),
        None => job.delete(),
    };
    app.close_job(ChangeSet::new().with(change)).await
}

/// The message, if it is still unknown whether it arrived.
async fn uncertain(
    app: &Recado,
    job: &Job,
    id: MessageId,
) -> Result<Option<Stored<Message>>, StoreError> {
    let found = app.store().messages(job.company, &[id]).await?.pop();
    Ok(found.filter(|message| {
        let uncertain = message.failure.as_ref().is_some_and(Failure::is_uncertain);
        message.status == MessageStatus::Failed && uncertain
    }))
}

/// A gateway's answer that it has a message.
struct Proof {
    accepted: Accepted,
    /// The recipient's name in the search.
    called: String,
}

async fn ask_gateway(
    app: &Recado,
    connection: &Connection,
    message: &Message,
) -> Result<Option<Proof>, StoreError> {
    let Some(provider) = app.provider(&connection.gateway) else { return Ok(None) };
    let Some(address) = address_of(app.store(), message.contact, connection).await? else {
        return Ok(None);
    };
    let ChannelAddress { recipient, group, .. } = address;
    let content = Content::Text(message.written().clone().unwrap_or_default());
    let outgoing = Outgoing { group, ..Outgoing::new(message.id, recipient, content) };
    let lookup = Lookup::new(outgoing, message.message_type, message.created_at);
    let found = provider.find_sent(app.gateway_transport(), connection, &lookup).await;
    let Lookup { outgoing, .. } = lookup;
    Ok(found.ok().flatten().map(|accepted| Proof { accepted, called: outgoing.recipient }))
}

/// Records that the gateway has the message, as a status report would, and the recipient's name at
/// the gateway.
async fn prove(app: &Recado, message: &Message, proof: Proof) -> Result<(), StoreError> {
    let Proof { accepted, called } = proof;
    let names: Vec<String> = accepted.recipient.into_iter().chain(accepted.aliases).collect();
    let event = GatewayEvent::Status(StatusEvent {
        provider_id: accepted.provider_id,
        reference: Some(message.id),
        status: MessageStatus::Sent,
        failure: None,
        timestamp: None,
        names: Vec::new(),
    });
    let mut events = vec![Ok(event)];
    if !names.is_empty() {
        events.push(Ok(GatewayEvent::Names(NamesReport { peer: called, aliases: names })));
    }
    match app.inbox().receive(message.company, message.connection, events).await {
        Ok(_) | Err(Error::Rejected(InboxError::NotFound) | Error::Denied(_) | Error::Busy) => {
            Ok(())
        }
        Err(Error::Rejected(InboxError::ContactStateUnavailable)) => {
            Err(StoreError::Unavailable(None))
        }
        Err(Error::Store(error)) => Err(error),
    }
}

/// The job of the next search; `None` after the last one.
fn next(job: &Job, now: Timestamp) -> Option<Job> {
    let attempts = job.attempts.saturating_add(1);
    let wait = WAITS.get(attempts as usize)?;
    Some(Job { attempts, due_at: now.plus(*wait), leased_until: None, ..job.clone() })
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::ids::CompanyId;
    use crate::ids::JobId;
    use crate::jobs::JobKind;

    /// R110.
    #[test]
    fn a_message_is_looked_for_four_times() {
        let now = Timestamp::from_millis(1_763_000_000_000);
        let kind = JobKind::FindSent { message: MessageId::new(Uuid::from_u128(1)) };
        let (id, company) = (JobId::new(Uuid::from_u128(2)), CompanyId::new(Uuid::from_u128(3)));
        let mut job = Job::due_now(id, company, kind, now);
        let mut waits = Vec::new();
        while let Some(later) = next(&job, now) {
            waits.push(later.due_at.since(now).as_secs());
            job = later;
        }
        assert_eq!(waits, [30, 120, 600]);
    }
}
