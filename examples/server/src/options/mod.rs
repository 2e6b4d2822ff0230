//! The options: flag, then environment, then the TOML file, then the default.

mod cells;
mod cli;
mod duration;
mod file;
mod nats;
mod oidc;
mod operator_token;
mod otlp;
mod secret_key;
mod settings;
mod standby;
mod values;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use ipnet::IpNet;
use recado_core::Cell;
use recado_core::gateway::GatewayDestinations;
use recado_core::secret::SecretText;

pub(crate) use cells::read_cells;
pub use cli::{Cli, ServerOptions};
pub use duration::{Duration, DurationError};
pub(crate) use settings::MIN_TOKEN_CHARS;
pub use settings::{Setting, settings};
pub(crate) use values::read_cell;
pub use values::{DatabaseLocation, DocumentStorage};

/// The environment variable of `--config`.
const CONFIG_ENV: &str = "RECADO_CONFIG";

/// The options of the server. Build them in code from `Options::default()`, or read them with
/// [`Cli::options`].
#[derive(Clone, Debug)]
pub struct Options {
    /// The words of the command that runs, such as `company create`: the operation of what it does
    /// (R384).
    pub command: String,
    /// The database.
    pub database: DatabaseLocation,
    /// How many connections to the Postgres this process keeps at most, besides two for
    /// notifications (R465).
    pub database_connections: usize,
    /// A standby of the database, of which listings are read (R462).
    pub standby_database: Option<SecretText>,
    /// How far the standby may be behind.
    pub standby_max_lag: Duration,
    /// The NATS servers that notify other processes (R463); without them the database does.
    pub nats: Option<SecretText>,
    /// The subject of those notifications, of this installation alone.
    pub nats_subject: String,
    /// The address to listen on; port 0 chooses a free one.
    pub listen: SocketAddr,
    /// The address of a listener for the operator API and `/metrics` alone, which then are nowhere
    /// else (R182).
    pub operator_listen: Option<SocketAddr>,
    /// The operator API's token; without one the operator API answers 404.
    pub operator_token: Option<SecretText>,
    /// The file of the token; it counts when `operator_token` is `None` (R267).
    pub operator_token_file: Option<PathBuf>,
    /// Where documents are kept.
    pub documents: DocumentStorage,
    /// The public URL, without a slash at the end; by default that of the listening address.
    pub public_url: Option<String>,
    /// Where gateways may be (R230).
    pub gateway_destinations: GatewayDestinations,
    /// What follows `@` in group codes (D2).
    pub group_suffix: String,
    /// The waits between the five attempts at a webhook delivery.
    pub webhook_retry_waits: [Duration; 4],
    /// How long a webhook's receiver may take.
    pub webhook_timeout: Duration,
    /// How long finished deliveries, their bodies and the event journal are kept.
    pub retention: Duration,
    /// How long a link to the file of a message is good, at least (R193).
    pub media_link_lifetime: Duration,
    /// How long uploads are kept that no message has (X11).
    pub media_retention: Duration,
    /// How long messages are kept (R210); `None` keeps them.
    pub message_retention: Option<Duration>,
    /// How long clicks are kept (R211); `None` keeps them.
    pub click_retention: Option<Duration>,
    /// Whether opt-outs of deleted contacts are remembered (R413).
    pub remember_opt_outs: bool,
    /// How long the lines of the ledger are kept (R212); `None` keeps them.
    pub ledger_retention: Option<Duration>,
    /// How long the entries of the audit log are kept (R389); `None` keeps them.
    pub audit_retention: Option<Duration>,
    /// How long a session of a member lives without a call (R397).
    pub session_idle: Duration,
    /// How long a session of a member lives in all (R397).
    pub session_lifetime: Duration,
    /// The issuer of the provider that members may sign in with (R432); without one there is none.
    pub oidc_issuer: Option<String>,
    /// The id of the client there.
    pub oidc_client_id: Option<String>,
    /// The secret of the client there; `None` for a client without one.
    pub oidc_client_secret: Option<SecretText>,
    /// The file of the secret, in its place.
    pub oidc_client_secret_file: Option<PathBuf>,
    /// What the page to sign in calls the provider.
    pub oidc_name: Option<String>,
    /// Whether private and loopback addresses may be called (D54).
    pub allow_private_destinations: bool,
    /// Proxies whose `X-Forwarded-For` is trusted (D13).
    pub trusted_proxies: Vec<IpNet>,
    /// The base URL of the cnpj registry (D22); without one nobody is asked (R172).
    pub cnpj_registry: Option<String>,
    /// The file of the keys that seal secrets at rest (R217).
    pub secret_key_file: Option<PathBuf>,
    /// The same keys as text, as the file has them; they count before the file.
    pub secret_key: Option<SecretText>,
    /// The file that systemd has for them; it counts when neither of the other two is given.
    pub secret_key_credential: Option<PathBuf>,
    /// Whole messages that opt a contact out (D43).
    pub stop_words: Vec<String>,
    /// Which of several installations this one is (D3, D11).
    pub cell: Cell,
    /// Where other cells answer (R460).
    pub cell_urls: BTreeMap<Cell, String>,
    /// Where the operator API of other cells answers, if not there.
    pub cell_operator_urls: BTreeMap<Cell, String>,
    /// Whether the console is left out (R418).
    pub no_console: bool,
    /// Whether the schema is left as it is.
    pub no_migrate: bool,
    /// What is logged, a `tracing` filter.
    pub log: String,
    /// The base URL of the collector that gets traces (R310); without one there are none.
    pub otlp_endpoint: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        let mut options = Self {
            command: "serve".to_owned(),
            database: DatabaseLocation::Sqlite(PathBuf::new()),
            database_connections: 0,
            standby_database: None,
            standby_max_lag: Duration::from_millis(0),
            nats: None,
            nats_subject: String::new(),
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            operator_listen: None,
            operator_token: None,
            operator_token_file: None,
            documents: DocumentStorage::Folder(PathBuf::new()),
            public_url: None,
            gateway_destinations: GatewayDestinations::default(),
            group_suffix: String::new(),
            webhook_retry_waits: [Duration::from_millis(0); 4],
            webhook_timeout: Duration::from_millis(0),
            retention: Duration::from_millis(0),
            media_link_lifetime: Duration::from_millis(0),
            media_retention: Duration::from_millis(0),
            message_retention: None,
            remember_opt_outs: false,
            click_retention: None,
            ledger_retention: None,
            audit_retention: None,
            session_idle: Duration::from_millis(0),
            session_lifetime: Duration::from_millis(0),
            oidc_issuer: None,
            oidc_client_id: None,
            oidc_client_secret: None,
            oidc_client_secret_file: None,
            oidc_name: None,
            allow_private_destinations: false,
            trusted_proxies: Vec::new(),
            cnpj_registry: None,
            secret_key_file: None,
            secret_key: None,
            secret_key_credential: None,
            stop_words: Vec::new(),
            cell: Cell::default(),
            cell_urls: BTreeMap::new(),
            cell_operator_urls: BTreeMap::new(),
            no_console: false,
            no_migrate: false,
            log: String::new(),
            otlp_endpoint: None,
        };
        for setting in settings() {
            if let Some(default) = setting.default {
                (setting.set)(&mut options, default).expect("defaults are acceptable");
            }
        }
        options
    }
}

