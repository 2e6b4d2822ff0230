//! The table of all options. The flags, the environment, the file and `--help` are made from it.

use std::path::{Path, PathBuf};

use recado_core::gateway::{GatewayDestinations, InvalidDestination};
use recado_core::secret::SecretText;
use tracing_subscriber::EnvFilter;

use super::Options;
use super::cells::read_cell_urls;
use super::nats::{read_servers, read_subject};
use super::oidc::{read_issuer, read_word};
use super::otlp::read_endpoint;
use super::standby::read_standby;
use super::values::{
    read_base_url, read_cell, read_connections, read_group_suffix, read_list, read_listen,
    read_networks, read_switch,
};

/// How an option is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OptionFormat {
    /// One value.
    Text,
    /// A number.
    Number,
    /// The path of a file.
    Path,
    /// A path behind `sqlite:` or `file:`, or a URL.
    Place,
    /// Values with commas between them; an array in the file.
    List,
    /// `true` or `false`; the flag alone means `true`.
    Switch,
}

/// One option.
#[derive(Debug)]
pub struct Setting {
    /// The name: of the flag behind `--`, and of the key in the file.
    pub name: &'static str,
    /// The environment variable.
    pub env: &'static str,
    /// The default, where there is one.
    pub default: Option<&'static str>,
    /// What it is for, in a line.
    pub help: &'static str,
    pub(super) placeholder: &'static str,
    pub(super) form: OptionFormat,
    pub(super) set: fn(&mut Options, &str) -> Result<(), String>,
}

impl Setting {
    /// The line of `--help`: the purpose, the environment variable and the key in the file.
    pub(super) fn help_line(&self) -> String {
        let default = self.default.map(|d| format!(" [default: {d}]")).unwrap_or_default();
        format!("{} [env: {}] [file: {}]{default}", self.help, self.env, self.name)
    }

    /// A value of a file in `folder`: relative paths are relative to that.
    ///
    /// R266.
    pub(super) fn in_folder_of(&self, value: &str, folder: &Path) -> String {
        self.with_path(value, |path| folder.join(path))
    }

    /// A value of a flag for a file in `folder`: a path inside is relative to it, another one
    /// absolute.
    ///
    /// R266.
    pub(crate) fn in_folder(&self, value: &str, folder: &Path) -> String {
        self.with_path(value, |path| {
            let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
            whole.strip_prefix(folder).map(Path::to_path_buf).unwrap_or(whole)
        })
    }

    /// The value with another path in place of its own, if it has one.
    fn with_path(&self, value: &str, change: impl Fn(&Path) -> PathBuf) -> String {
        let is_path = |path: &str| !path.is_empty() && path != ":memory:";
        match self.form {
            OptionFormat::Path if is_path(value) => change(Path::new(value)).display().to_string(),
            OptionFormat::Place => {
                let behind = |scheme: &'static str| Some((scheme, value.strip_prefix(scheme)?));
                let Some((scheme, path)) = ["sqlite:", "file:"].into_iter().find_map(behind) else {
                    return value.to_owned();
                };
                match path.strip_prefix("//").unwrap_or(path) {
                    path if is_path(path) => {
                        format!("{scheme}{}", change(Path::new(path)).display())
                    }
                    _ => value.to_owned(),
                }
            }
            _ => value.to_owned(),
        }
    }

    /// A value as the file has it.
    pub(crate) fn in_toml(&self, value: &str) -> String {
        let text = |text: &str| toml::Value::from(text).to_string();
        match self.form {
            OptionFormat::Switch if matches!(value, "true" | "false") => value.to_owned(),
            OptionFormat::Number => match value.trim().parse::<u64>() {
                Ok(number) => number.to_string(),
                Err(_) => text(value),
            },
            OptionFormat::List => {
                let entries: Vec<String> = read_list(value).map(text).collect();
                format!("[{}]", entries.join(", "))
            }
            _ => text(value),
        }
    }
}

macro_rules! setting {
    ($name:literal, $env:literal, $form:ident $placeholder:literal, $default:expr, $help:literal,
     |$options:ident, $text:ident| $set:expr) => {
        Setting {
            name: $name,
            env: concat!("RECADO_", $env),
            default: $default,
            help: $help,
            placeholder: $placeholder,
            form: OptionFormat::$form,
            set: |$options: &mut Options, $text: &str| -> Result<(), String> {
                $set;
                Ok(())
            },
        }
    };
}

