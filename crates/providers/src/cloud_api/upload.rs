//! Files for messages: each is uploaded, and the message names the id that it got (X10, R330).

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use recado_core::gateway::{OutgoingFile, SendFailure};
use recado_core::ids::{ConnectionId, MessageId, UploadId};
use recado_core::messages::DeliveryCode;
use recado_core::transport::{OutboundRequest, OutboundResponse, TransportError};
use serde_json::Value;

use super::answer;
use super::budget::TimeBudget;
use super::settings::ApiSettings;
use crate::shared::{FilePart, parse, transport_text, with_form, word};

/// How often an upload is tried: it sends nothing, so a second time does no harm.
const TRIES: usize = 2;
/// How long the id of an upload is used again. The API keeps a file for 30 days unless somebody
/// deletes it.
const KNOWN_FOR: Duration = Duration::from_hours(1);
/// The most ids that are known; if there are more, all are forgotten.
const MOST_KNOWN: usize = 10_000;
/// The name of a file that has none.
const UNNAMED: &str = "file";

/// A file at a number, with what it was declared as.
#[derive(Clone, PartialEq, Eq, Hash)]
struct FileKey {
    connection: ConnectionId,
    number: String,
    upload: UploadId,
    mimetype: String,
}

/// The ids of files that were uploaded lately: the next messages with the same file, such as those
/// of a campaign, name them again.
#[derive(Default)]
pub(super) struct UploadedFiles(Mutex<HashMap<FileKey, (Duration, String)>>);

impl std::fmt::Debug for UploadedFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UploadedFiles").finish_non_exhaustive()
    }
}

impl UploadedFiles {
    fn known(&self) -> MutexGuard<'_, HashMap<FileKey, (Duration, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, key: &FileKey, now: Option<Duration>) -> Option<String> {
        let known = self.known();
        let (at, id) = known.get(key)?;
        (now?.saturating_sub(*at) < KNOWN_FOR).then(|| id.clone())
    }

    fn learn(&self, key: FileKey, now: Option<Duration>, id: &str) {
        let Some(now) = now else { return };
        let mut known = self.known();
        if known.len() >= MOST_KNOWN && !known.contains_key(&key) {
            known.clear();
        }
        known.insert(key, (now, id.to_owned()));
    }

    /// Forgets a file whose message was not accepted: perhaps the API has it no more.
    pub(super) fn forget(&self, access: &ApiSettings<'_>, file: &OutgoingFile) {
        self.known().remove(&key(access, file));
    }

    /// The id of a file at the API, uploaded now unless that was done lately.
    ///
    /// Nothing is sent by it: every failure means that the message was surely not sent (R330).
    pub(super) async fn id_of(
        &self,
        budget: &TimeBudget<'_>,
        access: &ApiSettings<'_>,
        message: MessageId,
        file: &OutgoingFile,
    ) -> Result<String, SendFailure> {
        let (key, transport) = (key(access, file), budget.transport());
        if let Some(id) = self.find(&key, transport.elapsed()) {
            return Ok(id);
        }
        let mut tries = 0;
        let id = loop {
            tries += 1;
            let request = request(access, message, file).with_timeout(budget.before_the_send());
            let failure = match transport.send(request).await {
                Ok(answer) => match id_in(access, &answer) {
                    Ok(id) => break id,
                    Err(failure) => failure,
                },
                Err(error) => failed(&error),
            };
            // Only what may be better in a moment is tried again.
            let may_pass = matches!(failure, SendFailure::Unreachable(_));
            if !may_pass || tries == TRIES || !budget.allows_another() {
                return Err(failure);
            }
        };
        self.learn(key, transport.elapsed(), &id);
        Ok(id)
    }
}

fn key(access: &ApiSettings<'_>, file: &OutgoingFile) -> FileKey {
    FileKey {
        connection: access.connection,
        number: access.number.to_owned(),
        upload: file.upload,
        mimetype: file.mimetype.clone(),
    }
}

/// The request that uploads a file.
fn request(access: &ApiSettings<'_>, message: MessageId, file: &OutgoingFile) -> OutboundRequest {
    let mimetype = plain_type(&file.mimetype);
    let part = FilePart {
        field: "file",
        filename: file.filename.as_deref().unwrap_or(UNNAMED),
        mimetype,
        file: &file.stored,
    };
    let fields = [("messaging_product", "whatsapp"), ("type", mimetype)];
    with_form(access.upload(), message, &fields, &part)
}

/// A media type without parameters: the API lists `audio/ogg`, whatever its codec.
fn plain_type(mimetype: &str) -> &str {
    mimetype.split(';').next().unwrap_or_default().trim()
}

fn id_in(access: &ApiSettings<'_>, answer: &OutboundResponse) -> Result<String, SendFailure> {
    if !(200..300).contains(&answer.status) {
        return Err(answer::refused_upload(access, answer));
    }
    let body = parse(&answer.body).unwrap_or(Value::Null);
    word(&body, "id").ok_or_else(|| unreachable("the answer to the upload has no id"))
}

/// What a failure of the transport means for an upload: whatever arrived, no message was sent.
fn failed(error: &TransportError) -> SendFailure {
    match SendFailure::of_transport(error) {
        SendFailure::Uncertain(_) => unreachable(&transport_text(error)),
        sure => sure,
    }
}

/// The file did not get there: surely not sent.
pub(super) fn unreachable(said: &str) -> SendFailure {
    let text = format!("the file could not be uploaded: {said}");
    SendFailure::Unreachable(recado_core::messages::Failure::new(DeliveryCode::Network, text))
}
