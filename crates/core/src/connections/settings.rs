//! The settings of each gateway: which there are, which must be there, and which are secret.

use std::fmt;

use serde_json::{Map, Value};

use super::Gateway;
use crate::problems::Problems;
use crate::webhooks::WebhookUrl;

/// The longest text of a setting.
const MAX_TEXT: usize = 2048;
/// From how many bytes on a secret is searched for in texts: shorter ones are parts of many words.
const MASKED_FROM: usize = 6;
/// The default of `timeout_ms`: how long a gateway may take to answer a send (D36).
const TIMEOUT_MS: u64 = 20_000;
/// The largest `timeout_ms` (D50).
const MAX_TIMEOUT_MS: u64 = 50_000;
/// The largest `delay_ms` of the simulated gateway.
const MAX_DELAY_MS: u64 = 3_600_000;

/// What a setting holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingKind {
    /// A text that may be shown.
    Text,
    /// The address of a gateway: http or https, without a query.
    Url,
    /// A text that is never shown.
    Secret,
    /// A whole number from 0, or 1 for a time limit, to the given bound.
    Number {
        /// The least.
        min: u64,
        /// The most.
        max: u64,
    },
    /// `true` or `false`.
    Flag,
}

/// One setting of a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatewayField {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: SettingKind,
    /// Whether it must be there.
    pub required: bool,
}

const fn required(name: &'static str, kind: SettingKind) -> GatewayField {
    GatewayField { name, kind, required: true }
}

const fn optional(name: &'static str, kind: SettingKind) -> GatewayField {
    GatewayField { name, kind, required: false }
}

const TIMEOUT: GatewayField =
    optional("timeout_ms", SettingKind::Number { min: 1, max: MAX_TIMEOUT_MS });

const SIMULATED: &[GatewayField] = &[
    optional("delay_ms", SettingKind::Number { min: 0, max: MAX_DELAY_MS }),
    optional("reports", SettingKind::Flag),
    TIMEOUT,
];
const CLOUD_API: &[GatewayField] = &[
    required("phone_number_id", SettingKind::Text),
    required("access_token", SettingKind::Secret),
    required("app_secret", SettingKind::Secret),
    required("verify_token", SettingKind::Secret),
    optional("business_account_id", SettingKind::Text),
    optional("api_base", SettingKind::Url),
    optional("api_version", SettingKind::Text),
    TIMEOUT,
];
const WAHA: &[GatewayField] = &[
    required("base_url", SettingKind::Url),
    required("session", SettingKind::Text),
    required("api_key", SettingKind::Secret),
    required("webhook_hmac_key", SettingKind::Secret),
    TIMEOUT,
];
const EVOLUTION: &[GatewayField] = &[
    required("base_url", SettingKind::Url),
    required("instance", SettingKind::Text),
    required("api_key", SettingKind::Secret),
    required("webhook_token", SettingKind::Secret),
    TIMEOUT,
];

impl Gateway {
    /// The settings it knows.
    pub const fn fields(self) -> &'static [GatewayField] {
        match self {
            Self::Simulated => SIMULATED,
            Self::CloudApi => CLOUD_API,
            Self::Waha => WAHA,
            Self::Evolution => EVOLUTION,
        }
    }
}

/// The settings of a connection. Prints as `***`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ConnectionSettings(Map<String, Value>);

impl ConnectionSettings {
    /// Takes stored settings back.
    pub const fn from_stored(settings: Map<String, Value>) -> Self {
        Self(settings)
    }

    /// Reads the settings of `gateway`, naming `settings.<name>` for each that is unknown, missing
    /// or malformed.
    ///
    /// # Errors
    ///
    /// All that is wrong.
    pub fn parse(gateway: Gateway, given: &Map<String, Value>) -> Result<Self, Problems> {
        let mut problems = Problems::new();
        let mut settings = Map::new();
        for name in given.keys() {
            if !gateway.fields().iter().any(|field| field.name == name) {
                problems.add(format!("settings.{name}"), "is not a setting of this gateway");
            }
        }
        for field in gateway.fields() {
            match given.get(field.name).filter(|value| !value.is_null()) {
                None if field.required => {
                    problems.add(format!("settings.{}", field.name), "is required");
                }
                None => {}
                Some(value) => match check(field.kind, value) {
                    Ok(()) => {
                        settings.insert(field.name.to_owned(), value.clone());
                    }
                    Err(reason) => problems.add(format!("settings.{}", field.name), reason),
                },
            }
        }
        problems.into_result()?;
        Ok(Self(settings))
    }

