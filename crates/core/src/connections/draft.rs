//! Bodies that make or change a connection.

use serde_json::{Map, Value};

use super::{
    Connection, ConnectionKind, ConnectionSettings, ConnectionStatus, GatewayDescription,
    GatewayName,
};
use crate::Timestamp;
use crate::body::{IntoBody, Kept, Optional, OrDefault, Required, WriteOver, body};
use crate::contacts::Platform;
#[cfg(feature = "openapi")]
use crate::form::Short;
use crate::form::{Entries, Form, Name};
use crate::gateway::{GatewayDestinations, Providers};
use crate::ids::{CompanyId, ConnectionId};
use crate::input::{self, Input};
use crate::problems::Problems;
use crate::text;

/// 1 to 200 characters on one line; usually the digits of a number.
pub(crate) struct ConnectionIdentifier;

impl Form for ConnectionIdentifier {
    type Value = String;

    fn read(value: &Value) -> Result<String, String> {
        let text = value.as_str().ok_or("must be a string")?.trim();
        let fits = (1..=text::SHORT).contains(&text.chars().count());
        if fits && !text.chars().any(char::is_control) {
            Ok(text.to_owned())
        } else {
            let max = text::SHORT;
            Err(format!("must have 1 to {max} characters, none of them control characters"))
        }
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        Short::schema()
    }
}

body! {
    /// A new connection.
    #[derive(Clone, Debug)]
    pub struct NewConnection as "CreateConnection" {
        kind: ConnectionKind = Required<ConnectionKind>,
        name: String = Required<Name>,
        /// Its own number on the channel.
        identifier: String = Required<ConnectionIdentifier>,
        /// One of GET /gateways that serves the kind.
        gateway: GatewayName = Required<GatewayName>,
        /// Of the gateway.
        settings: Map<String, Value> = OrDefault<Entries>,
        /// True by default.
        is_active: Option<bool> = Optional<bool>,
        /// By default a connection whose gateway cannot be asked for its state is connected, any
        /// other not.
        status: Option<ConnectionStatus> = Optional<ConnectionStatus>,
    }
}

/// A body that makes a connection.
#[derive(Clone, Debug)]
pub struct ConnectionDraft {
    body: NewConnection,
    settings: ConnectionSettings,
    begins_connected: bool,
}

impl ConnectionDraft {
    /// Reads a [`NewConnection`] with the settings of its gateway, which is one of `gateways` and
    /// within `destinations` (R230).
    /// Without a status a connection whose gateway cannot be asked for its state is connected, and
    /// any other is not.
    ///
    /// # Errors
    ///
    /// All problems of the body.
    pub fn parse(
        body: impl IntoBody<NewConnection>,
        gateways: &Providers,
        destinations: &GatewayDestinations,
    ) -> Result<Self, Problems> {
        let body = &*body.into_map();
        let mut input = Input::new(body);
        let kind = body.get("kind").and_then(Value::as_str).and_then(ConnectionKind::parse);
        let read = NewConnection::fields(&mut input);
        let name = body.get("gateway").and_then(Value::as_str).and_then(GatewayName::parse);
        let gateway = name.as_ref().and_then(|name| gateways.description(name));
        let mut settings = ConnectionSettings::default();
        if let Some(gateway) = gateway {
            if let Some(kind) = kind.filter(|kind| !gateway.serves(*kind)) {
                input.problem("gateway", format!("has no connections of the kind {kind}"));
            }
            let given = match &read {
                Some(read) => Some(&read.settings),
                None => body.get("settings").and_then(Value::as_object),
            };
            match ConnectionSettings::parse(gateway, given.unwrap_or(&Map::new()), destinations) {
                Ok(fit) => settings = fit,
                Err(wrong) => input.problems_at_last(wrong),
            }
        } else if name.is_some() {
            input.problem("gateway", format!("must be one of {}", names(gateways)));
        }
        let begins_connected = gateway.is_some_and(GatewayDescription::begins_connected);
        input.finish().into_result()?;
        let body = read.ok_or_else(Problems::new)?;
        Ok(Self { body, settings, begins_connected })
    }

    /// Whether the body says if the gateway reaches the channel.
    pub const fn reports_status(&self) -> bool {
        self.body.status.is_some()
    }

    /// The connection.
    pub fn connection(self, id: ConnectionId, company: CompanyId, now: Timestamp) -> Connection {
        let body = self.body;
        let at_first = match self.begins_connected {
            true => ConnectionStatus::Connected,
            false => ConnectionStatus::Disconnected,
        };
        Connection {
            id,
            company,
            kind: body.kind,
            platform: Platform::whatsapp(),
            name: body.name,
            identifier: body.identifier,
            gateway: body.gateway,
            settings: self.settings,
            is_active: body.is_active.unwrap_or(true),
            status: body.status.unwrap_or(at_first),
            created_at: now,
            updated_at: now,
            last_heard_at: None,
        }
    }
}

fn names(gateways: &Providers) -> String {
    let names = gateways.descriptions().map(|gateway| gateway.name().as_str());
    names.collect::<Vec<_>>().join(", ")
}

