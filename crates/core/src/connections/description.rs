//! The description of a gateway: its name, its settings, and its capabilities.

use std::borrow::Cow;
use std::fmt;

use super::connection::ConnectionKind;
use super::gateway_name::GatewayName;
use crate::gateway::{FileKind, MessageKind};
use crate::words::words;

/// The largest `timeout_ms` (D50).
const MAX_TIMEOUT_MS: u64 = 50_000;

words! {
    /// A capability of a gateway, if it has to be known before a request.
    Capability {
        /// Sends free text.
        Text = "text",
        /// Sends messages made from approved templates (D40).
        Template = "template",
        /// Can be asked which templates an account has (D69).
        TemplateList = "template_list",
        /// Can be asked which groups a number is in (D64).
        Groups = "groups",
        /// Can list past events.
        History = "history",
        /// Pairs a phone by a QR code.
        Qr = "qr",
        /// Can be asked whether it reaches the channel.
        State = "state",
        /// Calls the connection's webhook address.
        Webhook = "webhook",
        /// Can be searched for a message whose send has an unknown outcome.
        FindSent = "find_sent",
        /// Can be asked for the phone of a person with another name.
        Names = "names",
        /// A failure with `RECIPIENT_OPTED_OUT` is the person's own wish (D43, R114).
        OptOuts = "opt_outs",
    }
}

/// How a setting is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingForm {
    /// A text of 1 to 2048 bytes without control characters.
    Text,
    /// The address of a gateway: http or https, without a query.
    Url,
    /// A whole number.
    Integer {
        /// The least.
        min: u64,
        /// The most.
        max: u64,
    },
    /// `true` or `false`.
    Boolean,
}

impl SettingForm {
    /// The word for it in `GET /gateways`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Url => "url",
            Self::Integer { .. } => "integer",
            Self::Boolean => "boolean",
        }
    }
}

/// One setting of a gateway. Optional unless [required](Setting::required).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    name: Cow<'static, str>,
    form: SettingForm,
    is_required: bool,
    is_secret: bool,
}

impl Setting {
    fn of(name: impl Into<Cow<'static, str>>, form: SettingForm) -> Self {
        Self { name: name.into(), form, is_required: false, is_secret: false }
    }

    /// A text that may be shown.
    pub fn text(name: impl Into<Cow<'static, str>>) -> Self {
        Self::of(name, SettingForm::Text)
    }

    /// The address of a gateway.
    pub fn url(name: impl Into<Cow<'static, str>>) -> Self {
        Self::of(name, SettingForm::Url)
    }

    /// A text that is never shown, logged or returned.
    pub fn secret(name: impl Into<Cow<'static, str>>) -> Self {
        Self { is_secret: true, ..Self::text(name) }
    }

    /// A whole number from `min` to `max`.
    pub fn integer(name: impl Into<Cow<'static, str>>, min: u64, max: u64) -> Self {
        Self::of(name, SettingForm::Integer { min, max })
    }

    /// `true` or `false`.
    pub fn boolean(name: impl Into<Cow<'static, str>>) -> Self {
        Self::of(name, SettingForm::Boolean)
    }

    /// The same, and it must be there.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.is_required = true;
        self
    }

    /// How long a send may take, which connections of every gateway have (D36).
    fn timeout() -> Self {
        Self::integer("timeout_ms", 1, MAX_TIMEOUT_MS)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How it is written.
    pub const fn form(&self) -> SettingForm {
        self.form
    }

    /// Whether it must be there.
    pub const fn is_required(&self) -> bool {
        self.is_required
    }

    /// Whether it is never shown.
    pub const fn is_secret(&self) -> bool {
        self.is_secret
    }
}

/// The settings by which the calls of one webhook address are shared out among several connections:
/// of a gateway that calls one address for all numbers of an account (D68).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedWebhook {
    /// The setting whose secret signs the calls: connections with another secret never get them.
    pub secret: Cow<'static, str>,
    /// The setting that [`Addressee::Number`](crate::gateway::Addressee::Number) names.
    pub number: Cow<'static, str>,
    /// The setting that [`Addressee::Account`](crate::gateway::Addressee::Account) names.
    pub account: Cow<'static, str>,
}

/// The description of a gateway. It determines which connections can be made, their settings and
/// which of these are masked, their jobs, and what the operator API shows.
#[derive(Clone, PartialEq, Eq)]
pub struct GatewayDescription {
    name: GatewayName,
    kind: Option<ConnectionKind>,
    settings: Vec<Setting>,
    can: Vec<Capability>,
    sends: Vec<MessageKind>,
    file_limits: Vec<(FileKind, u64)>,
    shared_webhook: Option<SharedWebhook>,
}

impl GatewayDescription {
    /// A gateway of this name that serves connections of both kinds, has no settings of its own,
    /// and can do nothing yet.
    pub fn new(name: GatewayName) -> Self {
        let settings = vec![Setting::timeout()];
        Self {
            name,
            kind: None,
            settings,
            can: Vec::new(),
            sends: Vec::new(),
            file_limits: Vec::new(),
            shared_webhook: None,
        }
    }

    /// The same, for connections of this kind only.
    #[must_use]
    pub fn serving(mut self, kind: ConnectionKind) -> Self {
        self.kind = Some(kind);
        self
    }

