//! `recado delivery …`, which was `recado webhook deliveries`, `delivery` and `redeliver` at first.

use clap::{Args, Subcommand};
use recado_core::Recado;
use recado_core::deliveries::DeliveryRequest;
use recado_core::ids::{CompanyId, DeliveryId};
use recado_core::query::Params;

use super::company::company_id;
use super::{CommandError, output, refused};

pub(super) const HELP: &str = "\
Examples:
  recado delivery list --company 01a19b7c-a680-78b4-a652-e44da7f29e26 --status failed
  recado delivery redeliver --company 01a19b7c-a680-78b4-a652-e44da7f29e26 \\
    01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11

The command itself sends nothing: a running server does.";

/// Deliveries to webhooks.
#[derive(Debug, Args)]
pub struct DeliveryArgs {
    #[command(subcommand)]
    command: DeliveryCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum DeliveryCommand {
    /// Lists deliveries, newest first
    #[command(after_help = "\
Examples:
  recado delivery list --company 01a19b7c-a680-78b4-a652-e44da7f29e26
  recado delivery list --company 01a19b7c-a680-78b4-a652-e44da7f29e26 --status failed --json")]
    List {
        #[command(flatten)]
        of: Of,
        #[command(flatten)]
        filter: Filter,
    },
    /// Shows a delivery with its body and its attempts
    #[command(after_help = "\
Examples:
  recado delivery show --company 01a19b7c-a680-78b4-a652-e44da7f29e26 01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11")]
    Show {
        #[command(flatten)]
        of: Of,
        /// Its id
        #[arg(value_parser = delivery_id)]
        delivery: DeliveryId,
    },
    /// Starts a fresh series of attempts at a delivery, which a running server makes
    #[command(after_help = "\
Examples:
  recado delivery redeliver --company 01a19b7c-a680-78b4-a652-e44da7f29e26 \\
    01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11")]
    Redeliver {
        #[command(flatten)]
        of: Of,
        /// Its id
        #[arg(value_parser = delivery_id)]
        delivery: DeliveryId,
    },
}

#[derive(Debug, Args)]
pub(super) struct Of {
    /// The id of the company
    #[arg(long, value_name = "ID", value_parser = company_id)]
    company: CompanyId,
}

#[derive(Debug, Args)]
pub(super) struct Filter {
    /// Only these: pending, delivered or failed
    #[arg(long)]
    status: Option<String>,
    /// Only those to this webhook
    #[arg(long, value_name = "ID")]
    webhook: Option<String>,
    /// Only those of this event
    #[arg(long)]
    event: Option<String>,
    /// Which page, from 1
    #[arg(long, value_name = "N")]
    page: Option<String>,
    /// How many on a page: 1 to 100, by default 50
    #[arg(long, value_name = "N")]
    limit: Option<String>,
}

impl Filter {
    /// The parameters of the operator's call.
    fn params(self) -> Params {
        let given = [
            ("status", self.status),
            ("webhook_id", self.webhook),
            ("event", self.event),
            ("page", self.page),
            ("limit", self.limit),
        ];
        let given = given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        Params::new(given.collect())
    }
}

pub(super) fn delivery_id(text: &str) -> Result<DeliveryId, String> {
    DeliveryId::parse(text).ok_or_else(|| "must be the id of a delivery".to_owned())
}

/// What is shown of a delivery; a list shows the first eight.
pub(super) const COLUMNS: [&str; 10] = [
    "id",
    "webhook_id",
    "event",
    "status",
    "attempts",
    "next_attempt_at",
    "created_at",
    "delivered_at",
    "body",
    "attempt_log",
];

pub(super) async fn run(
    recado: &Recado,
    json: bool,
    args: DeliveryArgs,
) -> Result<(), CommandError> {
    run_command(recado, json, args.command).await
}

/// Runs one of the commands, however it was called.
pub(super) async fn run_command(
    recado: &Recado,
    json: bool,
    command: DeliveryCommand,
) -> Result<(), CommandError> {
    let deliveries = recado.deliveries();
    match command {
        DeliveryCommand::List { of, filter } => {
            // Otherwise the answer for a company that does not exist would be an empty list.
            recado.access().company(of.company).await.map_err(refused)?;
            let request =
                DeliveryRequest::parse(&filter.params()).map_err(CommandError::rejected)?;
            let page = deliveries.list(of.company, &request).await.map_err(CommandError::run)?;
            output::records(json, &COLUMNS[..8], &page.items);
        }
        DeliveryCommand::Show { of, delivery } => {
            let shown = deliveries.get(of.company, delivery).await.map_err(refused)?;
            output::record(json, &COLUMNS, &shown);
        }
        DeliveryCommand::Redeliver { of, delivery } => {
            let again = deliveries.redeliver(of.company, delivery).await.map_err(refused)?;
            output::record(json, &COLUMNS, &again);
        }
    }
    Ok(())
}
