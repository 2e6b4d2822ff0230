//! `recado connection …`

mod pair;
mod qr;

use clap::{Args, Subcommand};
use recado_core::Recado;
use recado_core::connections::GatewayView;
use recado_core::ids::{CompanyId, ConnectionId};
use serde_json::{Value, json};

use super::company::company_id;
use super::{CommandError, object, output, refused};

/// Connections.
#[derive(Debug, Args)]
pub struct ConnectionArgs {
    /// Answers in JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: ConnectionCommand,
}

#[derive(Debug, Subcommand)]
enum ConnectionCommand {
    /// Lists the connections of a company with their state
    List {
        #[command(flatten)]
        of: Of,
    },
    /// Lists the gateways that connections can use, with their settings
    Gateways,
    /// Shows the QR code that a phone has to read, until it did or five minutes have passed
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

pub(super) async fn run(recado: &Recado, args: ConnectionArgs) -> Result<(), CommandError> {
    let json = args.json;
    match args.command {
        ConnectionCommand::List { of } => {
            // Otherwise the answer for a company that does not exist would be an empty list.
            recado.access().company(of.company).await.map_err(refused)?;
            let all = recado.connections().all(of.company).await.map_err(CommandError::run)?;
            output::records(json, &COLUMNS, &all);
        }
        ConnectionCommand::Gateways => {
            let all = recado.connections().gateways();
            if json {
                output::records(true, &[], &all);
            } else {
                output::records(false, &GATEWAY_COLUMNS, &all.iter().map(row).collect::<Vec<_>>());
            }
        }
        ConnectionCommand::Pair { of, connection } => {
            let show = |text: &str| match json {
                true => output::record(true, &[], &object([("code", Some(Value::from(text)))])),
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