    /// The same with one more setting. The last of several with one name counts. Every gateway has
    /// `timeout_ms` besides: how long a send may take, in milliseconds (D36).
    #[must_use]
    pub fn setting(mut self, setting: Setting) -> Self {
        self.settings.retain(|known| known.name != setting.name);
        // `timeout_ms` stays the last.
        self.settings.insert(self.settings.len().saturating_sub(1), setting);
        self
    }

    /// The same, able to do all this too.
    #[must_use]
    pub fn able(mut self, can: impl IntoIterator<Item = Capability>) -> Self {
        self.can.extend(can);
        self.can.sort_unstable();
        self.can.dedup();
        self
    }

    /// The same, carrying and doing all this too, beside text and templates, which are
    /// [capabilities](Capability).
    #[must_use]
    pub fn sends(mut self, kinds: impl IntoIterator<Item = MessageKind>) -> Self {
        self.sends.extend(kinds);
        self.sends.sort_unstable();
        self.sends.dedup();
        self
    }

    /// The same, taking files of this kind up to `bytes` only, which is less than the contract's
    /// limit (X10).
    #[must_use]
    pub fn file_limit(mut self, kind: FileKind, bytes: u64) -> Self {
        self.file_limits.retain(|(known, _)| *known != kind);
        self.file_limits.push((kind, bytes));
        self
    }

    /// The same, with calls for several connections at one webhook address.
    #[must_use]
    pub fn sharing_webhook(mut self, shared: SharedWebhook) -> Self {
        self.shared_webhook = Some(shared);
        self
    }

    /// The same under another name: for a program that runs one adapter as several gateways.
    #[must_use]
    pub fn named(mut self, name: GatewayName) -> Self {
        self.name = name;
        self
    }

    /// Its name.
    pub const fn name(&self) -> &GatewayName {
        &self.name
    }

    /// The kind of the connections it serves; `None` when it serves both.
    pub const fn kind(&self) -> Option<ConnectionKind> {
        self.kind
    }

    /// Whether it serves connections of `kind`.
    pub fn serves(&self, kind: ConnectionKind) -> bool {
        self.kind.is_none_or(|own| own == kind)
    }

    /// The settings of its connections, `timeout_ms` at last.
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// What it can do.
    pub fn capabilities(&self) -> &[Capability] {
        &self.can
    }

    /// What it carries and does.
    pub fn kinds(&self) -> Vec<MessageKind> {
        let text = self.can(Capability::Text).then_some(MessageKind::Text);
        let template = self.can(Capability::Template).then_some(MessageKind::Template);
        text.into_iter().chain(template).chain(self.sends.iter().copied()).collect()
    }

    /// The limit of its own for files of this kind, in bytes.
    pub fn limit_of(&self, kind: FileKind) -> Option<u64> {
        self.file_limits.iter().find(|(known, _)| *known == kind).map(|(_, bytes)| *bytes)
    }

    /// Whether it can do this.
    pub fn can(&self, capability: Capability) -> bool {
        self.can.contains(&capability)
    }

    /// Whether a new connection counts as connected: one that cannot be asked for its state is,
    /// until its gateway or an operator says otherwise (R150).
    pub fn begins_connected(&self) -> bool {
        !self.can(Capability::State)
    }

    /// How the calls of one webhook address are shared out.
    pub const fn shared_webhook(&self) -> Option<&SharedWebhook> {
        self.shared_webhook.as_ref()
    }
}

impl fmt::Debug for GatewayDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GatewayDescription").field(&self.name).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: GatewayName = GatewayName::new("house");

    fn names(description: &GatewayDescription) -> Vec<&str> {
        description.settings().iter().map(Setting::name).collect()
    }

    #[test]
    fn every_gateway_has_a_time_limit_after_its_own_settings() {
        let described = GatewayDescription::new(NAME);
        assert_eq!(names(&described), ["timeout_ms"]);
        let described = described.setting(Setting::url("base_url")).setting(Setting::secret("key"));
        assert_eq!(names(&described), ["base_url", "key", "timeout_ms"]);
    }

    #[test]
    fn the_last_of_several_settings_with_one_name_counts() {
        let described = GatewayDescription::new(NAME)
            .setting(Setting::text("key"))
            .setting(Setting::text("session"))
            .setting(Setting::secret("key").required());
        assert_eq!(names(&described), ["session", "key", "timeout_ms"]);
        let key = &described.settings()[1];
        assert!(key.is_secret() && key.is_required());
    }

    #[test]
    fn a_gateway_serves_both_kinds_unless_it_says_one() {
        let both = GatewayDescription::new(NAME);
        assert!(ConnectionKind::ALL.iter().all(|kind| both.serves(*kind)));
        let qr = both.serving(ConnectionKind::Qr);
        assert!(qr.serves(ConnectionKind::Qr) && !qr.serves(ConnectionKind::OfficialCloud));
    }

    /// R150.
    #[test]
    fn a_gateway_that_cannot_be_asked_for_its_state_begins_connected() {
        let described = GatewayDescription::new(NAME).able([Capability::Webhook]);
        assert!(described.begins_connected());
        assert!(!described.able([Capability::State]).begins_connected());
    }
}
