//! Bodies that make or change a connection.

use serde_json::{Map, Value};

use super::{Connection, ConnectionKind, ConnectionSettings, ConnectionStatus, Gateway};
use crate::Timestamp;
use crate::contacts::Platform;
use crate::ids::{CompanyId, ConnectionId};
use crate::input::{Given, Input, read_bool, read_word};
use crate::problems::Problems;
use crate::text;

/// A body that makes a connection.
#[derive(Clone, Debug)]
pub struct ConnectionDraft {
    kind: ConnectionKind,
    name: String,
    identifier: String,
    gateway: Gateway,
    settings: ConnectionSettings,
    is_active: bool,
    status: ConnectionStatus,
    /// Whether the body says so.
    reported: bool,
}

impl ConnectionDraft {
    /// Reads `kind`, `name`, `identifier`, `gateway` and, if they are there, `settings`,
    /// `is_active` and `status`. Without a status a simulated connection is connected and any
    /// other is not.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the body.
    pub fn parse(body: &Map<String, Value>) -> Result<Self, Problems> {
        let mut input = Input::new(body);
        let kind = input.required("kind", read_word(ConnectionKind::parse, ConnectionKind::WORDS));
        let name = input.required_text("name", text::NAME);
        let identifier = input.required("identifier", read_identifier);
        let gateway = input.required("gateway", read_word(Gateway::parse, Gateway::WORDS));
        let given = input.given("settings", read_object).value().unwrap_or_default();
        let is_active = input.given("is_active", read_bool).value().unwrap_or(true);
        let status = input.given("status", read_status).value();
        if let (Some(kind), Some(gateway)) = (kind, gateway)
            && !gateway.serves(kind)
        {
            input.problem("gateway", format!("has no connections of the kind {kind}"));
        }
        let settings = gateway.map(|gateway| ConnectionSettings::parse(gateway, &given));
        let mut problems = input.finish();
        let settings = match settings {
            Some(Ok(settings)) => Some(settings),
            Some(Err(wrong)) => {
                problems.merge(wrong);
                None
            }
            None => None,
        };
        problems.into_result()?;
        let missing = || Problems::of("kind", "is required");
        let gateway = gateway.ok_or_else(missing)?;
        let at_first = match gateway {
            Gateway::Simulated => ConnectionStatus::Connected,
            Gateway::CloudApi | Gateway::Waha | Gateway::Evolution => {
                ConnectionStatus::Disconnected
            }
        };
        Ok(Self {
            kind: kind.ok_or_else(missing)?,
            name: name.unwrap_or_default(),
            identifier: identifier.unwrap_or_default(),
            gateway,
            settings: settings.unwrap_or_default(),
            is_active,
            status: status.unwrap_or(at_first),
            reported: status.is_some(),
        })
    }

    /// Whether the body says if the gateway reaches the channel.
    pub const fn reports_status(&self) -> bool {
        self.reported
    }

    /// The connection.
    pub fn connection(self, id: ConnectionId, company: CompanyId, now: Timestamp) -> Connection {
        Connection {
            id,
            company,
            kind: self.kind,
            platform: Platform::whatsapp(),
            name: self.name,
            identifier: self.identifier,
            gateway: self.gateway,
            settings: self.settings,
            is_active: self.is_active,
            status: self.status,
            created_at: now,
            updated_at: now,
        }
    }
}

/// A body that changes a connection; its kind and gateway stay.
#[derive(Clone, Debug, Default)]
pub struct ConnectionPatch {
    name: Option<String>,
    identifier: Option<String>,
    settings: Option<Map<String, Value>>,
    is_active: Option<bool>,
    status: Option<ConnectionStatus>,
    problems: Problems,
}

