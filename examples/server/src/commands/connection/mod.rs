//! `recado connection …`

mod pair;
mod qr;
mod settings;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use recado_core::Recado;
use recado_core::connections::GatewayView;
use recado_core::ids::{CompanyId, ConnectionId};
use serde_json::{Value, json};

use super::company::company_id;
use super::{CommandError, object, output, refused, with};
use crate::options::Options;
use crate::wiring;

pub(super) const HELP: &str = "\
Examples:
  recado connection gateways
  recado connection create --company 01a19b7c-a680-78b4-a652-e44da7f29e26 --name Loja \\
    --kind qr --gateway waha --identifier 5534991234567 --settings waha.json
  recado connection pair --company 01a19b7c-a680-78b4-a652-e44da7f29e26 01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11";

/// Connections.
#[derive(Debug, Args)]
pub struct ConnectionArgs {
    #[command(subcommand)]
    command: ConnectionCommand,
}

#[derive(Debug, Subcommand)]
enum ConnectionCommand {
    /// Makes a connection to a gateway
    #[command(after_help = "\
Examples:
  recado connection create --company 01a19b7c-a680-78b4-a652-e44da7f29e26 --name Test \\
    --kind qr --gateway simulated --identifier 5534991230000
  recado connection create --company 01a19b7c-a680-78b4-a652-e44da7f29e26 --name Loja \\
    --kind qr --gateway waha --identifier 5534991234567 --settings waha.json

`recado connection gateways` lists the gateways with their settings.")]
    Create {
        #[command(flatten)]
        of: Of,
        /// A name for people
        #[arg(long)]
        name: String,
        /// qr or official_cloud
        #[arg(long)]
        kind: String,
        /// The gateway
        #[arg(long)]
        gateway: String,
        /// Its number
        #[arg(long, value_name = "NUMBER")]
        identifier: String,
        /// A file with the settings of the gateway, a JSON object; `-` reads standard input
        #[arg(long, value_name = "FILE")]
        settings: Option<PathBuf>,
    },
    /// Lists the connections of a company with their state
    #[command(after_help = "\
Examples:
  recado connection list --company 01a19b7c-a680-78b4-a652-e44da7f29e26")]
    List {
        #[command(flatten)]
        of: Of,
    },
    /// Shows a connection with its state, without its secrets
    #[command(after_help = "\
Examples:
  recado connection show --company 01a19b7c-a680-78b4-a652-e44da7f29e26 01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11")]
    Show {
        #[command(flatten)]
        of: Of,
        /// Its id
        #[arg(value_parser = connection_id)]
        connection: ConnectionId,
    },
    /// Changes a connection; what is not named stays
    #[command(after_help = "\
Examples:
  recado connection change --company 01a19b7c-a680-78b4-a652-e44da7f29e26 01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11 --name Loja
  recado connection change --company 01a19b7c-a680-78b4-a652-e44da7f29e26 01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11 \\
    --settings waha.json")]
    Change {
        #[command(flatten)]
        of: Of,
        /// Its id
        #[arg(value_parser = connection_id)]
        connection: ConnectionId,
        /// A new name
        #[arg(long)]
        name: Option<String>,
        /// Its number from now on
        #[arg(long, value_name = "NUMBER")]
        identifier: Option<String>,
        /// A file with settings of the gateway, a JSON object; `-` reads standard input
        #[arg(long, value_name = "FILE")]
        settings: Option<PathBuf>,
        /// Whether it is used
        #[arg(long, value_name = "BOOL")]
        active: Option<bool>,
    },
    /// Deletes a connection
    #[command(after_help = "\
Examples:
  recado connection delete --company 01a19b7c-a680-78b4-a652-e44da7f29e26 01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11")]
    Delete {
        #[command(flatten)]
        of: Of,
        /// Its id
        #[arg(value_parser = connection_id)]
        connection: ConnectionId,
    },
    /// Lists the gateways that connections can use, with their settings
    #[command(after_help = "\
Examples:
  recado connection gateways")]
    Gateways,
    /// Shows the QR code that a phone has to read, until it did or five minutes have passed
    #[command(after_help = "\
Examples:
  recado connection pair --company 01a19b7c-a680-78b4-a652-e44da7f29e26 01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11

With --json each code is a line of its own, for another program to draw.")]
    Pair {
        #[command(flatten)]
        of: Of,
        /// Its id
        #[arg(value_parser = connection_id)]
        connection: ConnectionId,
    },
}