impl Options {
    /// `base`, changed by a file alone.
    pub(crate) fn of_file(base: Self, path: &Path) -> Result<Self, ConfigError> {
        resolve(base, &Layer::new(), Some(path.to_path_buf()), |_| None)
    }
}

/// The configuration is invalid; lists every problem with its option.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("wrong configuration: {}", .0.join("\n  and: "))]
pub struct ConfigError(pub Vec<String>);

impl ConfigError {
    pub(crate) fn one(problem: impl Into<String>) -> Self {
        Self(vec![problem.into()])
    }
}

/// Values as they were written, by the name of their option.
pub(crate) type Layer = BTreeMap<&'static str, String>;

/// Where a value came from, the strongest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ValueSource<'a> {
    Flag,
    Env,
    File(&'a Path),
}

impl ValueSource<'_> {
    fn naming(self, setting: &Setting) -> impl fmt::Display {
        match self {
            ValueSource::Flag => format!("--{}", setting.name),
            ValueSource::Env => format!("{} (--{})", setting.env, setting.name),
            ValueSource::File(path) => format!("`{}` in {}", setting.name, path.display()),
        }
    }
}

/// Applies the layers to `base`: a flag has priority over the environment, and that over the file.
///
/// # Errors
///
/// All problems of the values that are used, or of the file.
pub(crate) fn resolve(
    base: Options,
    flags: &Layer,
    config: Option<PathBuf>,
    env: impl Fn(&str) -> Option<OsString>,
) -> Result<Options, ConfigError> {
    let file = config.as_deref().map(file::read).transpose()?.unwrap_or_default();
    let mut options = base;
    let mut problems = Vec::new();
    let mut sources = BTreeMap::new();
    for setting in settings() {
        let (origin, value) = if let Some(value) = flags.get(setting.name) {
            (ValueSource::Flag, value.clone())
        } else if let Some(value) = env(setting.env) {
            match value.into_string() {
                Ok(value) => (ValueSource::Env, value),
                Err(_) => {
                    problems.push(format!("{} is not UTF-8", ValueSource::Env.naming(setting)));
                    continue;
                }
            }
        } else if let (Some(value), Some(path)) = (file.get(setting.name), config.as_deref()) {
            (ValueSource::File(path), value.clone())
        } else {
            continue;
        };
        sources.insert(setting.name, origin);
        if let Err(problem) = (setting.set)(&mut options, &value) {
            problems.push(format!("{} {problem}", origin.naming(setting)));
        }
    }
    let [token, file] = ["operator-token", "operator-token-file"].map(|name| sources.get(name));
    problems.extend(operator_token::settle(&mut options, token, file).err());
    if !sources.contains_key("otlp-endpoint") {
        problems.extend(otlp::of_environment(&mut options, &env).err());
    }
    problems.extend(oidc::check(&options).err());
    problems.extend(cells::check(&options).err());
    problems.extend(standby::check(&options).err());
    problems.extend(nats::check(&options).err());
    problems.extend(secret_key::find(&mut options, env).err());
    if problems.is_empty() { Ok(options) } else { Err(ConfigError(problems)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(pairs: &[(&'static str, &str)]) -> Layer {
        pairs.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()
    }

    fn no_env(_: &str) -> Option<OsString> {
        None
    }

    #[test]
    fn the_defaults_are_those_of_the_table() {
        let options = Options::default();
        assert_eq!(format!("{:?}", options.database), "sqlite:recado.db");
        assert_eq!(options.listen.to_string(), "127.0.0.1:8080");
        assert!(options.operator_token.is_none() && options.public_url.is_none());
        assert_eq!(options.operator_listen, None);
        assert_eq!(options.documents, DocumentStorage::Folder("recado-documents".into()));
        assert_eq!(options.gateway_destinations.to_string(), "all");
        assert_eq!(options.group_suffix, "g.us");
        assert_eq!(format!("{:?}", options.webhook_retry_waits), "[30s, 2m, 10m, 30m]");
        assert_eq!(options.webhook_timeout, Duration::from_secs(10));
        assert_eq!(options.retention.to_string(), "30d");
        assert_eq!(options.media_link_lifetime.to_string(), "30d");
        assert_eq!(options.stop_words.len(), 12);
        assert_eq!(options.stop_words.last().map(String::as_str), Some("pare de enviar mensagens"));
        assert!(!options.no_migrate && !options.allow_private_destinations);
        assert!(options.trusted_proxies.is_empty());
        assert_eq!(options.log, "info");
        assert_eq!(options.cnpj_registry, None);
    }

    #[test]
    fn each_layer_wins_over_the_next() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("recado.toml");
        std::fs::write(&path, "listen = \"127.0.0.1:1\"\nretention = \"1d\"\ngroup-suffix = \"f\"")
            .expect("written");
        let env = |name: &str| match name {
            "RECADO_LISTEN" => Some("127.0.0.1:2".into()),
            "RECADO_RETENTION" => Some("2d".into()),
            _ => None,
        };
        let flags = layer(&[("listen", "127.0.0.1:3")]);
        let options = resolve(Options::default(), &flags, Some(path.clone()), env).expect("valid");
        assert_eq!(options.listen.port(), 3);
        assert_eq!(options.retention.to_string(), "2d");
        assert_eq!(options.group_suffix, "f");
        assert_eq!(options.webhook_timeout.to_string(), "10s");
    }

    /// R193.
    #[test]
    fn links_are_good_for_a_day_at_least() {
        for (lifetime, accepted) in [("1d", true), ("24h", true), ("23h", false), ("0d", false)] {
            let flags = layer(&[("media-link-lifetime", lifetime)]);
            let read = resolve(Options::default(), &flags, None, no_env);
            assert_eq!(read.is_ok(), accepted, "{lifetime}");
        }
    }

    #[test]
    fn a_value_that_does_not_count_is_not_read() {
        let env = |name: &str| (name == "RECADO_LISTEN").then(|| "nowhere".into());
        let flags = layer(&[("listen", "127.0.0.1:3")]);
        assert!(resolve(Options::default(), &flags, None, env).is_ok());
    }

    /// R182.
    #[test]
    fn an_empty_operator_listener_counts_as_none() {
        let read =
            |text| resolve(Options::default(), &layer(&[("operator-listen", text)]), None, no_env);
        assert_eq!(read(" ").expect("valid").operator_listen, None);
        let given = read("localhost:9090").expect("valid").operator_listen;
        assert_eq!(given.map(|addr| addr.to_string()).as_deref(), Some("127.0.0.1:9090"));
        assert!(read("9090").expect_err("no address").to_string().contains("operator-listen"));
    }

    #[test]
    fn an_empty_operator_token_counts_as_none() {
        let flags = layer(&[("operator-token", " ")]);
        let base = Options { operator_token: Some(SecretText::new("a")), ..Options::default() };
        assert!(resolve(base, &flags, None, no_env).expect("valid").operator_token.is_none());
    }

    /// R177.
    #[test]
    fn a_short_operator_token_is_refused_wherever_it_is_written() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("recado.toml");
        for (length, accepted) in [(1, false), (31, false), (32, true), (64, true)] {
            let token = "t".repeat(length);
            std::fs::write(&path, format!("operator-token = \"{token}\"")).expect("written");
            let env = |name: &str| {
                (name == "RECADO_OPERATOR_TOKEN").then(|| OsString::from(token.as_str()))
            };
            let (flags, none) = (layer(&[("operator-token", &token)]), Layer::new());
            for read in [
                resolve(Options::default(), &flags, None, no_env),
                resolve(Options::default(), &none, None, env),
                resolve(Options::default(), &none, Some(path.clone()), no_env),
            ] {
                assert_eq!(read.is_ok(), accepted, "{length}");
                if let Err(error) = read {
                    let error = error.to_string();
                    assert!(error.contains("operator-token"), "{error}");
                    assert!(error.contains("at least 32 characters"), "{error}");
                    assert!(!error.contains(&token) || length == 1, "{error}");
                }
            }
        }
    }

    #[test]
    fn secrets_are_not_printed() {
        let token = "hunter2".repeat(5);
        let flags = layer(&[("operator-token", &token), ("database", "postgres://a:hunter2@b/c")]);
        let options = resolve(Options::default(), &flags, None, no_env).expect("valid");
        assert!(!format!("{options:?}").contains("hunter2"));
    }

    #[cfg(unix)]
    #[test]
    fn a_variable_that_is_not_utf_8_is_named() {
        use std::os::unix::ffi::OsStringExt;
        let env = |name: &str| (name == "RECADO_LOG").then(|| OsString::from_vec(vec![0xff]));
        let error = resolve(Options::default(), &Layer::new(), None, env).expect_err("not UTF-8");
        assert!(error.to_string().contains("RECADO_LOG"), "{error}");
    }
}
