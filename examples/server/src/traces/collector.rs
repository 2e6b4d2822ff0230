//! The HTTP client of the exporter: the one that all outgoing calls use.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use recado_core::transport::{Method, OutboundRequest, OutboundResponse, Transport};
use tokio::runtime::Handle;

/// How long the collector may take for a batch.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How much of its answer is read.
const ANSWER_BYTES: usize = 16 * 1024;

/// Calls the collector. A failure is logged when it begins and when it has ended, not each time.
pub(super) struct Collector {
    client: Arc<dyn Transport>,
    /// The exporter has a thread of its own, which is outside of the runtime.
    runtime: Handle,
    fails: AtomicBool,
}

impl Collector {
    /// Calls by this client, on this runtime.
    pub(super) fn new(client: Arc<dyn Transport>, runtime: Handle) -> Self {
        Self { client, runtime, fails: AtomicBool::new(false) }
    }

    fn failed(&self, why: &str) {
        if !self.fails.swap(true, Ordering::Relaxed) {
            tracing::warn!(why, "traces cannot be exported");
        }
    }

    fn works(&self) {
        if self.fails.swap(false, Ordering::Relaxed) {
            tracing::info!("traces are exported again");
        }
    }
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collector").finish_non_exhaustive()
    }
}

/// The request of the exporter as an outgoing call. Values of headers that are not ASCII are left
/// out.
fn outbound(request: Request<Bytes>) -> OutboundRequest {
    let (head, body) = request.into_parts();
    let mut call = OutboundRequest::get(head.uri.to_string())
        .with_method(Method::Post)
        .with_timeout(TIMEOUT)
        .with_answer_limit(ANSWER_BYTES);
    call.body = body.to_vec();
    for (name, value) in &head.headers {
        if let Ok(value) = value.to_str() {
            call = call.header(name.as_str(), value);
        }
    }
    call
}

fn answer(answer: OutboundResponse) -> Result<Response<Bytes>, HttpError> {
    let mut response = Response::builder().status(answer.status);
    if let Some(wait) = answer.header("retry-after") {
        response = response.header("retry-after", wait);
    }
    Ok(response.body(Bytes::from(answer.body))?)
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = Arc::clone(&self.client);
        let call = outbound(request);
        let sent = self.runtime.spawn(async move { client.send(call).await }).await;
        match sent.map_err(|_| "the process ends".into()).and_then(|sent| Ok(sent?)) {
            Ok(sent) => {
                match sent.status {
                    200..300 => self.works(),
                    status => self.failed(&format!("the collector answered {status}")),
                }
                answer(sent)
            }
            Err(error) => {
                let error: HttpError = error;
                self.failed(&error.to_string());
                Err(error)
            }
        }
    }
}