static SETTINGS: &[Setting] = &[
    setting!("database", "DATABASE", Place "URL", Some("sqlite:recado.db"),
        "The database: sqlite:PATH or postgres://…",
        |options, text| options.database = text.parse()?),
    setting!("database-connections", "DATABASE_CONNECTIONS", Number "NUMBER", Some("16"),
        "How many connections to the Postgres this process keeps at most, 4 to 500",
        |options, text| options.database_connections = read_connections(text)?),
    setting!("standby-database", "STANDBY_DATABASE", Text "URL", None,
        "A hot standby of the Postgres, from which listings of both APIs are read",
        |options, text| options.standby_database = read_standby(text)?),
    setting!("standby-max-lag", "STANDBY_MAX_LAG", Text "DURATION", Some("10s"),
        "How far the standby may be behind; while it is further, listings are read from --database",
        |options, text| options.standby_max_lag = read_positive(text)?),
    setting!("nats", "NATS", Text "URL,…", None,
        "NATS servers, by which processes on one Postgres notify each other of deliveries",
        |options, text| options.nats = read_servers(text)?),
    setting!("nats-subject", "NATS_SUBJECT", Text "SUBJECT", Some("recado.deliveries"),
        "The subject of those notifications; no other installation there may use it",
        |options, text| options.nats_subject = read_subject(text)?),
    setting!("listen", "LISTEN", Text "ADDRESS", Some("127.0.0.1:8080"),
        "The address to listen on; port 0 takes a free one",
        |options, text| options.listen = read_listen(text)?),
    setting!("operator-listen", "OPERATOR_LISTEN", Text "ADDRESS", None,
    "An address for the operator API and /metrics alone, which then are nowhere else",
    |options, text| options.operator_listen = match text.trim() {
        "" => None,
        address => Some(read_listen(address)?),
    }),
    setting!("operator-token", "OPERATOR_TOKEN", Text "TOKEN", None,
    "The operator API's token, of 32 characters or more; without one it answers 404",
    |options, text| options.operator_token = match text.trim() {
        "" => None,
        token => Some(read_token(token)?),
    }),
    setting!("operator-token-file", "OPERATOR_TOKEN_FILE", Path "FILE", None,
    "A file with the operator API's token, in place of the token itself",
    |options, text| options.operator_token_file = match text {
        "" => None,
        path => Some(path.into()),
    }),
    setting!("documents", "DOCUMENTS", Place "URL", Some("file:recado-documents"),
        "Where documents are kept: file:PATH or s3://BUCKET/PREFIX",
        |options, text| options.documents = text.parse()?),
    setting!("public-url", "PUBLIC_URL", Text "URL", None,
        "The address the world sees, for links; by default the one listened on",
        |options, text| options.public_url = Some(read_base_url(text)?)),
    setting!("gateway-destinations", "GATEWAY_DESTINATIONS", List "PLACE,…", Some("all"),
    "Hosts and networks that settings of connections may name, such as public or waha:3000",
    |options, text| {
        options.gateway_destinations = match text.trim() {
            "" => GatewayDestinations::default(),
            text => text.parse().map_err(|wrong: InvalidDestination| wrong.to_string())?,
        };
    }),
    setting!("group-suffix", "GROUP_SUFFIX", Text "SUFFIX", Some("g.us"),
        "What follows @ in group codes",
        |options, text| options.group_suffix = read_group_suffix(text)?),
    setting!("webhook-retry-waits", "WEBHOOK_RETRY_WAITS", List "W,W,W,W", Some("30s,2m,10m,30m"),
        "The four waits between the five attempts at a webhook delivery",
        |options, text| options.webhook_retry_waits = read_waits(text)?),
    setting!("webhook-timeout", "WEBHOOK_TIMEOUT", Text "DURATION", Some("10s"),
        "How long a webhook's receiver may take to answer",
        |options, text| options.webhook_timeout = read_positive(text)?),
    setting!("retention", "RETENTION", Text "DURATION", Some("30d"),
        "How long finished deliveries, their bodies and the event journal are kept",
        |options, text| options.retention = read_positive(text)?),
    setting!("media-link-lifetime", "MEDIA_LINK_LIFETIME", Text "DURATION", Some("30d"),
        "How long a link to the file of a message is good, at least; from 1d on",
        |options, text| options.media_link_lifetime = read_days(text)?),
    setting!("media-retention", "MEDIA_RETENTION", Text "DURATION", Some("30d"),
        "How long uploads are kept that no message has",
        |options, text| options.media_retention = read_positive(text)?),
    setting!("message-retention", "MESSAGE_RETENTION", Text "DURATION", None,
        "How long messages and their files are kept, 1d or more; without it forever",
        |options, text| options.message_retention = read_kept(text, A_DAY)?),
    setting!("click-retention", "CLICK_RETENTION", Text "DURATION", None,
        "How long clicks on tracked links are kept; without it forever",
        |options, text| options.click_retention = read_kept(text, NO_TIME)?),
    setting!("ledger-retention", "LEDGER_RETENTION", Text "DURATION", None,
        "How long the lines of the ledger are kept; without it forever",
        |options, text| options.ledger_retention = read_kept(text, NO_TIME)?),
    setting!("audit-retention", "AUDIT_RETENTION", Text "DURATION", Some("365d"),
        "How long the entries of the audit log are kept",
        |options, text| options.audit_retention = read_kept(text, NO_TIME)?),
    setting!("session-idle", "SESSION_IDLE", Text "DURATION", Some("12h"),
        "How long a session of a member lives without a call",
        |options, text| options.session_idle = read_positive(text)?),
    setting!("session-lifetime", "SESSION_LIFETIME", Text "DURATION", Some("14d"),
        "How long a session of a member lives in all",
        |options, text| options.session_lifetime = read_positive(text)?),
    setting!("oidc-issuer", "OIDC_ISSUER", Text "URL", None,
        "The OpenID Connect provider that members may sign in with: its issuer",
        |options, text| options.oidc_issuer = read_issuer(text)?),
    setting!("oidc-client-id", "OIDC_CLIENT_ID", Text "ID", None,
        "What this installation is called at that provider: the id of the client",
        |options, text| options.oidc_client_id = read_word(text)),
    setting!("oidc-client-secret", "OIDC_CLIENT_SECRET", Text "SECRET", None,
        "The secret of that client, if it has one",
        |options, text| options.oidc_client_secret = read_word(text).map(SecretText::new)),
    setting!("oidc-client-secret-file", "OIDC_CLIENT_SECRET_FILE", Path "FILE", None,
    "A file with the secret of that client, in place of the secret itself",
    |options, text| options.oidc_client_secret_file = match text {
        "" => None,
        path => Some(path.into()),
    }),
    setting!("oidc-name", "OIDC_NAME", Text "NAME", None,
        "What the page to sign in calls that provider; by default its host",
        |options, text| options.oidc_name = read_word(text)),
    setting!("remember-opt-outs", "REMEMBER_OPT_OUTS", Switch "BOOL", Some("false"),
        "Keeps a keyed hash of numbers that asked to stop when their contact is deleted",
        |options, text| options.remember_opt_outs = read_switch(text)?),
    setting!("allow-private-destinations", "ALLOW_PRIVATE_DESTINATIONS", Switch "BOOL",
        Some("false"),
        "Calls private and loopback addresses too; for development only",
        |options, text| options.allow_private_destinations = read_switch(text)?),
    setting!("trusted-proxies", "TRUSTED_PROXIES", List "CIDR,…", None,
        "Networks of proxies whose X-Forwarded-For is believed",
        |options, text| options.trusted_proxies = read_networks(text)?),
    setting!("cnpj-registry", "CNPJ_REGISTRY", Text "URL", None,
    "The base URL of a cnpj registry, such as https://brasilapi.com.br; without one none is asked",
    |options, text| options.cnpj_registry = match text.trim() {
        "" => None,
        _ => Some(read_base_url(text)?),
    }),
    setting!("secret-key-file", "SECRET_KEY_FILE", Path "FILE", None,
    "The keys that seal secrets in the database; RECADO_SECRET_KEY may have the keys themselves",
    |options, text| options.secret_key_file = match text {
        "" => None,
        path => Some(path.into()),
    }),
    setting!("cell", "CELL", Number "NUMBER", Some("0"),
        "Which of several installations this one is, 0 to 999: ids and API keys say it",
        |options, text| options.cell = read_cell(text)?),
    setting!("cell-urls", "CELL_URLS", List "NUMBER=URL,…", None,
        "Where other cells answer: calls to companies that moved there are handed on",
        |options, text| options.cell_urls = read_cell_urls(text)?),
    setting!("cell-operator-urls", "CELL_OPERATOR_URLS", List "NUMBER=URL,…", None,
        "Where the operator API of other cells answers, if not at the same address",
        |options, text| options.cell_operator_urls = read_cell_urls(text)?),
    setting!("stop-words", "STOP_WORDS", List "WORD,…", Some(
        "sair,parar,pare,stop,cancelar,descadastrar,remover,unsubscribe,nao quero receber,\
         nao quero mais receber,nao quero receber mensagens,pare de enviar mensagens"),
        "Whole messages that opt a contact out",
        |options, text| options.stop_words = read_list(text).map(str::to_owned).collect()),
    setting!("no-console", "NO_CONSOLE", Switch "BOOL", Some("false"),
        "Leaves out the console, which is under /console otherwise",
        |options, text| options.no_console = read_switch(text)?),
    setting!("no-migrate", "NO_MIGRATE", Switch "BOOL", Some("false"),
        "Leaves the schema as it is; /readyz answers 503 until it is current",
        |options, text| options.no_migrate = read_switch(text)?),
    setting!("log", "LOG", Text "FILTER", Some("info"),
    "What is logged: a tracing filter such as info,recado_core=debug",
    |options, text| {
        EnvFilter::builder().parse(text).map_err(|error| format!("is no filter: {error}"))?;
        text.clone_into(&mut options.log);
    }),
    setting!("otlp-endpoint", "OTLP_ENDPOINT", Text "URL", None,
        "Where traces go: an OpenTelemetry collector's base URL, such as http://127.0.0.1:4318",
        |options, text| options.otlp_endpoint = read_endpoint(text)?),
];

