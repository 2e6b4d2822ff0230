//! The calls of gateways.

use std::fmt;

use serde_json::Value;

use super::Received;

/// A request that a gateway made to its connection's address.
#[derive(Clone)]
pub struct ProviderWebhook {
    /// Header names in lower case with their values.
    pub headers: Vec<(String, String)>,
    /// Decoded query parameters.
    pub query: Vec<(String, String)>,
    /// The raw body.
    pub body: Vec<u8>,
}

impl ProviderWebhook {
    /// A request with this body, without headers and parameters.
    pub fn new(body: impl Into<Vec<u8>>) -> Self {
        Self { headers: Vec::new(), query: Vec::new(), body: body.into() }
    }

    /// The value of a header, named in lower case; `None` if there is none, or more than one: of
    /// two signatures, another program might read the other one.
    pub fn header(&self, name: &str) -> Option<&str> {
        sole(&self.headers, |known| known.eq_ignore_ascii_case(name))
    }

    /// The value of a query parameter; `None` if there is none, or more than one.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        sole(&self.query, |known| known == name)
    }

    /// The body as JSON. Verify the call before.
    ///
    /// # Errors
    ///
    /// [`WebhookRefused::Malformed`] if it is not JSON.
    pub fn json(&self) -> Result<Value, WebhookRefused> {
        serde_json::from_slice(&self.body).map_err(|_| WebhookRefused::Malformed)
    }
}

fn sole(pairs: &[(String, String)], is_meant: impl Fn(&str) -> bool) -> Option<&str> {
    let mut values = pairs.iter().filter(|(name, _)| is_meant(name));
    let (_, value) = values.next()?;
    values.next().is_none().then_some(value.as_str())
}

impl fmt::Debug for ProviderWebhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Webhook({} bytes)", self.body.len())
    }
}

/// Why a gateway's request is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WebhookRefused {
    /// The signature or token is missing or wrong; nothing was read.
    #[error("the signature or token is missing or wrong")]
    Unauthorized,
    /// The body is not what the gateway sends.
    #[error("the body cannot be read")]
    Malformed,
    /// This gateway has no webhook.
    #[error("this gateway sends no webhooks")]
    Unsupported,
}

/// The events of a webhook.
pub type ReceiveResult = Result<Vec<Received>, WebhookRefused>;

/// The answer to a gateway that verifies the address: written back as it is.
pub type Handshake = Result<String, WebhookRefused>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_or_parameter_that_comes_twice_is_none() {
        let pairs = |names: &[&str]| -> Vec<(String, String)> {
            names.iter().map(|name| ((*name).to_owned(), "v".to_owned())).collect()
        };
        let webhook = |names: &[&str]| ProviderWebhook {
            headers: pairs(names),
            query: pairs(names),
            body: Vec::new(),
        };
        assert_eq!(webhook(&["a", "b"]).header("a"), Some("v"));
        assert_eq!(webhook(&["a", "b"]).parameter("a"), Some("v"));
        for twice in [&["a", "b", "a"][..], &["b"]] {
            assert_eq!((webhook(twice).header("a"), webhook(twice).parameter("a")), (None, None));
        }
        assert_eq!(webhook(&["A", "a"]).header("a"), None);
    }
}