    /// The settings with `given` written over them; null removes one.
    pub fn merged(&self, given: &Map<String, Value>) -> Map<String, Value> {
        let mut merged = self.0.clone();
        merged.extend(given.clone());
        merged
    }

    /// All of them, secrets too, for the store.
    pub const fn expose(&self) -> &Map<String, Value> {
        &self.0
    }

    /// Those of `gateway` that may be shown.
    pub fn shown(&self, gateway: Gateway) -> Map<String, Value> {
        let open = gateway.fields().iter().filter(|field| field.kind != SettingKind::Secret);
        open.filter_map(|field| Some((field.name.to_owned(), self.0.get(field.name)?.clone())))
            .collect()
    }

    /// A text setting.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// A number setting.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name)?.as_u64()
    }

    /// A flag.
    pub fn flag(&self, name: &str) -> Option<bool> {
        self.0.get(name)?.as_bool()
    }

    /// A gateway's own words, without the secrets of `gateway` that it may have repeated (R125).
    pub fn masked(&self, gateway: Gateway, text: &str) -> String {
        let secret = gateway.fields().iter().filter(|field| field.kind == SettingKind::Secret);
        let values = secret.filter_map(|field| self.text(field.name));
        let long = values.filter(|value| value.len() >= MASKED_FROM);
        long.fold(text.to_owned(), |text, value| text.replace(value, "***"))
    }

    /// The same with a shorter time limit, unless it is as short already.
    #[must_use]
    pub fn with_timeout_of_at_most(&self, limit: std::time::Duration) -> Self {
        let millis = self.timeout().min(limit).as_millis();
        let mut settings = self.0.clone();
        let millis = u64::try_from(millis).unwrap_or(TIMEOUT_MS);
        settings.insert(TIMEOUT.name.to_owned(), Value::from(millis));
        Self(settings)
    }

    /// How long the gateway may take to answer a send (D36).
    pub fn timeout(&self) -> std::time::Duration {
        std::time::Duration::from_millis(self.number("timeout_ms").unwrap_or(TIMEOUT_MS))
    }
}

fn check(kind: SettingKind, value: &Value) -> Result<(), String> {
    match kind {
        SettingKind::Text | SettingKind::Secret => {
            let text = value.as_str().ok_or("must be a string")?;
            let fits = (1..=MAX_TEXT).contains(&text.len()) && !text.chars().any(char::is_control);
            if fits { Ok(()) } else { Err(format!("must have 1 to {MAX_TEXT} characters")) }
        }
        SettingKind::Url => {
            let text = value.as_str().ok_or("must be a string")?;
            WebhookUrl::parse(text).map_err(|wrong| wrong.to_string())?;
            if text.contains('?') { Err("must not have a query".to_owned()) } else { Ok(()) }
        }
        SettingKind::Number { min, max } => value
            .as_u64()
            .filter(|number| (min..=max).contains(number))
            .map(|_| ())
            .ok_or_else(|| format!("must be a whole number from {min} to {max}")),
        SettingKind::Flag => {
            value.as_bool().map(|_| ()).ok_or_else(|| "must be true or false".to_owned())
        }
    }
}

impl fmt::Debug for ConnectionSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn waha() -> ConnectionSettings {
        let given = json!({"base_url": "http://waha", "session": "loja-centro",
            "api_key": "key-123", "webhook_hmac_key": "k"});
        ConnectionSettings::parse(Gateway::Waha, given.as_object().expect("an object"))
            .expect("acceptable")
    }

    /// R125.
    #[test]
    fn a_secret_that_a_gateway_repeats_is_masked() {
        let reported = "loja-centro: bad key key-123 (key-123)";
        assert_eq!(waha().masked(Gateway::Waha, reported), "loja-centro: bad key *** (***)");
    }

    #[test]
    fn a_time_limit_is_shortened_and_never_lengthened() {
        use std::time::Duration;
        let short = waha().with_timeout_of_at_most(Duration::from_secs(5));
        assert_eq!(short.timeout(), Duration::from_secs(5));
        let shorter = short.with_timeout_of_at_most(Duration::from_secs(9));
        assert_eq!(shorter.timeout(), Duration::from_secs(5));
        assert_eq!(shorter.text("session"), Some("loja-centro"));
    }
}
