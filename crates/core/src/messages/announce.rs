//! The event of a message whose content the channel announced as late, if the content has not come
//! in time (X5).

use std::time::Duration;

use super::event_blocks::EventContact;
use super::events::{message_received, message_sent};
use super::{Direction, Message};
use crate::connections::Connection;
use crate::contacts::Contact;
use crate::ids::{EventId, JobId, MessageId};
use crate::jobs::{Job, JobKind};
use crate::store::{ChangeSet, RecordsExt, StoreError, Stored};
use crate::{Recado, Timestamp};

/// How long the content may take until the message is reported without it (X5).
const WAITED: Duration = Duration::from_secs(60);

/// The job that reports a message without its content. The commit that brings the content deletes
/// it. As long as it exists, no event about the message was written.
pub(crate) fn announce_job(id: JobId, message: &Message, now: Timestamp) -> Job {
    let kind = JobKind::AnnounceLate { message: message.id };
    Job { due_at: now.plus(WAITED), ..Job::due_now(id, message.company, kind, now) }
}

/// Reports a message whose content has not come, and finishes the job. If the content comes at the
/// same moment, one of the two commits fails, so one event is written.
///
/// # Errors
///
/// When the store fails; the job is taken up again later.
pub(crate) async fn announce_late_job(
    app: &Recado,
    job: &Stored<Job>,
    id: MessageId,
) -> Result<(), StoreError> {
    let store = app.store();
    let end = ChangeSet::new().with(job.delete());
    let Some(message) = store.messages(job.company, &[id]).await?.pop() else {
        return app.close_job(end).await;
    };
    let contact = store.get::<Contact>((job.company, message.contact)).await?;
    let connection = store.get::<Connection>((job.company, message.connection)).await?;
    let Some((contact, connection)) = contact.zip(connection) else {
        return app.close_job(end).await;
    };
    let links = &app.media_links().await?;
    let now = app.now();
    let (event, shown) = (EventId::new(app.uuid(now)), EventContact::Known(&contact));
    let event = match message.direction {
        Direction::Inbound => message_received(event, &message, shown, &connection, now, links),
        Direction::Outbound => message_sent(event, &message, shown, &connection, now, links),
    };
    let unchanged = end.require(message.unchanged()).require(contact.unchanged());
    app.close_job(unchanged.emit(event)).await
}
