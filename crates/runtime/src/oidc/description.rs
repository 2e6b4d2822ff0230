//! How a provider describes itself (OpenID Connect Discovery).

use recado_core::transport::Origin;
use serde::Deserialize;

/// What is used of the description.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Description {
    issuer: String,
    pub(super) authorization_endpoint: String,
    pub(super) token_endpoint: String,
    pub(super) jwks_uri: String,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
}

/// Why a description is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum WrongDescription {
    #[error("its description is none")]
    Unreadable,
    #[error("it describes the issuer {0:?}, which is another one")]
    Issuer(String),
    #[error("its description names {0:?}, which is no address of https")]
    Endpoint(String),
}

impl Description {
    /// R435. Reads the description of an issuer: it has to name exactly this one, and no address in
    /// clear if the issuer has none.
    pub(super) fn read(body: &[u8], issuer: &str) -> Result<Self, WrongDescription> {
        let read: Self = serde_json::from_slice(body).map_err(|_| WrongDescription::Unreadable)?;
        if read.issuer != issuer {
            return Err(WrongDescription::Issuer(read.issuer));
        }
        let is_clear = |url: &str| Origin::of(url).ok().map(|origin| !origin.https);
        let may_be_clear = is_clear(issuer) == Some(true);
        for endpoint in [&read.authorization_endpoint, &read.token_endpoint, &read.jwks_uri] {
            let is_good = match is_clear(endpoint) {
                Some(is_clear) => may_be_clear || !is_clear,
                None => false,
            };
            if !is_good || endpoint.contains('#') || !endpoint.bytes().all(|b| b.is_ascii_graphic())
            {
                return Err(WrongDescription::Endpoint(endpoint.clone()));
            }
        }
        Ok(read)
    }

    /// Whether the client says its secret as HTTP Basic does, which is what a provider takes that
    /// says nothing about it.
    pub(super) fn takes_basic(&self) -> bool {
        let methods = self.token_endpoint_auth_methods_supported.as_deref();
        methods.is_none_or(|methods| {
            let has = |wanted: &str| methods.iter().any(|method| method == wanted);
            has("client_secret_basic") || !has("client_secret_post")
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const ISSUER: &str = "https://id.example/realms/a";

    fn read(change: Value) -> Result<Description, WrongDescription> {
        let mut whole = json!({
            "issuer": ISSUER,
            "authorization_endpoint": "https://id.example/auth",
            "token_endpoint": "https://tokens.example/token",
            "jwks_uri": "https://id.example/keys",
        });
        for (name, value) in change.as_object().expect("fields") {
            whole[name] = value.clone();
        }
        let issuer = whole["issuer"].as_str().filter(|issuer| issuer.starts_with("http://"));
        let issuer = issuer.unwrap_or(ISSUER).to_owned();
        Description::read(whole.to_string().as_bytes(), &issuer)
    }

    /// R435.
    #[test]
    fn a_description_is_of_its_issuer_and_names_no_address_in_clear() {
        assert!(read(json!({})).is_ok());
        for issuer in ["https://id.example/realms/a/", "https://id.example/realms/b", ""] {
            let wrong = read(json!({ "issuer": issuer })).expect_err(issuer);
            assert_eq!(wrong, WrongDescription::Issuer(issuer.to_owned()));
        }
        for endpoint in
            ["http://id.example/x", "javascript:alert(1)", "/x", "https://a@b/x", "https://b/ x"]
        {
            for name in ["authorization_endpoint", "token_endpoint", "jwks_uri"] {
                let wrong = read(json!({ name: endpoint })).expect_err(endpoint);
                assert_eq!(wrong, WrongDescription::Endpoint(endpoint.to_owned()));
            }
        }
        let here = json!({
            "issuer": "http://127.0.0.1:8089",
            "jwks_uri": "http://127.0.0.1:8089/keys",
        });
        assert!(read(here).is_ok());
        assert_eq!(Description::read(b"{}", ISSUER).unwrap_err(), WrongDescription::Unreadable);
    }

    #[test]
    fn a_secret_is_sent_as_the_provider_takes_it() {
        let takes = |methods: Value| {
            let description = read(json!({ "token_endpoint_auth_methods_supported": methods }));
            description.expect("a description").takes_basic()
        };
        assert!(takes(Value::Null));
        assert!(takes(json!(["client_secret_post", "client_secret_basic"])));
        assert!(takes(json!(["private_key_jwt"])));
        assert!(!takes(json!(["client_secret_post"])));
    }
}
