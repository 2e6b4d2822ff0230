//! `recado key …`

use clap::{Args, Subcommand};
use recado_core::access::{ApiKeyView, Scope};
use recado_core::ids::{CompanyId, KeyId};
use recado_core::{Recado, Timestamp};
use serde::Serialize;
use serde_json::{Map, Value};

use super::company::company_id;
use super::{CommandError, object, output, refused};
use crate::options::Duration;

pub(super) const HELP: &str = "\
Examples:
  recado key create --company 01a19b7c-a680-78b4-a652-e44da7f29e26 --name CRM --scopes all
  recado key list --company 01a19b7c-a680-78b4-a652-e44da7f29e26
  recado key delete --company 01a19b7c-a680-78b4-a652-e44da7f29e26 01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11";

/// API keys.
#[derive(Debug, Args)]
pub struct KeyArgs {
    #[command(subcommand)]
    command: KeyCommand,
}

#[derive(Debug, Subcommand)]
enum KeyCommand {
    /// Makes a key and shows its secret, this once
    #[command(after_help = "\
Examples:
  recado key create --company 01a19b7c-a680-78b4-a652-e44da7f29e26 --name CRM --scopes all
  recado key create --company 01a19b7c-a680-78b4-a652-e44da7f29e26 --name Export \\
    --scopes contacts:read --expires-in 90d --json")]
    Create {
        #[command(flatten)]
        of: Of,
        /// A name for people
        #[arg(long)]
        name: String,
        /// What it may do: scopes with commas between them, or all
        #[arg(long, value_delimiter = ',', required = true, value_name = "SCOPE,…")]
        scopes: Vec<String>,
        #[command(flatten)]
        rates: Rates,
        #[command(flatten)]
        end: End,
    },
    /// Lists the keys of a company
    #[command(after_help = "\
Examples:
  recado key list --company 01a19b7c-a680-78b4-a652-e44da7f29e26")]
    List {
        #[command(flatten)]
        of: Of,
    },
    /// Shows a key, without its secret
    #[command(after_help = "\
Examples:
  recado key show --company 01a19b7c-a680-78b4-a652-e44da7f29e26 01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11")]
    Show {
        #[command(flatten)]
        of: Of,
        /// Its id
        #[arg(value_parser = key_id)]
        key: KeyId,
    },
    /// Changes a key; what is not named stays
    #[command(
        alias = "set",
        after_help = "\
Examples:
  recado key change --company 01a19b7c-a680-78b4-a652-e44da7f29e26 01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11 \\
    --rate-per-minute 600
  recado key change --company 01a19b7c-a680-78b4-a652-e44da7f29e26 01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11 --no-end"
    )]
    Change {
        #[command(flatten)]
        of: Of,
        /// Its id
        #[arg(value_parser = key_id)]
        key: KeyId,
        /// A new name
        #[arg(long)]
        name: Option<String>,
        /// What it may do from now on: scopes with commas between them, or all
        #[arg(long, value_delimiter = ',', value_name = "SCOPE,…")]
        scopes: Option<Vec<String>>,
        #[command(flatten)]
        rates: Rates,
        #[command(flatten)]
        end: End,
        /// Takes its end away
        #[arg(long, conflicts_with = "ends")]
        no_end: bool,
    },
    /// Deletes a key: it is refused at once
    #[command(
        alias = "revoke",
        after_help = "\
Examples:
  recado key delete --company 01a19b7c-a680-78b4-a652-e44da7f29e26 01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11"
    )]
    Delete {
        #[command(flatten)]
        of: Of,
        /// Its id
        #[arg(value_parser = key_id)]
        key: KeyId,
    },
}

#[derive(Debug, Args)]
struct Of {
    /// The id of the company
    #[arg(long, value_name = "ID", value_parser = company_id)]
    company: CompanyId,
}

