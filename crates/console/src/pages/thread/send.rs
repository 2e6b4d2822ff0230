//! Sending once for one form, however often it is posted (R425).

use std::sync::atomic::{AtomicU64, Ordering};

use maud::{Markup, html};
use recado_core::idempotency::{Begun, CallKey, hash_of, is_remembered};
use recado_core::ids::ContactId;
use recado_core::{Error, Rejection};
use sha2::{Digest, Sha256};

use crate::refusal::Refusal;
use crate::view::field::FieldErrors;
use crate::visit::Visit;

/// What is remembered of a send that was accepted.
const SENT: &str = "sent";

/// Why a send was refused.
#[derive(Debug)]
pub(super) struct Refused {
    code: String,
    pub(super) errors: FieldErrors,
}

impl Refused {
    pub(super) fn of(rejection: &dyn Rejection) -> Self {
        let code = rejection.code().as_str().to_owned();
        Self { code, errors: FieldErrors::of(rejection) }
    }

    /// The refusal that the first post of a form got, as it was kept.
    fn kept(answer: &str) -> Self {
        let (code, text) = answer.split_once(' ').unwrap_or((answer, ""));
        Self { code: code.to_owned(), errors: FieldErrors::of_whole(text.to_owned()) }
    }

    /// The refusal in words, with the text of the core.
    pub(super) fn show(&self, visit: &Visit, fields: &[&str]) -> Markup {
        html! {
            div.notice.bad role="alert" {
                p { (visit.t("thread-refused")) " "
                    (visit.word_of("thread-refused", &self.code.to_lowercase())) }
            }
            (self.errors.summary(fields))
        }
    }
}

/// R425. A key that no other form has: it is made for every form that is shown.
pub(super) fn new_key(visit: &Visit) -> String {
    static FORMS: AtomicU64 = AtomicU64::new(0);
    let mut hash = Sha256::new();
    hash.update(b"recado console send\0");
    hash.update(visit.session.as_bytes());
    hash.update(visit.recado.now().millis().to_be_bytes());
    hash.update(FORMS.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// The hidden field with a new key.
pub(super) fn key_field(visit: &Visit) -> Markup {
    html! { input type="hidden" name="key" value=(new_key(visit)); }
}

/// A send of a form: of which contact, by what name, with which key.
pub(super) struct Once<'a> {
    pub(super) visit: &'a Visit,
    pub(super) contact: ContactId,
    /// What is sent, such as `reply`.
    pub(super) operation: &'a str,
    pub(super) key: &'a str,
    /// By what two posts with one key are compared.
    pub(super) compared: &'a [u8],
}

impl Once<'_> {
    /// R425. Does a send unless a post with the same key did it before; then its answer is given
    /// again (D37). It goes on when the browser does not wait for the answer.
    pub(super) async fn run<R>(
        self,
        send: impl Future<Output = Result<(), Error<R>>> + Send + 'static,
    ) -> Result<Result<(), Refused>, Refusal>
    where
        R: Rejection + Send + 'static,
    {
        let (recado, company, contact) =
            (self.visit.recado.clone(), self.visit.company.id, self.contact);
        let operation = format!("POST /console/inbox/{contact}/{}", self.operation);
        let key = CallKey::parse(operation, self.key)?;
        let begun = recado.calls().begin(company, key, hash_of(self.compared)).await;
        let ticket = match begun {
            Ok(Begun::Fresh(ticket)) => ticket,
            Ok(Begun::Replay(answer)) if answer == SENT => return Ok(Ok(())),
            Ok(Begun::Replay(answer)) => return Ok(Err(Refused::kept(&answer))),
            Err(Error::Rejected(refused)) => return Ok(Err(Refused::of(&refused))),
            Err(error) => return Err(error.into()),
        };
        let sending = tokio::spawn(async move {
            let sent = send.await;
            let kept = match &sent {
                Ok(()) => Some(SENT.to_owned()),
                Err(Error::Rejected(refused)) if is_remembered(refused) => {
                    Some(format!("{} {refused}", refused.code().as_str()))
                }
                Err(_) => None,
            };
            let about = kept.as_ref().map(|_| contact);
            if let Err(error) = recado.calls().finish(ticket, kept, about).await {
                tracing::warn!(%error, "an answer could not be kept for the key of a form");
            }
            match sent {
                Ok(()) => Ok(Ok(())),
                Err(Error::Rejected(refused)) => Ok(Err(Refused::of(&refused))),
                Err(error) => Err(Refusal::from(error)),
            }
        });
        sending.await.map_err(|error| Refusal::Internal(format!("a send broke off: {error}")))?
    }
}
