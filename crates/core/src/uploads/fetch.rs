//! Fetching the file at an address (X10).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;

use super::redirect::resolved;
use super::{FileRefused, NewFile, ReceiveError, Unreachable, Upload, Uploads};
use crate::documents::FileError;
use crate::error::Error;
use crate::ids::CompanyId;
use crate::transport::{OpenAnswer, OutboundRequest, TransportError};
use crate::webhooks::WebhookUrl;

/// How long the answer may take, over all redirects (X10).
const ANSWER_WITHIN: Duration = Duration::from_secs(20);
/// How long all of it may take (X10).
const ALL_WITHIN: Duration = Duration::from_secs(60);
/// How many redirects are followed (X10).
const REDIRECTS: usize = 3;

type Judge<'a> = dyn Fn(&[u8]) -> Result<(), FileRefused> + Send + Sync + 'a;

fn refused(refusal: FileRefused) -> Error<FileRefused> {
    Error::Rejected(refusal)
}

impl Uploads<'_> {
    /// Fetches a file and stores it. It stops as soon as the file is too large, or its first bytes
    /// are refused.
    pub(super) async fn fetch(
        &self,
        company: CompanyId,
        url: &WebhookUrl,
        file: NewFile,
        limit: u64,
        judge: &Judge<'_>,
    ) -> Result<Upload, Error<FileRefused>> {
        let began = self.app.transport().elapsed();
        let (answer, was_led) = self.ask(url.as_str(), limit, began).await.map_err(refused)?;
        let declared = answer.header("content-length").and_then(|length| length.parse().ok());
        if declared.is_some_and(|length: u64| length > limit) {
            return Err(refused(FileRefused::TooLarge { limit }));
        }
        let mimetype = file.mimetype.or_else(|| answer.header("content-type").map(str::to_owned));
        let file = NewFile { mimetype, ..file };
        let failure = Arc::new(Mutex::new(None));
        let failed = Arc::clone(&failure);
        let frames = answer.body.map(move |frame| {
            frame.map_err(|error| {
                let text = error.to_string();
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                FileError(text)
            })
        });
        let stored = self.store(company, &file, frames.boxed(), limit, judge).await;
        let failure = failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        stored.map_err(|error| error.map(|error| refusal(error, failure, !was_led)))
    }

    /// The answer with the file, and whether redirects led to it. Each redirect is checked like the
    /// first address.
    async fn ask(
        &self,
        url: &str,
        limit: u64,
        began: Option<Duration>,
    ) -> Result<(OpenAnswer, bool), FileRefused> {
        let mut url = url.to_owned();
        for followed in 0..=REDIRECTS {
            let passed = self.app.transport().elapsed().zip(began);
            let passed = passed.map_or(Duration::ZERO, |(now, began)| now.saturating_sub(began));
            let bytes = usize::try_from(limit).unwrap_or(usize::MAX).saturating_add(1);
            let request = OutboundRequest::get(&url)
                .with_timeout(ALL_WITHIN.saturating_sub(passed))
                .with_answer_limit(bytes);
            let within = ANSWER_WITHIN.saturating_sub(passed);
            let answer = self.app.transport().open(request, within).await;
            let answer = answer.map_err(|error| FileRefused::of_call(&error, followed == 0))?;
            match answer.status {
                200 => return Ok((answer, followed > 0)),
                301 | 302 | 303 | 307 | 308 => {
                    let next = answer.header("location").and_then(|to| resolved(&url, to));
                    let next = next.filter(|next| WebhookUrl::parse(next).is_ok());
                    url = next.ok_or(FileRefused::Unreachable(Unreachable::RedirectRefused))?;
                }
                status => return Err(FileRefused::Unreachable(Unreachable::Status(status))),
            }
        }
        Err(FileRefused::Unreachable(Unreachable::TooManyRedirects))
    }
}

/// The refusal for a file that was not stored. `failure` is how its answer broke off.
fn refusal(error: ReceiveError, failure: Option<TransportError>, is_first: bool) -> FileRefused {
    match (error, failure) {
        (ReceiveError::Cut(_), Some(failure)) => FileRefused::of_call(&failure, is_first),
        (ReceiveError::Cut(_), None) => FileRefused::Unreachable(Unreachable::Broken),
        (ReceiveError::TooLarge { limit }, _) => FileRefused::TooLarge { limit },
        (ReceiveError::Empty(_), _) => FileRefused::Unreachable(Unreachable::Empty),
        (ReceiveError::Refused(refused), _) => refused,
        (ReceiveError::Files(error), _) => FileRefused::Files(error),
    }
}
