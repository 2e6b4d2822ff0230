//! The options: flag, then environment, then the TOML file, then the default.

mod cli;
mod duration;
mod file;
mod settings;
mod values;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use ipnet::IpNet;
use recado_core::secret::SecretText;

pub use cli::Cli;
pub use duration::{Duration, DurationError};
pub use settings::{Setting, settings};
pub use values::{Database, Place};

/// The environment variable of `--config`.
const CONFIG_ENV: &str = "RECADO_CONFIG";

/// What the server is told. Build it in code from `Options::default()`, or read it with
/// [`Cli::options`].
#[derive(Clone, Debug)]
pub struct Options {
    /// The database.
    pub database: Database,
    /// The address to listen on; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The operator API's token; without one the operator API answers 404.
    pub operator_token: Option<SecretText>,
    /// Where documents are kept.
    pub documents: Place,
    /// The address the world sees, without a slash at the end; the bound one when missing.
    pub public_url: Option<String>,
    /// What follows `@` in group codes (D2).
    pub group_suffix: String,
    /// The waits between the five attempts at a webhook delivery.
    pub webhook_retry_waits: [Duration; 4],
    /// How long a webhook's receiver may take.
    pub webhook_timeout: Duration,
    /// How long settled deliveries, their bodies and the event journal are kept.
    pub retention: Duration,
    /// Whether private and loopback addresses may be called (D54).
    pub allow_private_destinations: bool,
    /// Proxies whose `X-Forwarded-For` is believed (D13).
    pub trusted_proxies: Vec<IpNet>,
    /// The base URL of the cnpj registry (D22).
    pub cnpj_registry: String,
    /// Whole messages that opt a contact out (D43).
    pub stop_words: Vec<String>,
    /// Whether the schema is left as it is.
    pub no_migrate: bool,
    /// What is logged, a `tracing` filter.
    pub log: String,
}

impl Default for Options {
    fn default() -> Self {
        let mut options = Self {
            database: Database::Sqlite(PathBuf::new()),
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            operator_token: None,
            documents: Place::Folder(PathBuf::new()),
            public_url: None,
            group_suffix: String::new(),
            webhook_retry_waits: [Duration::from_millis(0); 4],
            webhook_timeout: Duration::from_millis(0),
            retention: Duration::from_millis(0),
            allow_private_destinations: false,
            trusted_proxies: Vec::new(),
            cnpj_registry: String::new(),
            stop_words: Vec::new(),
            no_migrate: false,
            log: String::new(),
        };
        for setting in settings() {
            if let Some(default) = setting.default {
                (setting.set)(&mut options, default).expect("defaults are acceptable");
            }
        }
        options
    }
}

/// The configuration is wrong: every problem, each naming its option.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("wrong configuration: {}", .0.join("\n  and: "))]
pub struct ConfigError(pub Vec<String>);

impl ConfigError {
    fn one(problem: impl Into<String>) -> Self {
        Self(vec![problem.into()])
    }
}

/// Values as they were written, by the name of their option.
pub(crate) type Layer = BTreeMap<&'static str, String>;

/// Where a value came from, for messages.
#[derive(Clone, Copy)]
enum Origin<'a> {
    Flag,
    Env,
    File(&'a Path),
}

impl Origin<'_> {
    fn naming(self, setting: &Setting) -> impl fmt::Display {
        match self {
            Origin::Flag => format!("--{}", setting.name),
            Origin::Env => format!("{} (--{})", setting.env, setting.name),
            Origin::File(path) => format!("`{}` in {}", setting.name, path.display()),
        }
    }
}

/// Puts the layers over `base`: a flag wins over the environment, that over the file.
///
/// # Errors
///
/// Everything that is wrong with the values that count, or with the file.
pub(crate) fn resolve(
    base: Options,
    flags: &Layer,
    config: Option<PathBuf>,
    env: impl Fn(&str) -> Option<OsString>,
) -> Result<Options, ConfigError> {
    let config = config.or_else(|| env(CONFIG_ENV).filter(|p| !p.is_empty()).map(PathBuf::from));
    let file = config.as_deref().map(file::read).transpose()?.unwrap_or_default();
    let mut options = base;
    let mut problems = Vec::new();
    for setting in settings() {
        let (origin, value) = if let Some(value) = flags.get(setting.name) {
            (Origin::Flag, value.clone())
        } else if let Some(value) = env(setting.env) {
            match value.into_string() {
                Ok(value) => (Origin::Env, value),
                Err(_) => {
                    problems.push(format!("{} is not UTF-8", Origin::Env.naming(setting)));
                    continue;
                }
            }
        } else if let (Some(value), Some(path)) = (file.get(setting.name), config.as_deref()) {
            (Origin::File(path), value.clone())
        } else {
            continue;
        };
        if let Err(problem) = (setting.set)(&mut options, &value) {
            problems.push(format!("{} {problem}", origin.naming(setting)));
        }
    }
    if problems.is_empty() { Ok(options) } else { Err(ConfigError(problems)) }
}