#[derive(Debug, Args)]
struct Of {
    /// The id of the company
    #[arg(long, value_name = "ID", value_parser = company_id)]
    company: CompanyId,
}

/// Reads a connection's id.
pub(super) fn connection_id(text: &str) -> Result<ConnectionId, String> {
    ConnectionId::parse(text).ok_or_else(|| "must be the id of a connection".to_owned())
}

const COLUMNS: [&str; 8] =
    ["id", "name", "kind", "gateway", "identifier", "status", "is_active", "webhook_url"];

const GATEWAY_COLUMNS: [&str; 4] = ["name", "kind", "settings", "can"];

/// A gateway in one line: `!` marks a required setting, `*` a secret.
fn row(gateway: &GatewayView) -> Value {
    let settings = gateway.settings.iter().map(|setting| {
        let must = if setting.required { "!" } else { "" };
        let secret = if setting.secret { "*" } else { "" };
        format!("{}{must}{secret}", setting.name)
    });
    let can = gateway.can.iter().map(|capability| capability.as_str());
    json!({
        "name": gateway.name.as_str(),
        "kind": gateway.kind.map_or("both", |kind| kind.as_str()),
        "settings": settings.collect::<Vec<_>>(),
        "can": can.collect::<Vec<_>>(),
    })
}

pub(super) async fn run(
    options: &Options,
    json: bool,
    args: ConnectionArgs,
) -> Result<(), CommandError> {
    if matches!(args.command, ConnectionCommand::Gateways) {
        let all = wiring::gateways(options);
        match json {
            true => output::records(true, &[], &all),
            false => {
                let rows: Vec<Value> = all.iter().map(row).collect();
                output::records(false, &GATEWAY_COLUMNS, &rows);
            }
        }
        return Ok(());
    }
    with(options, async |recado| on_database(recado, json, args.command).await).await
}

async fn on_database(
    recado: &Recado,
    json: bool,
    command: ConnectionCommand,
) -> Result<(), CommandError> {
    match command {
        ConnectionCommand::List { of } => {
            // Otherwise the answer for a company that does not exist would be an empty list.
            recado.access().company(of.company).await.map_err(refused)?;
            let all = recado.connections().all(of.company).await.map_err(CommandError::run)?;
            output::records(json, &COLUMNS, &all);
        }
        ConnectionCommand::Create { of, name, kind, gateway, identifier, settings } => {
            // Otherwise a company that does not exist would be reported as a failure of the
            // database.
            recado.access().company(of.company).await.map_err(refused)?;
            let body = object([
                ("name", Some(Value::from(name))),
                ("kind", Some(Value::from(kind))),
                ("gateway", Some(Value::from(gateway))),
                ("identifier", Some(Value::from(identifier))),
                ("settings", settings.as_deref().map(settings::read).transpose()?),
            ]);
            let made = recado.connections().create(of.company, &body).await.map_err(refused)?;
            output::record(json, &COLUMNS, &made);
        }
        ConnectionCommand::Show { of, connection } => {
            let shown = recado.connections().get(of.company, connection).await.map_err(refused)?;
            output::record(json, &COLUMNS, &shown);
        }
        ConnectionCommand::Change { of, connection, name, identifier, settings, active } => {
            let body = object([
                ("name", name.map(Value::from)),
                ("identifier", identifier.map(Value::from)),
                ("settings", settings.as_deref().map(settings::read).transpose()?),
                ("is_active", active.map(Value::from)),
            ]);
            let connections = recado.connections();
            let changed =
                connections.change(of.company, connection, &body).await.map_err(refused)?;
            output::record(json, &COLUMNS, &changed);
        }
        ConnectionCommand::Delete { of, connection } => {
            recado.connections().delete(of.company, connection).await.map_err(refused)?;
            let deleted = json!({"id": connection, "deleted": true});
            output::record(json, &["id", "deleted"], &deleted);
        }
        // Listed already, without a database.
        ConnectionCommand::Gateways => {}
        ConnectionCommand::Pair { of, connection } => {
            let show = |text: &str| match json {
                // A line, for a program that draws it while this one waits.
                true => output::line(json!({"code": text})),
                false => output::line(qr::drawn(text)),
            };
            pair::pair(recado, of.company, connection, show).await?;
            let paired = object([
                ("id", Some(Value::from(connection.to_string()))),
                ("paired", Some(Value::Bool(true))),
            ]);
            output::record(json, &["id", "paired"], &paired);
        }
    }
    Ok(())
}