impl ConnectionPatch {
    /// Reads any of `name`, `identifier`, `settings`, `is_active` and `status`. Never fails: what
    /// is wrong is answered by [`ConnectionPatch::apply`], together with what is wrong with the
    /// settings.
    pub fn parse(body: &Map<String, Value>) -> Self {
        let mut input = Input::new(body);
        let name = input.given_text("name", text::NAME);
        if matches!(name, Given::Cleared) {
            input.problem("name", "must not be empty");
        }
        let identifier = input.given("identifier", read_identifier);
        if matches!(identifier, Given::Cleared) {
            input.problem("identifier", "must not be empty");
        }
        let settings = input.given("settings", read_object).value();
        let is_active = input.given("is_active", read_bool).value();
        let status = input.given("status", read_status).value();
        for fixed in ["kind", "gateway"] {
            if input.raw(fixed).is_some() {
                input.problem(fixed, "cannot be changed; create a new connection instead");
            }
        }
        Self {
            name: name.value(),
            identifier: identifier.value(),
            settings,
            is_active,
            status,
            problems: input.finish(),
        }
    }

    /// Whether what was known of the gateway's state may hold no more: other settings, or a
    /// connection that nobody has looked at while it was not used.
    pub const fn makes_doubtful(&self) -> bool {
        self.settings.is_some() || matches!(self.is_active, Some(true))
    }

    /// The connection as it is afterwards; `updated_at` moves only when something changed.
    /// Settings are merged into those that it has; null removes one.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the body, the merged settings included.
    pub fn apply(&self, connection: &Connection, now: Timestamp) -> Result<Connection, Problems> {
        let mut problems = self.problems.clone();
        let mut changed = connection.clone();
        if let Some(given) = &self.settings {
            let merged = connection.settings.merged(given);
            match ConnectionSettings::parse(connection.gateway, &merged) {
                Ok(settings) => changed.settings = settings,
                Err(wrong) => problems.merge(wrong),
            }
        }
        problems.into_result()?;
        changed.name = self.name.clone().unwrap_or(changed.name);
        changed.identifier = self.identifier.clone().unwrap_or(changed.identifier);
        changed.is_active = self.is_active.unwrap_or(changed.is_active);
        changed.status = self.status.unwrap_or(changed.status);
        if changed != *connection {
            changed.updated_at = now;
        }
        Ok(changed)
    }
}

fn read_status(value: &Value) -> Result<ConnectionStatus, String> {
    read_word(ConnectionStatus::parse, ConnectionStatus::WORDS)(value)
}

fn read_object(value: &Value) -> Result<Map<String, Value>, String> {
    value.as_object().cloned().ok_or_else(|| "must be an object".to_owned())
}

