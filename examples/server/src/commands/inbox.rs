//! `recado inbox …`

use clap::{Args, Subcommand};
use recado_core::Recado;
use recado_core::ids::{CompanyId, ConnectionId};
use recado_core::inbox::Replayed;

use super::company::company_id;
use super::connection::connection_id;
use super::{CommandError, output, refused};

pub(super) const HELP: &str = "\
Examples:
  recado inbox list --company 01a19b7c-a680-78b4-a652-e44da7f29e26 \\
    --connection 01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11
  recado inbox replay
  recado inbox replay --company 01a19b7c-a680-78b4-a652-e44da7f29e26 --json

What gateways sent and Recado did not understand is kept for 30 days. After an upgrade, replay reads
it again: what it tells then stands at its own time. It may run beside the server, and be repeated.";

/// What gateways reported.
#[derive(Debug, Args)]
pub struct InboxArgs {
    #[command(subcommand)]
    command: InboxCommand,
}

#[derive(Debug, Subcommand)]
enum InboxCommand {
    /// Lists what a connection's gateway sent and Recado did not understand, the newest 200
    #[command(
        alias = "unknown",
        after_help = "\
Examples:
  recado inbox list --company 01a19b7c-a680-78b4-a652-e44da7f29e26 \\
    --connection 01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11"
    )]
    List {
        /// The id of the company
        #[arg(long, value_name = "ID", value_parser = company_id)]
        company: CompanyId,
        /// The id of the connection
        #[arg(long, value_name = "ID", value_parser = connection_id)]
        connection: ConnectionId,
    },
    /// Reads again what was not understood, the oldest first
    #[command(after_help = "\
Examples:
  recado inbox replay
  recado inbox replay --company 01a19b7c-a680-78b4-a652-e44da7f29e26 --json")]
    Replay {
        /// The id of the company; all companies by default
        #[arg(long, value_name = "ID", value_parser = company_id)]
        company: Option<CompanyId>,
        /// The id of a connection of the company; all by default
        #[arg(long, value_name = "ID", value_parser = connection_id, requires = "company")]
        connection: Option<ConnectionId>,
    },
}

const COLUMNS: [&str; 5] = ["id", "kind", "reason", "received_at", "provider_message_id"];

pub(super) async fn run(recado: &Recado, json: bool, args: InboxArgs) -> Result<(), CommandError> {
    match args.command {
        InboxCommand::List { company, connection } => {
            let kept = recado.connections().unknown_events(company, connection).await;
            output::records(json, &COLUMNS, &kept.map_err(refused)?);
        }
        InboxCommand::Replay { company, connection } => {
            let replayed = replay(recado, company, connection).await?;
            match json {
                true => output::record(true, &[], &replayed),
                false => output::line(sentence(&replayed)),
            }
        }
    }
    Ok(())
}

/// Reads again what is kept of one company, or of all.
async fn replay(
    recado: &Recado,
    company: Option<CompanyId>,
    connection: Option<ConnectionId>,
) -> Result<Replayed, CommandError> {
    let access = recado.access();
    let companies = match company {
        // Otherwise a company or connection that does not exist would seem to have nothing.
        Some(id) => {
            access.company(id).await.map_err(refused)?;
            if let Some(connection) = connection {
                recado.connections().get(id, connection).await.map_err(refused)?;
            }
            vec![id]
        }
        None => {
            let all = access.companies().await.map_err(refused)?;
            all.into_iter().map(|company| company.id).collect()
        }
    };
    let (inbox, mut all) = (recado.inbox(), Replayed::default());
    for company in companies {
        let mut cursor = None;
        loop {
            let (step, next) = inbox.replay(company, connection, cursor).await.map_err(refused)?;
            all = all.and(step);
            cursor = next;
            if cursor.is_none() {
                break;
            }
        }
    }
    Ok(all)
}

fn sentence(replayed: &Replayed) -> String {
    let Replayed { looked_at, told, still_unknown } = replayed;
    format!(
        "Read {looked_at} kept events again: {told} are understood now, {still_unknown} are still \
         unknown."
    )
}
