//! The settings of a connection, read and shown as its gateway describes them.

use std::fmt;

use serde_json::{Map, Value};

use super::description::{GatewayDescription, SettingForm};
use crate::gateway::GatewayDestinations;
use crate::problems::Problems;
use crate::secret::SecretText;
use crate::transport::Origin;
use crate::webhooks::WebhookUrl;

/// The longest text of a setting.
const MAX_TEXT: usize = 2048;
/// The shortest secret, in bytes, that is masked in texts: shorter ones occur in ordinary words.
const MASKED_FROM: usize = 6;
/// The default of `timeout_ms`: how long a gateway may take to answer a send (D36).
const TIMEOUT_MS: u64 = 20_000;
/// The setting that every gateway has.
const TIMEOUT: &str = "timeout_ms";

/// The settings of a connection. Prints as `***`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ConnectionSettings(Map<String, Value>);

impl ConnectionSettings {
    /// Takes stored settings back.
    pub const fn from_stored(settings: Map<String, Value>) -> Self {
        Self(settings)
    }

    /// Reads the settings of a connection to `gateway`, naming `settings.<name>` for each that is
    /// unknown, missing or malformed, or that leads where no gateway may be (R230).
    ///
    /// # Errors
    ///
    /// All that is wrong.
    pub fn parse(
        gateway: &GatewayDescription,
        given: &Map<String, Value>,
        destinations: &GatewayDestinations,
    ) -> Result<Self, Problems> {
        let mut problems = Problems::new();
        let mut settings = Map::new();
        for name in given.keys() {
            if !gateway.settings().iter().any(|setting| setting.name() == name) {
                problems.add(format!("settings.{name}"), "is not a setting of this gateway");
            }
        }
        for setting in gateway.settings() {
            let name = setting.name();
            match given.get(name).filter(|value| !value.is_null()) {
                None if setting.is_required() => {
                    problems.add(format!("settings.{name}"), "is required");
                }
                None => {}
                Some(value) => match check(setting.form(), value, destinations) {
                    Ok(()) => {
                        settings.insert(name.to_owned(), value.clone());
                    }
                    Err(reason) => problems.add(format!("settings.{name}"), reason),
                },
            }
        }
        problems.into_result()?;
        Ok(Self(settings))
    }

    /// The settings with `given` merged into them; null removes one.
    pub fn merged(&self, given: &Map<String, Value>) -> Map<String, Value> {
        let mut merged = self.0.clone();
        merged.extend(given.clone());
        merged
    }

    /// All of them, secrets too, for the store.
    pub const fn expose(&self) -> &Map<String, Value> {
        &self.0
    }

