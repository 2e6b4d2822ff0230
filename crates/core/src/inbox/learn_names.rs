//! Asking a gateway for the phone of a sender whose name hides it (D15, D62). The message is stored
//! at once, and the phone is determined afterwards.

use std::time::Duration;

use super::InboxError;
use super::workspace::Workspace;
use crate::connections::{Capability, Connection};
use crate::conversations::{ChannelContact, ChannelQuery};
use crate::error::Error;
use crate::gateway::{GatewayEvent, NamesReport, ProviderError};
use crate::ids::{ContactId, JobId, MessageId};
use crate::jobs::{Job, JobKind};
use crate::messages::Message;
use crate::store::{ChangeSet, RecordsExt, StoreError, Stored};
use crate::{Recado, Timestamp};

/// The ending of names that hide the phone.
const LID: &str = "@lid";
/// The waits after a failure; after one more failure it is not tried again until the next message.
const RETRY_WAITS: [Duration; 4] = [
    Duration::from_secs(5),
    Duration::from_secs(60),
    Duration::from_secs(10 * 60),
    Duration::from_secs(60 * 60),
];
/// How much longer than the connection's timeout the lease of one question is.
const LEASE: Duration = Duration::from_secs(30);

impl Workspace<'_> {
    /// Queues a job that asks the gateway for the contact's phone, if the event did not report it;
    /// one job for several messages of a batch (R130).
    pub(super) fn ask_names(&mut self, index: usize, peer: &str, message: &Message, id: JobId) {
        let hidden = peer.ends_with(LID) && self.gateways.can(self.connection, Capability::Names);
        let person = self.people.as_ref().and_then(|people| people.get(index));
        let unknown = person.is_some_and(|person| person.contact.now.phone.is_none());
        if !hidden || !unknown || self.is_asking(message.contact) {
            return;
        }
        let kind = JobKind::LearnNames { message: message.id };
        self.work(Job::due_now(id, message.company, kind, self.now));
    }

    fn is_asking(&self, contact: ContactId) -> bool {
        self.jobs().iter().any(|job| match &job.kind {
            JobKind::LearnNames { message } => {
                self.message(*message).is_some_and(|asked| asked.contact == contact)
            }
            _ => false,
        })
    }
}

/// Asks the gateway of a message's connection for the phone of the message's contact, and finishes
/// the job.
///
/// # Errors
///
/// When the store fails; the job is taken up again later.
pub(crate) async fn learn_names_job(
    app: &Recado,
    job: &Stored<Job>,
    id: MessageId,
) -> Result<(), StoreError> {
    let end = || ChangeSet::new().with(job.delete());
    let Some((connection, name)) = hidden_name(app, job, id).await? else {
        return app.close_job(end()).await;
    };
    let Some(provider) = app.provider(&connection.gateway) else {
        return app.close_job(end()).await;
    };
    let lease = connection.settings.timeout() + LEASE;
    let Some(job) = app.hold_job(job, lease).await? else { return Ok(()) };
    let change = match provider.names(app.gateway_transport(), &connection, &name).await {
        Ok(aliases) => {
            if !aliases.is_empty() {
                report(app, &connection, NamesReport::new(name, aliases)).await?;
            }
            job.delete()
        }
        Err(ProviderError::Unsupported) => job.delete(),
        Err(ProviderError::Failed(_)) => match postponed(&job, app.now()) {
            Some(later) => job.update(later),
            None => job.delete(),
        },
    };
    app.close_job(ChangeSet::new().with(change)).await
}

/// The name whose phone is needed, and the connection to ask; `None` if the phone is known or
/// cannot be asked for.
async fn hidden_name(
    app: &Recado,
    job: &Job,
    id: MessageId,
) -> Result<Option<(Stored<Connection>, String)>, StoreError> {
    let store = app.store();
    let Some(message) = store.messages(job.company, &[id]).await?.pop() else { return Ok(None) };
    let query = ChannelQuery { ids: vec![message.contact], ..ChannelQuery::default() };
    let Some(found) = store.channel_contacts(job.company, &query).await?.pop() else {
        return Ok(None);
    };
    if found.contact.phone.is_some() {
        return Ok(None);
    }
    let connection = store.get::<Connection>((job.company, message.connection)).await?;
    Ok(connection.zip(lid_of(&found, &message)))
}

/// The LID of a contact: the one on the message's connection, else any.
fn lid_of(found: &ChannelContact, message: &Message) -> Option<String> {
    let here = found.conversations.iter().filter(|known| known.connection == message.connection);
    let called = here.map(|conversation| conversation.identifier.as_str());
    let own = std::iter::once(found.contact.identifier.as_str());
    let aliases = found.aliases.iter().map(crate::contacts::ChannelKey::as_str);
    called.chain(own).chain(aliases).find(|name| name.ends_with(LID)).map(str::to_owned)
}

/// Processes the answer as an event of the gateway.
async fn report(
    app: &Recado,
    connection: &Connection,
    names: NamesReport,
) -> Result<(), StoreError> {
    let event = GatewayEvent::Names(names);
    match app.inbox().receive(connection.company, connection.id, vec![Ok(event)]).await {
        Ok(_) | Err(Error::Rejected(InboxError::NotFound) | Error::Denied(_)) => Ok(()),
        Err(Error::Busy | Error::Rejected(InboxError::ContactStateUnavailable)) => {
            Err(StoreError::Unavailable(None))
        }
        Err(Error::Store(error)) => Err(error),
    }
}

/// The job after one more failure; `None` when it failed often enough.
fn postponed(job: &Job, now: Timestamp) -> Option<Job> {
    let wait = RETRY_WAITS.get(job.attempts as usize)?;
    let attempts = job.attempts.saturating_add(1);
    Some(Job { attempts, due_at: now.plus(*wait), leased_until: None, ..job.clone() })
}
