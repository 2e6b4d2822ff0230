//! A connection's settings, and requests made with them.

use std::time::Duration;

use recado_core::connections::Connection;
use recado_core::ids::ConnectionId;
use recado_core::transport::OutboundRequest;

use crate::shared::{clip, digits, join, query};

const API_BASE: &str = "https://graph.facebook.com";
const API_VERSION: &str = "v23.0";

/// The settings for requests of one connection.
#[derive(Clone, Copy)]
pub(super) struct ApiSettings<'a> {
    pub(super) base: &'a str,
    version: &'a str,
    pub(super) number: &'a str,
    pub(super) account: Option<&'a str>,
    token: &'a str,
    pub(super) timeout: Duration,
    /// The connection that they are of.
    pub(super) connection: ConnectionId,
}

impl<'a> ApiSettings<'a> {
    pub(super) fn of(connection: &'a Connection) -> Self {
        let settings = &connection.settings;
        let (base, in_base) = split_version(settings.text("api_base").unwrap_or(API_BASE));
        let version = settings.text("api_version").map(|version| version.trim_matches('/'));
        Self {
            base,
            version: version.filter(|given| !given.is_empty()).or(in_base).unwrap_or(API_VERSION),
            number: settings.text("phone_number_id").unwrap_or_default(),
            account: settings.text("business_account_id"),
            token: settings.text("access_token").unwrap_or_default(),
            timeout: settings.timeout(),
            connection: connection.id,
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

    /// A GET of a node of the API.
    pub(super) fn get(&self, path: &[&str], parameters: &[(&str, &str)]) -> OutboundRequest {
        self.fetch(&self.node(path, parameters))
    }

    /// A GET of any address with the token; the caller has to check the address.
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

    /// A POST that uploads a file for the number; it may be repeated, as it sends nothing.
    pub(super) fn upload(&self) -> OutboundRequest {
        let url = self.node(&[self.number, "media"], &[]);
        let request = OutboundRequest::post(url, vec![self.authorization()], Vec::new());
        OutboundRequest { repeatable: true, ..request }
    }

    /// A text of the API for people, shortened and without the token, as the API repeats an invalid
    /// token in its errors.
    pub(super) fn reported(&self, text: &str) -> String {
        if self.token.is_empty() { clip(text) } else { clip(&text.replace(self.token, "***")) }
    }
}

/// A base address without the version that it may end with, and that version.
fn split_version(base: &str) -> (&str, Option<&str>) {
    let base = base.trim_end_matches('/');
    match base.rsplit_once('/') {
        // The part after two slashes is the host.
        Some((rest, last)) if !rest.ends_with('/') && is_version(last) => (rest, Some(last)),
        _ => (base, None),
    }
}

/// Whether a segment of a path is a version, such as `v23.0`.
fn is_version(segment: &str) -> bool {
    let Some(numbers) = segment.strip_prefix('v') else { return false };
    let (major, minor) = numbers.split_once('.').unwrap_or((numbers, "0"));
    digits(major).is_some() && digits(minor).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_version_at_the_end_of_a_path_is_taken_off() {
        for (base, rest, version) in [
            ("https://graph.facebook.com", "https://graph.facebook.com", None),
            ("https://a.example/v23.0", "https://a.example", Some("v23.0")),
            ("https://a.example/v24.0//", "https://a.example", Some("v24.0")),
            ("https://a.example/graph/v25", "https://a.example/graph", Some("v25")),
            ("https://a.example/v23.0/graph", "https://a.example/v23.0/graph", None),
            ("https://a.example/vendor", "https://a.example/vendor", None),
            ("https://a.example/v", "https://a.example/v", None),
            ("https://a.example/v1.", "https://a.example/v1.", None),
            ("https://v23.0", "https://v23.0", None),
        ] {
            assert_eq!(split_version(base), (rest, version), "{base}");
        }
    }
}
