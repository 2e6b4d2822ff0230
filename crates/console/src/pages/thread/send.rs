//! Sending once for one form, however often it is posted (R425).

use std::sync::atomic::{AtomicU64, Ordering};

use maud::{Markup, html};
use recado_core::idempotency::{Begun, CallKey, hash_of, is_remembered};
use recado_core::ids::ContactId;
use recado_core::{Code, Error, Rejection};
use sha2::{Digest, Sha256};

use crate::i18n::{Language, Refused as Said};
use crate::refusal::Refusal;
use crate::view::field::FieldErrors;
use crate::visit::Visit;

/// What is remembered of a send that was accepted.
const SENT: &str = "sent";

/// Why a send was refused.
#[derive(Debug)]
pub(super) struct Refused {
    code: Code,
    pub(super) errors: FieldErrors,
}

impl Refused {
    pub(super) fn of(language: Language, rejection: &dyn Rejection) -> Self {
        let said = Said::of(rejection);
        let (code, whole) = (said.code, said.sentence(language));
        let mut errors = FieldErrors::of(language, rejection);
        // The words of the code stand above.
        errors.whole = errors.whole.and(whole.map(str::to_owned));
        Self { code, errors }
    }

    /// The refusal that the first post of a form got, as it was kept.
    fn kept(language: Language, answer: &str) -> Self {
        let (code, text) = answer.split_once(' ').unwrap_or((answer, ""));
        let code = Code::ALL.iter().copied().find(|known| known.as_str() == code);
        let said = Said::told(code.unwrap_or(Code::InternalError), text);
        let whole = said.sentence(language);
        let errors = whole.map(|text| FieldErrors::of_whole(text.to_owned())).unwrap_or_default();
        Self { code: said.code, errors }
    }

    fn words(&self, visit: &Visit) -> String {
        match self.code {
            Code::ProviderError => visit.t("thread-refused-provider-error"),
            code => visit.language.code(code),
        }
    }

    /// R421. The refusal in words, with the text of the core where it is in the page's language.
    pub(super) fn show(&self, visit: &Visit, fields: &[&str]) -> Markup {
        html! {
            div.notice.bad role="alert" {
                p { (visit.t("thread-refused")) " " (self.words(visit)) }
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
        let language = self.visit.language;
        let operation = format!("POST /console/inbox/{contact}/{}", self.operation);
        let key = CallKey::parse(operation, self.key)?;
        let begun = recado.calls().begin(company, key, hash_of(self.compared)).await;
        let ticket = match begun {
            Ok(Begun::Fresh(ticket)) => ticket,
            Ok(Begun::Replay(answer)) if answer == SENT => return Ok(Ok(())),
            Ok(Begun::Replay(answer)) => return Ok(Err(Refused::kept(language, &answer))),
            Err(Error::Rejected(refused)) => return Ok(Err(Refused::of(language, &refused))),
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
                Err(Error::Rejected(refused)) => Ok(Err(Refused::of(language, &refused))),
                Err(error) => Err(Refusal::from(error)),
            }
        });
        sending.await.map_err(|error| Refusal::Internal(format!("a send broke off: {error}")))?
    }
}