body! {
    /// What changes of a connection.
    #[derive(Clone, Debug)]
    pub struct ConnectionChange as "UpdateConnection" partial {
        name: Option<String> = Kept<Name>,
        identifier: Option<String> = Kept<ConnectionIdentifier>,
        /// Merged into the stored settings; null removes one.
        settings: Option<Map<String, Value>> = Optional<Entries>,
        is_active: Option<bool> = Optional<bool>,
        status: Option<ConnectionStatus> = Optional<ConnectionStatus>,
    }
    check |input| for fixed in ["kind", "gateway"] {
        input.reject(fixed, "cannot be changed; create a new connection instead");
    };
}

/// A body that changes a connection; its kind and gateway stay.
#[derive(Clone, Debug)]
pub struct ConnectionPatch {
    sent: ConnectionChange,
    problems: Problems,
}

impl ConnectionPatch {
    /// Reads a [`ConnectionChange`]. Never fails: [`ConnectionPatch::apply`] answers all problems,
    /// those of the settings included.
    pub fn parse(body: impl IntoBody<ConnectionChange>) -> Self {
        let (sent, problems) = input::parse_partly(&body.into_map(), ConnectionChange::fields);
        Self { sent, problems }
    }

    /// Whether the known state of the gateway may be outdated: the settings changed, or the
    /// connection was inactive and therefore not checked.
    pub const fn makes_doubtful(&self) -> bool {
        self.sent.settings.is_some() || matches!(self.sent.is_active, Some(true))
    }

    /// The connection as it is afterwards; `updated_at` moves only when something changed. Settings
    /// are merged into those that it has; null removes one. They cannot be changed if this process
    /// does not have its `gateway`.
    ///
    /// # Errors
    ///
    /// All problems of the body, the merged settings included.
    pub fn apply(
        &self,
        connection: &Connection,
        gateway: Option<&GatewayDescription>,
        destinations: &GatewayDestinations,
        now: Timestamp,
    ) -> Result<Connection, Problems> {
        let mut problems = self.problems.clone();
        let mut changed = connection.clone();
        if let Some(given) = &self.sent.settings {
            let merged = connection.settings.merged(given);
            match gateway.map(|gateway| ConnectionSettings::parse(gateway, &merged, destinations)) {
                Some(Ok(settings)) => changed.settings = settings,
                Some(Err(wrong)) => problems.merge(wrong),
                None => problems.add("settings", "cannot be changed: the gateway is unavailable"),
            }
        }
        problems.into_result()?;
        self.sent.name.write_over(&mut changed.name);
        self.sent.identifier.write_over(&mut changed.identifier);
        self.sent.is_active.write_over(&mut changed.is_active);
        self.sent.status.write_over(&mut changed.status);
        if changed != *connection {
            changed.updated_at = now;
        }
        Ok(changed)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use uuid::Uuid;

    use super::super::samples;
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_763_000_000_000);
    const LATER: Timestamp = Timestamp::from_millis(1_763_000_000_001);

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().expect("a test writes objects").clone()
    }

    fn parse(body: Value) -> Result<ConnectionDraft, Problems> {
        let anywhere = GatewayDestinations::default();
        ConnectionDraft::parse(&object(body), &samples::providers(), &anywhere)
    }

    fn made(body: Value) -> Connection {
        parse(body).expect("acceptable").connection(
            ConnectionId::new(Uuid::from_u128(1)),
            CompanyId::new(Uuid::from_u128(2)),
            NOW,
        )
    }

    fn refused(body: Value) -> Vec<String> {
        let problems = parse(body).expect_err("unacceptable");
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
    fn a_gateway_is_one_of_those_that_the_program_has() {
        for name in ["house", "x y", ""] {
            assert_eq!(refused(simulated(json!({"gateway": name}))), ["gateway"]);
        }
        let problems = parse(simulated(json!({"gateway": "house"}))).expect_err("unknown");
        let told = problems.to_string();
        assert!(told.contains("must be one of simulated, cloud_api, waha"), "{told}");
    }

    /// R150.
    #[test]
    fn a_connection_whose_gateway_is_not_there_keeps_its_settings_and_shows_none() {
        let before = made(waha());
        let anywhere = GatewayDestinations::default();
        let patch =
            |body| ConnectionPatch::parse(&object(body)).apply(&before, None, &anywhere, LATER);
        let refused = patch(json!({"settings": {"session": "t"}})).expect_err("nobody can check");
        assert_eq!(refused.fields().collect::<Vec<_>>(), ["settings"]);
        let renamed = patch(json!({"name": "Matriz"})).expect("acceptable");
        assert_eq!((renamed.name.as_str(), &renamed.settings), ("Matriz", &before.settings));
        let view = super::super::ConnectionView::new(&renamed, None, "https://x.example");
        let view = serde_json::to_value(view).expect("json");
        assert_eq!(view["status"], "unavailable");
        assert_eq!((&view["settings"], &view["webhook_url"]), (&json!({}), &Value::Null));
        assert_eq!(view["gateway"], "waha");
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
        let gateways = samples::providers();
        ConnectionPatch::parse(&object(body))
            .apply(
                connection,
                gateways.description(&connection.gateway),
                &GatewayDestinations::default(),
                LATER,
            )
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
            Some(&samples::waha()),
            "https://x.example",
        ));
        let view = view.expect("json");
        assert_eq!(view["settings"], json!({"base_url": "http://waha", "session": "s"}));
        assert_eq!(view["type"], "whatsapp");
        assert_eq!(view["provider"], "qr");
        assert!(!format!("{connection:?}").contains("http://waha"));
    }
}
