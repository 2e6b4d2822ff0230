//! Whole requests: the first line is the method and the target, headers follow until an empty line,
//! the rest is the body. `{key}` and `{operator}` in a header stand for a key with every scope and
//! the operator's token. No request makes the server fail, and every refusal says its code.

use std::cell::RefCell;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use recado_core::secret::SecretText;
use recado_http_hyper::{HttpOptions, RecadoHttp};
use recado_testkit::Kit;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

const OPERATOR: &str = "operator-token-of-the-fuzz-target";
/// After how many requests a new server is made, so that what was created does not pile up.
const REQUESTS: u32 = 500;

struct Server {
    runtime: Runtime,
    http: RecadoHttp,
    key: String,
    left: u32,
}

impl Server {
    fn new() -> Self {
        let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
        let kit = runtime.block_on(Kit::new());
        let operator_token = Some(SecretText::new(OPERATOR));
        let options = HttpOptions { operator_token, ..HttpOptions::default() };
        Self { runtime, http: RecadoHttp::new(kit.app, options), key: kit.key, left: REQUESTS }
    }

    fn take(&self, input: &str) {
        let (head, body) = input.split_once("\n\n").unwrap_or((input, ""));
        let mut lines = head.lines();
        let Some((method, target)) = lines.next().and_then(|line| line.split_once(' ')) else {
            return;
        };
        let mut request = Request::builder().method(method).uri(target);
        for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
            let value = value.replace("{key}", &self.key).replace("{operator}", OPERATOR);
            request = request.header(name, value);
        }
        let Ok(request) = request.body(Full::new(Bytes::copy_from_slice(body.as_bytes()))) else {
            return;
        };
        self.runtime.block_on(async {
            let answer = self.http.answer(request).await.expect("infallible");
            let status = answer.status();
            let kind = answer.headers().get("content-type").cloned();
            let body = answer.into_body().collect().await.expect("a body").to_bytes();
            assert!(status.as_u16() < 500 || status == 503, "{status}: {body:?}");
            let is_json = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
            if status.is_client_error() && is_json && !body.is_empty() {
                let refusal: Value = serde_json::from_slice(&body).expect("JSON");
                assert!(refusal["code"].is_string(), "{refusal}");
            }
        });
    }
}

thread_local! {
    static SERVER: RefCell<Option<Server>> = const { RefCell::new(None) };
}

/// Takes one input.
pub(crate) fn take(input: &str) {
    SERVER.with_borrow_mut(|slot| {
        let server = slot.get_or_insert_with(Server::new);
        server.take(input);
        server.left -= 1;
        if server.left == 0 {
            *slot = None;
        }
    });
}