/// 1 to 200 characters on one line; usually the digits of a number.
fn read_identifier(value: &Value) -> Result<String, String> {
    let text = value.as_str().ok_or("must be a string")?.trim();
    let fits = (1..=text::SHORT).contains(&text.chars().count());
    if fits && !text.chars().any(char::is_control) {
        Ok(text.to_owned())
    } else {
        Err(format!("must have 1 to {} characters, none of them control characters", text::SHORT))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use uuid::Uuid;

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_763_000_000_000);
    const LATER: Timestamp = Timestamp::from_millis(1_763_000_000_001);

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().expect("a test writes objects").clone()
    }

    fn made(body: Value) -> Connection {
        ConnectionDraft::parse(&object(body)).expect("acceptable").connection(
            ConnectionId::new(Uuid::from_u128(1)),
            CompanyId::new(Uuid::from_u128(2)),
            NOW,
        )
    }

    fn refused(body: Value) -> Vec<String> {
        let problems = ConnectionDraft::parse(&object(body)).expect_err("unacceptable");
        problems.fields().map(str::to_owned).collect()
    }

    fn simulated(more: Value) -> Value {
        let mut body = json!({"kind": "qr", "name": "Loja", "identifier": "5511987654321",
            "gateway": "simulated"});
        body.as_object_mut().expect("an object").extend(object(more));
        body
    }

    fn waha() -> Value {
        json!({"kind": "qr", "name": "Loja", "identifier": "5511987654321", "gateway": "waha",
            "settings": {"base_url": "http://waha", "session": "s", "api_key": "k",
                "webhook_hmac_key": "h"}})
    }

    #[test]
    fn a_simulated_connection_is_connected_at_once_and_others_are_not() {
        assert_eq!(made(simulated(json!({}))).status, ConnectionStatus::Connected);
        assert_eq!(made(waha()).status, ConnectionStatus::Disconnected);
    }

    #[test]
    fn a_status_that_is_given_holds() {
        let off = made(simulated(json!({"status": "disconnected"})));
        assert_eq!(off.status, ConnectionStatus::Disconnected);
        let mut body = waha();
        body["status"] = json!("connected");
        assert_eq!(made(body).status, ConnectionStatus::Connected);
    }

    #[test]
    fn every_missing_field_is_named() {
        assert_eq!(refused(json!({})), ["kind", "name", "identifier", "gateway"]);
    }

    #[test]
    fn a_gateway_must_serve_the_kind() {
        let body = simulated(json!({"kind": "official_cloud", "gateway": "waha"}));
        assert!(refused(body).contains(&"gateway".to_owned()));
        let mut body = waha();
        body["kind"] = json!("official_cloud");
        assert_eq!(refused(body), ["gateway"]);
        made(simulated(json!({"kind": "official_cloud"})));
    }

    #[test]
    fn wrong_settings_are_named_one_by_one_beside_other_problems() {
        let mut body = waha();
        body["settings"] = json!({"base_url": 7, "session": "s", "api_key": "k", "color": "red"});
        body["colour"] = json!("red");
        assert_eq!(
            refused(body),
            ["colour", "settings.color", "settings.base_url", "settings.webhook_hmac_key"]
        );
        assert_eq!(refused(simulated(json!({"settings": []}))), ["settings"]);
    }

    #[test]
    fn an_identifier_is_one_line_of_text() {
        for wrong in [json!("  "), json!("a\nb"), json!("x".repeat(201)), json!(7)] {
            assert_eq!(refused(simulated(json!({"identifier": wrong}))), ["identifier"]);
        }
        assert_eq!(made(simulated(json!({"identifier": " +55 11 "}))).identifier, "+55 11");
    }

    fn patched(connection: &Connection, body: Value) -> Result<Connection, Vec<String>> {
        ConnectionPatch::parse(&object(body))
            .apply(connection, LATER)
            .map_err(|problems| problems.fields().map(str::to_owned).collect())
    }

    #[test]
    fn settings_are_merged_and_null_removes_one() {
        let before = made(simulated(json!({"settings": {"delay_ms": 5, "reports": false}})));
        let after = patched(&before, json!({"settings": {"delay_ms": 7, "reports": null}}));
        let after = after.expect("acceptable");
        assert_eq!(after.settings.number("delay_ms"), Some(7));
        assert_eq!(after.settings.flag("reports"), None);
        assert_eq!(after.updated_at, LATER);
    }

    #[test]
    fn a_required_setting_cannot_be_removed() {
        let answer = patched(&made(waha()), json!({"settings": {"api_key": null}}));
        assert_eq!(answer, Err(vec!["settings.api_key".to_owned()]));
    }

    #[test]
    fn kind_and_gateway_are_fixed() {
        let before = made(waha());
        let answer = patched(&before, json!({"kind": "qr", "gateway": "evolution", "x": 1}));
        assert_eq!(answer, Err(vec!["kind".to_owned(), "gateway".to_owned(), "x".to_owned()]));
    }

    #[test]
    fn a_name_or_identifier_cannot_be_emptied() {
        let answer = patched(&made(waha()), json!({"name": " ", "identifier": null}));
        assert_eq!(answer, Err(vec!["name".to_owned(), "identifier".to_owned()]));
    }

    #[test]
    fn a_patch_that_changes_nothing_leaves_the_time_of_change() {
        let before = made(waha());
        let body = json!({"name": "Loja", "settings": {"session": "s"}, "is_active": true});
        assert_eq!(patched(&before, body), Ok(before));
    }

    #[test]
    fn secrets_are_never_shown() {
        let connection = made(waha());
        let view = serde_json::to_value(super::super::ConnectionView::new(
            &connection,
            "https://x.example",
        ));
        let view = view.expect("json");
        assert_eq!(view["settings"], json!({"base_url": "http://waha", "session": "s"}));
        assert_eq!(view["type"], "whatsapp");
        assert_eq!(view["provider"], "qr");
        assert!(!format!("{connection:?}").contains("http://waha"));
    }
}