    /// Those that may be shown; none if the gateway is unknown, as it is then unknown which are
    /// secret.
    pub fn shown(&self, gateway: Option<&GatewayDescription>) -> Map<String, Value> {
        let settings = gateway.map_or(&[][..], GatewayDescription::settings);
        let open = settings.iter().filter(|setting| !setting.is_secret());
        open.filter_map(|setting| {
            Some((setting.name().to_owned(), self.0.get(setting.name())?.clone()))
        })
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

    /// The origins of the gateway's addresses in them.
    pub(crate) fn origins(&self, gateway: &GatewayDescription) -> Vec<Origin> {
        let urls = gateway.settings().iter().filter(|setting| setting.form() == SettingForm::Url);
        urls.filter_map(|url| Origin::of(self.text(url.name())?).ok()).collect()
    }

    /// Whether `given` is the secret of this name, compared in constant time. Never when the
    /// setting is missing or empty, whatever was given.
    pub fn matches(&self, name: &str, given: &str) -> bool {
        self.text(name).is_some_and(|secret| SecretText::new(secret).matches(given))
    }

    /// A gateway's own text, without the secrets that it may have repeated (R125). If the gateway
    /// is unknown, any text among the settings counts as a secret.
    pub fn masked(&self, gateway: Option<&GatewayDescription>, text: &str) -> String {
        let secret = |name: &str| {
            gateway.is_none_or(|gateway| {
                let mut settings = gateway.settings().iter();
                settings.any(|setting| setting.name() == name && setting.is_secret())
            })
        };
        let secrets = self.0.iter().filter(|(name, _)| secret(name));
        let values = secrets.filter_map(|(_, value)| value.as_str());
        let mut long: Vec<&str> = values.filter(|value| value.len() >= MASKED_FROM).collect();
        // One value may be a part of another.
        long.sort_unstable_by_key(|value| std::cmp::Reverse(value.len()));
        long.into_iter().fold(text.to_owned(), |text, value| text.replace(value, "***"))
    }

    /// The same with a shorter time limit, unless it is as short already.
    #[must_use]
    pub fn with_timeout_of_at_most(&self, limit: std::time::Duration) -> Self {
        let millis = self.timeout().min(limit).as_millis();
        let mut settings = self.0.clone();
        let millis = u64::try_from(millis).unwrap_or(TIMEOUT_MS);
        settings.insert(TIMEOUT.to_owned(), Value::from(millis));
        Self(settings)
    }

    /// How long the gateway may take to answer a send (D36).
    pub fn timeout(&self) -> std::time::Duration {
        std::time::Duration::from_millis(self.number(TIMEOUT).unwrap_or(TIMEOUT_MS))
    }
}

fn check(
    form: SettingForm,
    value: &Value,
    destinations: &GatewayDestinations,
) -> Result<(), String> {
    match form {
        SettingForm::Text => {
            let text = value.as_str().ok_or("must be a string")?;
            let fits = (1..=MAX_TEXT).contains(&text.len()) && !text.chars().any(char::is_control);
            if fits { Ok(()) } else { Err(format!("must have 1 to {MAX_TEXT} characters")) }
        }
        SettingForm::Url => {
            let text = value.as_str().ok_or("must be a string")?;
            WebhookUrl::parse(text).map_err(|wrong| wrong.to_string())?;
            if text.contains('?') {
                return Err("must not have a query".to_owned());
            }
            let origin = Origin::of(text).map_err(|wrong| format!("cannot be called: {wrong}"))?;
            match destinations.may_name(&origin) {
                true => Ok(()),
                false => Err("leads where this installation allows no gateway".to_owned()),
            }
        }
        SettingForm::Integer { min, max } => value
            .as_u64()
            .filter(|number| (min..=max).contains(number))
            .map(|_| ())
            .ok_or_else(|| format!("must be a whole number from {min} to {max}")),
        SettingForm::Boolean => {
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

    use super::super::samples;
    use super::*;

    fn waha() -> ConnectionSettings {
        let given = json!({"base_url": "http://waha", "session": "loja-centro",
            "api_key": "key-123", "webhook_hmac_key": "k"});
        read(&given, "all").expect("acceptable")
    }

    fn read(given: &Value, destinations: &str) -> Result<ConnectionSettings, Vec<String>> {
        let given = given.as_object().expect("an object");
        let destinations = destinations.parse().expect(destinations);
        ConnectionSettings::parse(&samples::waha(), given, &destinations)
            .map_err(|problems| problems.fields().map(str::to_owned).collect())
    }

    /// R230.
    #[test]
    fn an_address_is_named_that_leads_where_no_gateway_may_be() {
        for (destinations, url, fits) in [
            ("all", "http://10.0.0.1:3000", true),
            ("all", "http://169.254.169.254/", false),
            ("all", "http://1.2.3.4.5", false),
            ("gw.example:443", "https://gw.example/waha", true),
            ("gw.example:443", "https://gw.example:444/waha", false),
            ("gw.example:443", "http://gw.example", false),
        ] {
            let given = json!({"base_url": url, "session": "s", "api_key": "k"});
            let mut problems = vec!["settings.base_url".to_owned()];
            problems.retain(|_| !fits);
            problems.push("settings.webhook_hmac_key".to_owned());
            assert_eq!(read(&given, destinations), Err(problems), "{destinations} {url}");
        }
    }

    /// R125.
    #[test]
    fn a_secret_that_a_gateway_repeats_is_masked() {
        let reported = "loja-centro: bad key key-123 (key-123)";
        let masked = waha().masked(Some(&samples::waha()), reported);
        assert_eq!(masked, "loja-centro: bad key *** (***)");
    }

    /// R125, R150.
    #[test]
    fn any_setting_counts_as_a_secret_where_the_gateway_is_not_known() {
        let reported = "loja-centro: bad key key-123";
        assert_eq!(waha().masked(None, reported), "***: bad key ***");
        assert_eq!(waha().shown(None), Map::new());
    }

    #[test]
    fn a_secret_that_is_missing_or_empty_matches_nothing() {
        let settings = waha();
        assert!(settings.matches("api_key", "key-123"));
        assert!(!settings.matches("api_key", "key-124"));
        assert!(!settings.matches("token", ""));
        let empty = json!({"token": ""}).as_object().expect("an object").clone();
        assert!(!ConnectionSettings::from_stored(empty).matches("token", ""));
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
