//! Fetching the files of received messages into the document store (D31a).

use std::convert::Infallible;
use std::time::Duration;

use super::Message;
use super::erase::{remove_file, remove_later};
use super::file_transport::FileTransport;
use super::media_type::{ending_of, mimetype_of};
use crate::connections::Connection;
use crate::documents::{AttachError, MAX_DOCUMENT_BYTES};
use crate::error::Error;
use crate::gateway::{MediaFile, ProviderError};
use crate::ids::{DocumentId, JobId, MessageId};
use crate::jobs::{Job, JobKind};
use crate::store::{ChangeSet, Conflict, Decided, RecordsExt, RowKey, StoreError, Stored};
use crate::transport::OutboundRequest;
use crate::{Recado, Timestamp, text};

/// How long the gateway may take to send a file.
const FETCH_TIMEOUT: Duration = Duration::from_secs(30);
/// How long the job is held: the fetch, in up to two steps, and then storing what came. Gateways
/// may delete files after three minutes: if the process dies, another has to claim the job before
/// that.
const LEASE: Duration = Duration::from_secs(150);
/// The waits after the first failures.
const RETRY_WAITS: [Duration; 5] = [
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_secs(2 * 60),
    Duration::from_secs(10 * 60),
    Duration::from_secs(60 * 60),
];
/// The wait after every further failure.
const LONG_WAIT: Duration = Duration::from_secs(6 * 60 * 60);
/// How long after its message was stored a file is tried for the last time.
const RETRIED_FOR: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Whether a message has a file of which only the gateway has a copy.
pub const fn wants_fetch(message: &Message) -> bool {
    let media = &message.media;
    media.source.is_some() && media.document.is_none() && media.url.is_none()
}

/// The job that fetches the file of a message.
pub fn fetch_job(id: JobId, message: &Message, now: Timestamp) -> Job {
    Job::due_now(id, message.company, JobKind::FetchMedia { message: message.id }, now)
}

/// What to do about a job after an attempt.
enum FetchOutcome {
    /// The file is a document now.
    Attached(DocumentId),
    /// It may work later.
    TryLater,
    /// It never will.
    GiveUp,
}

/// Fetches the file of a message, attaches it to the contact as a document, and finishes the job. A
/// crash after the attaching leaves a document that no message names; it is deleted with the
/// contact (R34).
///
/// # Errors
///
/// When the store fails; the job is taken up again later.
pub(crate) async fn fetch_media_job(
    app: &Recado,
    job: &Stored<Job>,
    id: MessageId,
) -> Result<(), StoreError> {
    let Some(job) = app.hold_job(job, LEASE).await? else { return Ok(()) };
    let found = app.store().messages(job.company, &[id]).await?.into_iter().next();
    let Some(message) = found.filter(|message| wants_fetch(message)) else {
        return app.close_job(ChangeSet::new().with(job.delete())).await;
    };
    match fetch(app, &message).await? {
        FetchOutcome::Attached(document) => end_fetch(app, &job, &message, Some(document)).await,
        FetchOutcome::GiveUp => end_fetch(app, &job, &message, None).await,
        FetchOutcome::TryLater => match postponed(&job, app.now()) {
            Some(later) => app.close_job(ChangeSet::new().with(job.update(later))).await,
            None => end_fetch(app, &job, &message, None).await,
        },
    }
}

/// The message once its file was fetched as this document, or given up: then nothing is left that a
/// link could lead to (D31a).
fn with_result(message: &Message, document: Option<DocumentId>) -> Message {
    let mut ended = message.clone();
    match document {
        Some(document) => ended.media.document = Some(document),
        None => ended.media.source = None,
    }
    ended
}

/// The job after one more failure; `None` a week after its message was stored, which it was made
/// with (R34).
fn postponed(job: &Job, now: Timestamp) -> Option<Job> {
    let end = job.created_at.plus(RETRIED_FOR);
    let wait = RETRY_WAITS.get(job.attempts as usize).copied().unwrap_or(LONG_WAIT);
    let attempts = job.attempts.saturating_add(1);
    let later =
        Job { attempts, due_at: now.plus(wait).min(end), leased_until: None, ..job.clone() };
    (now < end).then_some(later)
}

