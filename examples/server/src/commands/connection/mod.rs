//! `recado connection …`

mod pair;
mod qr;

use clap::{Args, Subcommand};
use recado_core::Recado;
use recado_core::ids::{CompanyId, ConnectionId};
use serde_json::Value;

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

fn connection_id(text: &str) -> Result<ConnectionId, String> {
    ConnectionId::parse(text).ok_or_else(|| "must be the id of a connection".to_owned())
}

const COLUMNS: [&str; 8] =
    ["id", "name", "kind", "gateway", "identifier", "status", "is_active", "webhook_url"];

pub(super) async fn run(recado: &Recado, args: ConnectionArgs) -> Result<(), CommandError> {
    let json = args.json;
    match args.command {
        ConnectionCommand::List { of } => {
            // Otherwise a company that does not exist would seem to have none.
            recado.access().company(of.company).await.map_err(refused)?;
            let all = recado.connections().all(of.company).await.map_err(CommandError::run)?;
            output::records(json, &COLUMNS, &all);
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
