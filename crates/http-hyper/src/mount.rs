//! Services of the embedding program under a prefix of the path (R418).

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::header::{HeaderValue, LOCATION};
use http::{Method, Request, Response, StatusCode};
use hyper::body::Body;

use crate::answer_body::AnswerBody;
use crate::body::RequestBody;

/// The body of a request that a mounted service gets.
pub type MountedBody =
    Pin<Box<dyn Body<Data = Bytes, Error = Box<dyn std::error::Error + Send + Sync>> + Send>>;

/// R192. Among the extensions of a mounted service's answer it says that the body is a file, so
/// that whoever reads it has to keep the pace of readers of files.
#[derive(Clone, Copy, Debug, Default)]
pub struct IsFile;

/// A service that answers every path under a prefix. Made by
/// [`HttpOptions::mounted`](crate::HttpOptions::mounted). Clones share it.
#[derive(Clone)]
pub struct Mount {
    /// Where it is, as in metrics and logs.
    pub(crate) prefix: &'static str,
    answering: Arc<dyn Mounted>,
}

/// A service with its types left out.
trait Mounted: Send + Sync {
    fn answer(&self, request: Request<RequestBody>) -> BoxFuture<'static, Response<AnswerBody>>;
}

impl<F> Mounted for F
where
    F: Fn(Request<RequestBody>) -> BoxFuture<'static, Response<AnswerBody>> + Send + Sync,
{
    fn answer(&self, request: Request<RequestBody>) -> BoxFuture<'static, Response<AnswerBody>> {
        self(request)
    }
}

impl fmt::Debug for Mount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Mount").field(&self.prefix).finish()
    }
}

impl Mount {
    pub(crate) fn new<S, B>(prefix: &'static str, service: S) -> Self
    where
        S: hyper::service::Service<
                Request<MountedBody>,
                Response = Response<B>,
                Error = Infallible,
            > + Send
            + Sync
            + 'static,
        S::Future: Send + 'static,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: fmt::Display,
    {
        let answer = move |request: Request<RequestBody>| {
            let answered = service.call(request).map(|answered| match answered {
                Ok(response) => {
                    let is_file = response.extensions().get::<IsFile>().is_some();
                    response.map(|body| AnswerBody::mounted(body, is_file))
                }
                Err(never) => match never {},
            });
            let answered: BoxFuture<'static, Response<AnswerBody>> = Box::pin(answered);
            answered
        };
        Self { prefix, answering: Arc::new(answer) }
    }

    /// What the service answers.
    pub(crate) async fn answer(self, request: Request<RequestBody>) -> Response<AnswerBody> {
        self.answering.answer(request).await
    }

    /// Whether a decoded path is under the prefix. A prefix ends with a whole segment.
    fn has(&self, path: &str) -> bool {
        let rest = path.strip_prefix(self.prefix);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// R418. The service that a decoded path belongs to.
pub(crate) fn find(mounts: &[Mount], path: &str) -> Option<Mount> {
    mounts.iter().find(|mount| mount.has(path)).cloned()
}

/// R418. Leads from `/` to what is mounted first.
pub(crate) fn from_root(
    mounts: &[Mount],
    method: &Method,
    path: &str,
) -> Option<Response<AnswerBody>> {
    let mount = mounts.first().filter(|_| path == "/")?;
    if !matches!(*method, Method::GET | Method::HEAD) {
        return None;
    }
    let mut response = Response::new(AnswerBody::whole(Bytes::new()));
    *response.status_mut() = StatusCode::SEE_OTHER;
    response.headers_mut().insert(LOCATION, HeaderValue::from_static(mount.prefix));
    Some(response)
}

#[cfg(test)]
mod tests {
    use http_body_util::{BodyExt, Full};
    use hyper::service::service_fn;
    use recado_core::access::ClientNet;
    use recado_testkit::Kit;

    use crate::{HttpOptions, Paths, RecadoHttp};

    use super::*;

    /// A service that says which path it was asked for, and whether it was told the client.
    async fn http(paths: Paths) -> RecadoHttp {
        let service = service_fn(|request: Request<MountedBody>| async move {
            assert_ne!(request.uri().path(), "/console/broken", "a page that panics");
            let known = request.extensions().get::<ClientNet>().is_some();
            let text = format!("{} {known}", request.uri().path());
            Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(text))))
        });
        let options = HttpOptions { paths, ..HttpOptions::default() }.mounted("/console", service);
        RecadoHttp::new(Kit::new().await.app.clone(), options)
    }

    async fn get(http: &RecadoHttp, path: &str) -> (StatusCode, http::HeaderMap, String) {
        let request = Request::get(path).body(Full::new(Bytes::new())).expect("a request");
        let (head, body) = http.answer(request).await.expect("an answer").into_parts();
        let bytes = body.collect().await.expect("a body").to_bytes();
        (head.status, head.headers, String::from_utf8_lossy(&bytes).into_owned())
    }

    /// R418.
    #[tokio::test]
    async fn a_mounted_service_gets_the_paths_under_its_prefix_with_the_client() {
        let http = http(Paths::All).await;
        for path in ["/console", "/console/a/b"] {
            let (status, headers, text) = get(&http, path).await;
            assert_eq!((status, text), (StatusCode::OK, format!("{path} true")));
            assert!(headers.contains_key("x-request-id"), "{headers:?}");
        }
        assert_eq!(get(&http, "/consoles").await.0, StatusCode::NOT_FOUND);
        assert_eq!(get(&http, "/healthz").await.0, StatusCode::OK);
    }

    /// R418.
    #[tokio::test]
    async fn the_root_leads_to_what_is_mounted() {
        let (status, headers, _) = get(&http(Paths::Public).await, "/").await;
        assert_eq!(status, StatusCode::SEE_OTHER);
        assert_eq!(headers[LOCATION], "/console");
        let apart = http(Paths::Operator).await;
        assert_eq!(get(&apart, "/").await.0, StatusCode::NOT_FOUND);
        assert_eq!(get(&apart, "/console").await.0, StatusCode::NOT_FOUND);
    }

    /// R192.
    #[tokio::test]
    async fn a_file_of_a_mounted_service_is_read_at_the_pace_and_a_page_is_not() {
        let service = service_fn(|request: Request<MountedBody>| async move {
            let mut response = Response::new(Full::new(Bytes::from_static(b"bytes")));
            if request.uri().path() == "/console/file" {
                response.extensions_mut().insert(IsFile);
            }
            Ok::<_, Infallible>(response)
        });
        let options = HttpOptions::default().mounted("/console", service);
        let http = RecadoHttp::new(Kit::new().await.app.clone(), options);
        for (path, is_file) in [("/console/file", true), ("/console/page", false)] {
            let request = Request::get(path).body(Full::new(Bytes::new())).expect("a request");
            let answer = http.answer(request).await.expect("an answer");
            assert_eq!(answer.body().is_streamed(), is_file, "{path}");
        }
    }

    /// R418.
    #[tokio::test]
    async fn a_panic_of_a_mounted_service_is_a_500() {
        let (status, ..) = get(&http(Paths::All).await, "/console/broken").await;
        assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
    }
}