async fn fetch(app: &Recado, message: &Message) -> Result<FetchOutcome, StoreError> {
    let Some(source) = &message.media.source else { return Ok(FetchOutcome::GiveUp) };
    let bytes = match locate(app, message, source).await? {
        Ok(MediaFile::Bytes(bytes)) => bytes,
        Ok(MediaFile::At(address)) => match download(app, &address).await {
            Ok(bytes) => bytes,
            Err(outcome) => return Ok(outcome),
        },
        Ok(MediaFile::Gone) => return Ok(FetchOutcome::GiveUp),
        Err(ProviderError::Unsupported | ProviderError::Failed(_)) => {
            return Ok(FetchOutcome::TryLater);
        }
    };
    let filename = filename(message);
    let attached = app.documents().attach(message.company, message.contact, &filename, bytes).await;
    match attached {
        Ok(document) => Ok(FetchOutcome::Attached(document.id)),
        // The contact may have been merged into another or deleted. At the next attempt the message
        // belongs to the other contact, or is deleted.
        Err(Error::Rejected(AttachError::Files(_) | AttachError::NotFound) | Error::Busy) => {
            Ok(FetchOutcome::TryLater)
        }
        Err(Error::Rejected(_) | Error::Denied(_)) => Ok(FetchOutcome::GiveUp),
        Err(Error::Store(error)) => Err(error),
    }
}

/// Asks the gateway of a message's connection for its file.
async fn locate(
    app: &Recado,
    message: &Message,
    source: &str,
) -> Result<Result<MediaFile, ProviderError>, StoreError> {
    let connection = app.store().get::<Connection>((message.company, message.connection)).await?;
    let provider = connection.as_ref().and_then(|found| app.provider(&found.gateway));
    let Some((connection, provider)) = connection.zip(provider) else {
        return Ok(Ok(MediaFile::At(source.to_owned())));
    };
    let transport = FileTransport::of(app, &connection);
    Ok(provider.media(&transport, &connection, source, MAX_DOCUMENT_BYTES).await)
}

/// Downloads the file at an address that a gateway gave.
async fn download(app: &Recado, address: &str) -> Result<Vec<u8>, FetchOutcome> {
    // One byte more than the limit, so that a larger file is noticed and not cut off.
    let request = OutboundRequest::get(address)
        .with_timeout(FETCH_TIMEOUT)
        .with_answer_limit(MAX_DOCUMENT_BYTES + 1);
    match app.transport().send(request).await {
        Ok(answer) if answer.status == 200 => Ok(answer.body),
        // Whoever keeps it says that it will not come back; 404 may only mean not yet.
        Ok(answer) if answer.status == 410 => Err(FetchOutcome::GiveUp),
        Ok(_) | Err(_) => Err(FetchOutcome::TryLater),
    }
}

/// Writes into the message what became of its file and ends the job, again after a conflict.
async fn end_fetch(
    app: &Recado,
    job: &Stored<Job>,
    message: &Stored<Message>,
    document: Option<DocumentId>,
) -> Result<(), StoreError> {
    let written = app.decide_after::<_, Infallible, _>(|_, conflict| async move {
        let mut message = message.clone();
        if let Some(conflict) = conflict {
            let again = app.store().messages(job.company, &[message.id]).await?.into_iter().next();
            let is_lost = matches!(conflict, Conflict::Stale(RowKey::Job { .. }));
            match again.filter(|message| wants_fetch(message) && !is_lost) {
                Some(changed) => message = changed,
                // Another process has the job now, or the contact was deleted with its documents.
                None => return Ok(Decided::unchanged(false)),
            }
        }
        let after = with_result(&message, document);
        Ok(Decided::new(ChangeSet::new().with(message.update(after)).with(job.delete()), true))
    });
    match written.await {
        Ok(true) => Ok(()),
        Err(Error::Store(error)) => Err(error),
        Ok(false) | Err(_) => {
            let now = app.store().messages(job.company, &[message.id]).await?.pop();
            if let Some((document, erased)) = document.zip(now.filter(|now| now.is_erased()))
                && !remove_file(app, job, document).await?
            {
                remove_later(app, &erased, document).await?;
            }
            app.close_job(ChangeSet::new().with(job.delete())).await
        }
    }
}

/// The name of a message's file: the given one, made valid for a document, or one made from the
/// message's type; it has the ending of its media type.
fn filename(message: &Message) -> String {
    let given = message.media.filename.as_deref().unwrap_or_default();
    let fit: String = given
        .chars()
        .map(|c| if c.is_control() || c == '/' || c == '\\' { '_' } else { c })
        .collect();
    let ending = message.media.mimetype.as_deref().and_then(ending_of);
    let stem = match fit.trim() {
        "" => message.message_type.as_str(),
        stem => stem,
    };
    match ending {
        Some(ending) if mimetype_of(stem).is_none() => {
            let room = text::SHORT - ending.len() - 1;
            let stem: String = stem.chars().take(room).collect();
            format!("{}.{ending}", stem.trim_end())
        }
        _ => shortened(stem),
    }
}