/// All options but `--config`.
pub fn settings() -> &'static [Setting] {
    SETTINGS
}

/// The shortest times for which something is kept.
const A_DAY: super::Duration = super::Duration::from_secs(24 * 60 * 60);
const NO_TIME: super::Duration = super::Duration::from_millis(0);

/// For how long something is kept; nothing, as is usual for other options, means forever.
fn read_kept(text: &str, least: super::Duration) -> Result<Option<super::Duration>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let kept = read_positive(text)?;
    if kept < least {
        return Err(format!("must be {least} or more"));
    }
    Ok(Some(kept))
}

/// The fewest characters of an operator token (R177).
pub(crate) const MIN_TOKEN_CHARS: usize = 32;

/// A token that nobody can guess: whoever has it can do everything.
///
/// R177.
pub(super) fn read_token(text: &str) -> Result<SecretText, String> {
    if text.chars().count() < MIN_TOKEN_CHARS {
        return Err(format!(
            "must have at least {MIN_TOKEN_CHARS} characters; `openssl rand -hex 32` makes one"
        ));
    }
    Ok(SecretText::new(text))
}

/// The waits between five attempts: exactly four.
fn read_waits(text: &str) -> Result<[super::Duration; 4], String> {
    let waits: Vec<super::Duration> = read_list(text)
        .map(|wait| wait.parse().map_err(|error| format!("holds {wait:?}, which {error}")))
        .collect::<Result<_, String>>()?;
    let count = waits.len();
    waits
        .try_into()
        .map_err(|_| format!("must be exactly four waits, such as 30s,2m,10m,30m, not {count}"))
}

fn read_positive(text: &str) -> Result<super::Duration, String> {
    let duration: super::Duration =
        text.parse().map_err(|error: super::DurationError| error.to_string())?;
    match duration.get().is_zero() {
        true => Err("must be longer than nothing".to_owned()),
        false => Ok(duration),
    }
}

/// A duration of a day or more: links end with a day (R193).
fn read_days(text: &str) -> Result<super::Duration, String> {
    let duration = read_positive(text)?;
    match duration.get() < std::time::Duration::from_secs(24 * 60 * 60) {
        true => Err("must be at least 1d".to_owned()),
        false => Ok(duration),
    }
}
