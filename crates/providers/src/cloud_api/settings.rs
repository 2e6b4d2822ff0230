//! A connection's settings, and requests made with them.

use std::time::Duration;

use recado_core::connections::Connection;
use recado_core::transport::OutboundRequest;

use crate::shared::{clip, join, query};

const API_BASE: &str = "https://graph.facebook.com";
const API_VERSION: &str = "v23.0";

/// What requests of one connection are made with.
#[derive(Clone, Copy)]
pub(super) struct Access<'a> {
    pub(super) base: &'a str,
    version: &'a str,
    pub(super) number: &'a str,
    pub(super) account: Option<&'a str>,
    token: &'a str,
    pub(super) timeout: Duration,
}

impl<'a> Access<'a> {
    pub(super) fn of(connection: &'a Connection) -> Self {
        let settings = &connection.settings;
        Self {
            base: settings.text("api_base").unwrap_or(API_BASE),
            version: settings.text("api_version").unwrap_or(API_VERSION).trim_matches('/'),
            number: settings.text("phone_number_id").unwrap_or_default(),
            account: settings.text("business_account_id"),
            token: settings.text("access_token").unwrap_or_default(),
            timeout: settings.timeout(),
        }
    }

    fn authorization(&self) -> (String, String) {
        ("authorization".to_owned(), format!("Bearer {}", self.token))
    }

    /// The address of a node of the API.
    fn node(&self, path: &[&str], parameters: &[(&str, &str)]) -> String {
        let path: Vec<&str> = std::iter::once(self.version).chain(path.iter().copied()).collect();
        join(self.base, &path) + &query(parameters)
    }

    /// A question to the API.
    pub(super) fn get(&self, path: &[&str], parameters: &[(&str, &str)]) -> OutboundRequest {
        self.fetch(&self.node(path, parameters))
    }

    /// A GET of any address with the token; the caller answers for the address.
    pub(super) fn fetch(&self, url: &str) -> OutboundRequest {
        let mut request = OutboundRequest::get(url).with_timeout(self.timeout);
        request.headers.push(self.authorization());
        request.repeatable = true;
        request
    }

    /// A JSON body to a node of the API.
    pub(super) fn post(&self, path: &[&str], body: &serde_json::Value) -> OutboundRequest {
        let headers =
            vec![self.authorization(), ("content-type".to_owned(), "application/json".to_owned())];
        OutboundRequest::post(self.node(path, &[]), headers, body.to_string().into_bytes())
            .with_timeout(self.timeout)
    }

    /// A text of the API for people, cut to what is kept, without the token: the API repeats one
    /// that it cannot read.
    pub(super) fn told(&self, text: &str) -> String {
        if self.token.is_empty() { clip(text) } else { clip(&text.replace(self.token, "***")) }
    }
}
