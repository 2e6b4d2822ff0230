//! `recado operator-token …`

use clap::{Args, Subcommand};
use recado_core::access::{Operator, OperatorRole, OperatorTokenView};
use recado_core::ids::{CompanyId, OperatorTokenId};
use recado_core::{Recado, Timestamp};
use serde::Serialize;
use serde_json::Value;

use super::company::company_id;
use super::{CommandError, object, output, refused};
use crate::options::Duration;

pub(super) const HELP: &str = "\
Examples:
  recado operator-token create --name Ana --role manager
  recado operator-token list
  recado operator-token delete 01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11";

/// Tokens of the operator API.
#[derive(Debug, Args)]
pub struct OperatorTokenArgs {
    #[command(subcommand)]
    command: OperatorTokenCommand,
}

#[derive(Debug, Subcommand)]
enum OperatorTokenCommand {
    /// Makes a token and shows it, this once
    #[command(after_help = "\
Examples:
  recado operator-token create --name Ana --role manager
  recado operator-token create --name 'Loja 7' --role owner --expires-in 90d \\
    --company 01a19b7c-a680-78b4-a652-e44da7f29e26 --json")]
    Create {
        /// A name for people
        #[arg(long)]
        name: String,
        /// What its holder may do: viewer, agent, manager or owner
        #[arg(long, value_parser = role)]
        role: OperatorRole,
        /// The only company that its holder reaches; without it, all
        #[arg(long, value_name = "ID", value_parser = company_id)]
        company: Option<CompanyId>,
        #[command(flatten)]
        end: End,
    },
    /// Lists the tokens
    #[command(after_help = "\
Examples:
  recado operator-token list")]
    List,
    /// Shows a token, without its secret
    #[command(after_help = "\
Examples:
  recado operator-token show 01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11")]
    Show {
        /// Its id
        #[arg(value_parser = token_id)]
        token: OperatorTokenId,
    },
    /// Changes a token; what is not named stays
    #[command(after_help = "\
Examples:
  recado operator-token change 01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11 --role viewer
  recado operator-token change 01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11 --no-end")]
    Change {
        /// Its id
        #[arg(value_parser = token_id)]
        token: OperatorTokenId,
        /// A new name
        #[arg(long)]
        name: Option<String>,
        /// What its holder may do from now on: viewer, agent, manager or owner
        #[arg(long, value_parser = role)]
        role: Option<OperatorRole>,
        #[command(flatten)]
        end: End,
        /// Takes its end away
        #[arg(long, conflicts_with = "token_ends")]
        no_end: bool,
    },
    /// Deletes a token: it is refused at once
    #[command(after_help = "\
Examples:
  recado operator-token delete 01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11")]
    Delete {
        /// Its id
        #[arg(value_parser = token_id)]
        token: OperatorTokenId,
    },
}

/// When a token ends.
#[derive(Debug, Args)]
#[group(id = "token_ends", multiple = false)]
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

fn token_id(text: &str) -> Result<OperatorTokenId, String> {
    OperatorTokenId::parse(text).ok_or_else(|| "must be the id of an operator token".to_owned())
}

fn role(text: &str) -> Result<OperatorRole, String> {
    OperatorRole::parse(text)
        .ok_or_else(|| format!("must be one of {}", OperatorRole::WORDS.join(", ")))
}

/// A token with its secret.
#[derive(Serialize)]
struct WithSecret<'a> {
    #[serde(flatten)]
    view: OperatorTokenView,
    token: &'a str,
}

const COLUMNS: [&str; 8] =
    ["id", "name", "role", "company_id", "expires_at", "last_used_at", "created_at", "token"];

pub(super) async fn run(
    recado: &Recado,
    json: bool,
    args: OperatorTokenArgs,
) -> Result<(), CommandError> {
    let (access, by) = (recado.access(), &Operator::ROOT);
    let token = match args.command {
        OperatorTokenCommand::Create { name, role, company, end } => {
            let body = object([
                ("name", Some(Value::from(name))),
                ("role", Some(Value::from(role.as_str()))),
                ("company_id", company.map(|id| Value::from(id.to_string()))),
                ("expires_at", end.value(recado.now())),
            ]);
            let new = access.create_operator_token(by, &body).await.map_err(refused)?;
            let shown = WithSecret { view: (&new.token).into(), token: new.secret.expose() };
            output::record(json, &COLUMNS, &shown);
            return Ok(());
        }
        OperatorTokenCommand::List => {
            let all = access.operator_tokens(by).await.map_err(refused)?;
            output::records(json, &COLUMNS[..7], &all);
            return Ok(());
        }
        OperatorTokenCommand::Delete { token } => {
            access.revoke_operator_token(by, token).await.map_err(refused)?;
            let (id, deleted) = (Value::from(token.to_string()), Value::Bool(true));
            let deleted = object([("id", Some(id)), ("deleted", Some(deleted))]);
            output::record(json, &["id", "deleted"], &deleted);
            return Ok(());
        }
        OperatorTokenCommand::Show { token } => access.operator_token(by, token).await,
        OperatorTokenCommand::Change { token, name, role, end, no_end } => {
            let end = if no_end { Some(Value::Null) } else { end.value(recado.now()) };
            let body = object([
                ("name", name.map(Value::from)),
                ("role", role.map(|role| Value::from(role.as_str()))),
                ("expires_at", end),
            ]);
            access.change_operator_token(by, token, &body).await
        }
    };
    output::record(json, &COLUMNS, &token.map_err(refused)?);
    Ok(())
}