#[derive(Debug, Args)]
struct Rates {
    /// Calls a minute
    #[arg(long, value_name = "N")]
    rate_per_minute: Option<u32>,
    /// Export calls a minute
    #[arg(long, value_name = "N")]
    export_rate_per_minute: Option<u32>,
}

/// When a key ends.
#[derive(Debug, Args)]
#[group(id = "ends", multiple = false)]
struct End {
    /// From when on it is refused, such as 2027-01-31T00:00:00Z
    #[arg(long, value_name = "TIME")]
    expires_at: Option<String>,
    /// After how long it is refused, such as 90d
    #[arg(long, value_name = "DURATION")]
    expires_in: Option<Duration>,
}

impl End {
    fn value(self, now: Timestamp) -> Option<Value> {
        let at = self.expires_in.map(|wait| now.plus(wait.get()).to_string());
        self.expires_at.or(at).map(Value::from)
    }
}

fn key_id(text: &str) -> Result<KeyId, String> {
    KeyId::parse(text).ok_or_else(|| "must be the id of a key".to_owned())
}

fn body(
    name: Option<String>,
    scopes: Option<Vec<String>>,
    rates: Rates,
    expires_at: Option<Value>,
) -> Map<String, Value> {
    let scopes = scopes.map(|scopes| match scopes.as_slice() {
        [all] if all == "all" => Value::from(Scope::WORDS),
        _ => Value::from(scopes),
    });
    object([
        ("name", name.map(Value::from)),
        ("scopes", scopes),
        ("rate_per_minute", rates.rate_per_minute.map(Value::from)),
        ("export_rate_per_minute", rates.export_rate_per_minute.map(Value::from)),
        ("expires_at", expires_at),
    ])
}

/// A key with its secret.
#[derive(Serialize)]
struct WithSecret<'a> {
    #[serde(flatten)]
    view: ApiKeyView,
    key: &'a str,
}

const COLUMNS: [&str; 9] = [
    "id",
    "name",
    "scopes",
    "rate_per_minute",
    "export_rate_per_minute",
    "expires_at",
    "last_used_at",
    "created_at",
    "key",
];

pub(super) async fn run(recado: &Recado, json: bool, args: KeyArgs) -> Result<(), CommandError> {
    let access = recado.access();
    let key = match args.command {
        KeyCommand::Create { of, name, scopes, rates, end } => {
            // Otherwise a company that does not exist would be reported as a failure of the
            // database.
            access.company(of.company).await.map_err(refused)?;
            let body = body(Some(name), Some(scopes), rates, end.value(recado.now()));
            let new = access.create_key(of.company, &body).await.map_err(refused)?;
            let shown = WithSecret { view: (&new.key).into(), key: new.secret.expose() };
            output::record(json, &COLUMNS, &shown);
            return Ok(());
        }
        KeyCommand::List { of } => {
            access.company(of.company).await.map_err(refused)?;
            let keys = access.keys(of.company).await.map_err(refused)?;
            let views: Vec<ApiKeyView> = keys.iter().map(ApiKeyView::from).collect();
            output::records(json, &COLUMNS[..8], &views);
            return Ok(());
        }
        KeyCommand::Delete { of, key } => {
            access.revoke_key(of.company, key).await.map_err(refused)?;
            output::record(
                json,
                &["id", "deleted"],
                &object([
                    ("id", Some(Value::from(key.to_string()))),
                    ("deleted", Some(Value::Bool(true))),
                    // As this command was first called.
                    ("revoked", Some(Value::Bool(true))),
                ]),
            );
            return Ok(());
        }
        KeyCommand::Show { of, key } => access.key(of.company, key).await,
        KeyCommand::Change { of, key, name, scopes, rates, end, no_end } => {
            let end = if no_end { Some(Value::Null) } else { end.value(recado.now()) };
            access.change_key(of.company, key, &body(name, scopes, rates, end)).await
        }
    };
    output::record(json, &COLUMNS, &ApiKeyView::from(&key.map_err(refused)?));
    Ok(())
}
