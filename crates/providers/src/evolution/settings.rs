//! A connection's settings: the address of the gateway, and its instance for the connection.

use std::time::Duration;

use recado_core::connections::Connection;
use recado_core::transport::OutboundRequest;
use serde_json::Value;

use crate::shared::{join, query};

/// How long one request that only reads may take: one search makes several of them.
const MAX_ASK: Duration = Duration::from_secs(10);

/// The instance of a gateway that serves a connection.
pub(super) struct InstanceAddress<'a> {
    base: &'a str,
    instance: &'a str,
    api_key: &'a str,
    timeout: Duration,
}

impl<'a> InstanceAddress<'a> {
    /// Reads the settings. They were checked when they were written; a missing one makes an address
    /// that cannot be called.
    pub(super) fn of(connection: &'a Connection) -> Self {
        let setting = |name| connection.settings.text(name).unwrap_or_default();
        Self {
            base: setting("base_url"),
            instance: setting("instance"),
            api_key: setting("api_key"),
            timeout: connection.settings.timeout(),
        }
    }

    /// A POST of the instance, which may take the connection's whole time.
    pub(super) fn post(&self, path: [&str; 2], body: &Value) -> OutboundRequest {
        let headers = vec![
            ("apikey".to_owned(), self.api_key.to_owned()),
            ("content-type".to_owned(), "application/json".to_owned()),
            ("accept".to_owned(), "application/json".to_owned()),
        ];
        let body = body.to_string().into_bytes();
        OutboundRequest::post(self.url(path), headers, body).with_timeout(self.timeout)
    }

    /// A POST that only reads.
    pub(super) fn ask(&self, path: [&str; 2], body: &Value) -> OutboundRequest {
        let mut request = self.post(path, body).with_timeout(self.timeout.min(MAX_ASK));
        request.repeatable = true;
        request
    }

    /// A GET of the instance.
    pub(super) fn get(&self, path: [&str; 2], parameters: &[(&str, &str)]) -> OutboundRequest {
        let url = format!("{}{}", self.url(path), query(parameters));
        let mut request = OutboundRequest::get(url).with_timeout(self.timeout);
        request.headers = vec![
            ("apikey".to_owned(), self.api_key.to_owned()),
            ("accept".to_owned(), "application/json".to_owned()),
        ];
        request.repeatable = true;
        request
    }

    fn url(&self, path: [&str; 2]) -> String {
        let [area, operation] = path;
        join(self.base, &[area, operation, self.instance])
    }
}
