//! Why a command failed: what is printed, and the exit status.

use std::error::Error;

use clap::{Arg, Command};
use recado_core::Rejection;
use recado_runtime::causes;
use serde_json::{Map, Value, json};

use crate::options::ConfigError;
use crate::start::StartError;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The configuration is wrong: exit status 2.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The command cannot be carried out as it was given: exit status 2.
    #[error("{0}")]
    Usage(String),
    /// There is no database, and this command makes none: exit status 2 (R264).
    #[error("there is no database at {0}: `recado init`, `serve` or `migrate` makes one")]
    NoDatabase(String),
    /// Values were refused, by the fields of the operator's call: exit status 1.
    #[error("{}", listed(.0))]
    Refused(Vec<(String, String)>),
    /// Something failed while it ran: exit status 1.
    #[error("{0}")]
    Run(String),
}

fn listed(reasons: &[(String, String)]) -> String {
    let lines: Vec<String> =
        reasons.iter().map(|(field, reason)| format!("{field}: {reason}")).collect();
    lines.join("; ")
}

impl CommandError {
    /// A failure at run time, with all its causes.
    pub(super) fn run(error: impl Error) -> Self {
        Self::Run(causes(&error))
    }

    /// A refusal, by field where its details name fields.
    pub(super) fn rejected(rejection: impl Rejection) -> Self {
        let details = rejection.details().unwrap_or_default();
        let text = |name: &str| details.get(name).and_then(Value::as_str).map(str::to_owned);
        match (details.get("reasons"), text("parameter"), text("reason")) {
            (Some(Value::Object(reasons)), ..) => Self::Refused(reasons_of(reasons)),
            // Of a query of the operator API, which is an option here.
            (_, Some(parameter), Some(reason)) => Self::Refused(vec![(parameter, reason)]),
            _ => Self::run(rejection),
        }
    }

    /// The same failure, with options of `command` in place of fields.
    ///
    /// R265.
    #[must_use]
    pub(crate) fn naming_options(self, command: &Command) -> Self {
        match self {
            Self::Refused(reasons) => Self::Refused(
                reasons
                    .into_iter()
                    .map(|(field, reason)| (option_of(command, &field).unwrap_or(field), reason))
                    .collect(),
            ),
            other => other,
        }
    }

    /// The exit status of the process.
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Config(_) | Self::Usage(_) | Self::NoDatabase(_) => 2,
            Self::Run(_) | Self::Refused(_) => 1,
        }
    }

    /// What is printed on standard error.
    ///
    /// R265.
    pub fn message(&self, json: bool) -> String {
        if json { json!({"error": self.to_string()}).to_string() } else { format!("error: {self}") }
    }
}

impl From<StartError> for CommandError {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Config(error) => Self::Config(error),
            error => Self::run(error),
        }
    }
}

fn reasons_of(reasons: &Map<String, Value>) -> Vec<(String, String)> {
    let text = |reason: &Value| reason.as_str().unwrap_or("is refused").to_owned();
    reasons.iter().map(|(field, reason)| (field.clone(), text(reason))).collect()
}

/// Fields whose option has another name.
const OTHER_NAMES: [(&str, &str); 5] = [
    // Of the company that `recado init` makes.
    ("name", "company"),
    ("is_active", "active"),
    ("variable_mapping", "mapping"),
    ("auth_mode", "public"),
    ("webhook_id", "webhook"),
];

/// How the value of a field is given to a command, such as `--plan` or `<NAME>`.
fn option_of(command: &Command, field: &str) -> Option<String> {
    let named = |name: &str| command.get_arguments().find(|arg| arg.get_id() == name);
    let other = |name: &str| OTHER_NAMES.iter().find(|(field, _)| *field == name);
    let mut parts = field.split('.').rev();
    parts.find_map(|part| named(part).or_else(|| named(other(part)?.1))).map(shown)
}

fn shown(arg: &Arg) -> String {
    match arg.get_long() {
        Some(long) => format!("--{long}"),
        None => format!("<{}>", arg.get_id().as_str().to_uppercase()),
    }
}

/// The line for a mistake in the command line, as `--json` shows it.
pub fn usage_as_json(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let reason = text.split("\n\nUsage:").next().unwrap_or_default().trim();
    json!({"error": reason.strip_prefix("error: ").unwrap_or(reason)}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R265.
    #[test]
    fn fields_are_named_as_the_options_of_the_command() {
        let command = Command::new("create")
            .arg(Arg::new("name"))
            .arg(Arg::new("default_region").long("default-region"))
            .arg(Arg::new("active").long("active"))
            .arg(Arg::new("mapping").long("map"));
        for (field, option) in [
            ("name", Some("<NAME>")),
            ("default_region", Some("--default-region")),
            ("is_active", Some("--active")),
            ("variable_mapping.phone", Some("--map")),
            ("created_at", None),
        ] {
            assert_eq!(option_of(&command, field).as_deref(), option, "{field}");
        }
    }
}