/// The name within the length of a document's name, with its ending kept.
fn shortened(name: &str) -> String {
    let excess = name.chars().count().saturating_sub(text::SHORT);
    match name.rsplit_once('.') {
        Some((stem, ending)) if excess > 0 && ending.len() < 20 => {
            let kept = stem.chars().count().saturating_sub(excess);
            let stem: String = stem.chars().take(kept).collect();
            format!("{stem}.{ending}")
        }
        _ => name.chars().take(text::SHORT).collect(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::super::samples::{at, message};
    use super::super::{Direction, MessageType};
    use super::*;

    fn named(name: Option<&str>, mimetype: Option<&str>) -> String {
        let mut message = message(Direction::Inbound, at(0));
        message.message_type = MessageType::Image;
        message.media.filename = name.map(str::to_owned);
        message.media.mimetype = mimetype.map(str::to_owned);
        filename(&message)
    }

    /// R34.
    #[test]
    fn a_file_keeps_its_name_and_gets_one_where_it_has_none() {
        assert_eq!(named(Some("Nota fiscal.pdf"), Some("application/pdf")), "Nota fiscal.pdf");
        assert_eq!(named(Some("foto"), Some("image/jpeg")), "foto.jpg");
        assert_eq!(named(None, Some("image/png")), "image.png");
        assert_eq!(named(Some("  "), None), "image");
        assert_eq!(named(Some("../etc/pass\\wd\n"), None), ".._etc_pass_wd_");
        let long = "a".repeat(300);
        let name = named(Some(&format!("{long}.pdf")), None);
        assert_eq!((name.len(), name.ends_with("a.pdf")), (200, true));
    }

    /// R34.
    #[test]
    fn a_name_that_is_cut_keeps_an_ending_of_less_than_twenty_bytes() {
        for (bytes, is_kept) in [(19, true), (20, false)] {
            let ending = format!(".{}", "z".repeat(bytes));
            let name = named(Some(&format!("{}{ending}", "a".repeat(300))), None);
            assert_eq!((name.len(), name.ends_with(&ending)), (200, is_kept), "{bytes}");
        }
    }

    /// D31a.
    #[test]
    fn a_file_that_was_given_up_leaves_nothing_to_fetch_or_to_link_to() {
        let mut before = message(Direction::Inbound, at(0));
        before.media.source = Some("https://gateway.example/1".to_owned());
        let document = DocumentId::new(Uuid::from_u128(1));
        let (there, gone) = (with_result(&before, Some(document)), with_result(&before, None));
        assert_eq!((there.media.document, there.media.source.is_some()), (Some(document), true));
        assert_eq!((gone.media.document, gone.media.source.as_ref()), (None, None));
        assert!(!wants_fetch(&there) && !wants_fetch(&gone));
    }

    #[test]
    fn only_a_file_that_lies_with_the_gateway_alone_is_fetched() {
        let mut message = message(Direction::Inbound, at(0));
        assert!(!wants_fetch(&message));
        message.media.source = Some("https://gateway.example/1".to_owned());
        assert!(wants_fetch(&message));
        message.media.document = Some(DocumentId::new(Uuid::from_u128(1)));
        assert!(!wants_fetch(&message));
        message.media.document = None;
        message.media.url = Some("https://cdn.example/1".to_owned());
        assert!(!wants_fetch(&message));
    }

    /// R34.
    #[test]
    fn a_failing_fetch_is_tried_for_a_week_and_then_given_up() {
        let message = message(Direction::Inbound, at(0));
        let mut job = fetch_job(JobId::new(Uuid::from_u128(7)), &message, at(0));
        let mut waits = Vec::new();
        while let Some(later) = postponed(&job, job.due_at) {
            waits.push(later.due_at.since(job.due_at).as_secs());
            job = later;
        }
        let (last, others) = waits.split_last().unwrap();
        assert_eq!(others[..5], [5, 30, 120, 600, 3_600]);
        assert!(others[5..].iter().all(|wait| *wait == 6 * 3_600), "{others:?}");
        assert!(*last <= 6 * 3_600, "{last}");
        assert_eq!(job.due_at.since(at(0)).as_secs(), 7 * 24 * 3_600);
    }

    proptest! {
        #[test]
        fn every_name_is_fit_for_a_document(
            name in prop::option::of(any::<String>()),
            long in "[a-zé.]{0,300}",
            mimetype in prop::option::of("(image/jpeg|audio/ogg; codecs=opus|x/y)"),
        ) {
            let name = name.map(|name| name + &long);
            let made = named(name.as_deref(), mimetype.as_deref());
            let chars = made.chars().count();
            prop_assert!((1..=text::SHORT).contains(&chars), "{chars}");
            prop_assert!(!made.trim().is_empty());
            prop_assert!(!made.chars().any(|c| c.is_control() || matches!(c, '/' | '\\')));
        }
    }
}
