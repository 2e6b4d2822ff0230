//! `recado webhook …`

use clap::{Args, Subcommand};
use recado_core::Recado;
use recado_core::ids::{CompanyId, DeliveryId, WebhookId};
use recado_core::webhooks::ALL_EVENTS;
use serde_json::{Map, Value};

use super::company::company_id;
use super::delivery::{self, DeliveryCommand};
use super::{CommandError, object, output, refused};

pub(super) const HELP: &str = "\
Examples:
  recado webhook create https://crm.example.org/hook --company 01a19b7c-a680-78b4-a652-e44da7f29e26 \\
    --events all
  recado webhook list --company 01a19b7c-a680-78b4-a652-e44da7f29e26
  recado webhook test --company 01a19b7c-a680-78b4-a652-e44da7f29e26 01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11

The command checks the address itself: where the server has --allow-private-destinations, give it to
the command too.";

/// Outbound webhooks.
#[derive(Debug, Args)]
pub struct WebhookArgs {
    #[command(subcommand)]
    command: WebhookCommand,
}

#[derive(Debug, Subcommand)]
enum WebhookCommand {
    /// Registers a webhook and shows its signing secret, this once
    #[command(
        alias = "add",
        after_help = "\
Examples:
  recado webhook create https://crm.example.org/hook --company 01a19b7c-a680-78b4-a652-e44da7f29e26 \\
    --events message.received,message.sent"
    )]
    Create {
        #[command(flatten)]
        of: Of,
        /// Where events are posted to
        url: String,
        /// What it is subscribed to: events with commas between them, or all
        #[arg(long, value_delimiter = ',', required = true, value_name = "EVENT,…")]
        events: Vec<String>,
        /// The signing secret, 16 to 128 characters; one is made by default
        #[arg(long)]
        secret: Option<String>,
        #[command(flatten)]
        switches: Switches,
    },
    /// Lists the webhooks of a company
    #[command(after_help = "\
Examples:
  recado webhook list --company 01a19b7c-a680-78b4-a652-e44da7f29e26 --json")]
    List {
        #[command(flatten)]
        of: Of,
    },
    /// Shows a webhook, without its secret
    #[command(after_help = "\
Examples:
  recado webhook show --company 01a19b7c-a680-78b4-a652-e44da7f29e26 01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11")]
    Show {
        #[command(flatten)]
        of: Of,
        /// Its id
        #[arg(value_parser = webhook_id)]
        webhook: WebhookId,
    },
    /// Changes a webhook; what is not named stays
    #[command(
        alias = "set",
        after_help = "\
Examples:
  recado webhook change --company 01a19b7c-a680-78b4-a652-e44da7f29e26 01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11 \\
    --events all --active false"
    )]
    Change {
        #[command(flatten)]
        of: Of,
        /// Its id
        #[arg(value_parser = webhook_id)]
        webhook: WebhookId,
        /// Where events are posted to from now on
        #[arg(long)]
        url: Option<String>,
        /// What it is subscribed to from now on: events with commas between them, or all
        #[arg(long, value_delimiter = ',', value_name = "EVENT,…")]
        events: Option<Vec<String>>,
        #[command(flatten)]
        switches: Switches,
    },
    /// Deletes a webhook and gives its pending deliveries up
    #[command(after_help = "\
Examples:
  recado webhook delete --company 01a19b7c-a680-78b4-a652-e44da7f29e26 01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11")]
    Delete {
        #[command(flatten)]
        of: Of,
        /// Its id
        #[arg(value_parser = webhook_id)]
        webhook: WebhookId,
    },
    /// Replaces the signing secret and shows the new one, this once; the old one signs for a day
    /// more
    #[command(after_help = "\
Examples:
  recado webhook rotate-secret --company 01a19b7c-a680-78b4-a652-e44da7f29e26 01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11")]
    RotateSecret {
        #[command(flatten)]
        of: Of,
        /// Its id
        #[arg(value_parser = webhook_id)]
        webhook: WebhookId,
        /// The new secret, 16 to 128 characters; one is made by default
        #[arg(long)]
        secret: Option<String>,
    },
    /// Makes a webhook.test delivery, which a running server sends
    #[command(after_help = "\
Examples:
  recado webhook test --company 01a19b7c-a680-78b4-a652-e44da7f29e26 01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11")]
    Test {
        #[command(flatten)]
        of: Of,
        /// Its id
        #[arg(value_parser = webhook_id)]
        webhook: WebhookId,
    },
    /// Lists deliveries: `recado delivery list`
    #[command(hide = true)]
    Deliveries {
        #[command(flatten)]
        of: delivery::Of,
        #[command(flatten)]
        filter: delivery::Filter,
    },
    /// Shows a delivery: `recado delivery show`
    #[command(hide = true)]
    Delivery {
        #[command(flatten)]
        of: delivery::Of,
        /// Its id
        #[arg(value_parser = delivery::delivery_id)]
        delivery: DeliveryId,
    },
    /// Begins a delivery again: `recado delivery redeliver`
    #[command(hide = true)]
    Redeliver {
        #[command(flatten)]
        of: delivery::Of,
        /// Its id
        #[arg(value_parser = delivery::delivery_id)]
        delivery: DeliveryId,
    },
}

#[derive(Debug, Args)]
struct Of {
    /// The id of the company
    #[arg(long, value_name = "ID", value_parser = company_id)]
    company: CompanyId,
}

#[derive(Debug, Args)]
struct Switches {
    /// Whether it gets deliveries; true by default
    #[arg(long, value_name = "BOOL")]
    active: Option<bool>,
    /// Whether deliveries carry the headers of Standard Webhooks too; false by default
    #[arg(long, value_name = "BOOL")]
    standard_headers: Option<bool>,
}

fn webhook_id(text: &str) -> Result<WebhookId, String> {
    WebhookId::parse(text).ok_or_else(|| "must be the id of a webhook".to_owned())
}

/// The body of the operator's call.
fn body(
    url: Option<String>,
    events: Option<Vec<String>>,
    secret: Option<String>,
    switches: &Switches,
) -> Map<String, Value> {
    let events = events.map(|events| match events.as_slice() {
        [all] if all == "all" => Value::from(vec![ALL_EVENTS]),
        _ => Value::from(events),
    });
    object([
        ("url", url.map(Value::from)),
        ("events", events),
        ("secret", secret.map(Value::from)),
        ("is_active", switches.active.map(Value::from)),
        ("standard_headers", switches.standard_headers.map(Value::from)),
    ])
}

const COLUMNS: [&str; 9] = [
    "id",
    "url",
    "events",
    "is_active",
    "standard_headers",
    "previous_secret_until",
    "created_at",
    "updated_at",
    "secret",
];

pub(super) async fn run(
    recado: &Recado,
    json: bool,
    args: WebhookArgs,
) -> Result<(), CommandError> {
    let webhooks = recado.webhooks();
    match args.command {
        WebhookCommand::Create { of, url, events, secret, switches } => {
            let body = body(Some(url), Some(events), secret, &switches);
            let made = webhooks.create(of.company, &body).await.map_err(refused)?;
            output::record(json, &COLUMNS, &made);
        }
        WebhookCommand::List { of } => {
            // Otherwise the answer for a company that does not exist would be an empty list.
            recado.access().company(of.company).await.map_err(refused)?;
            let all = webhooks.all(of.company).await.map_err(refused)?;
            output::records(json, &COLUMNS[..5], &all);
        }
        WebhookCommand::Show { of, webhook } => {
            let shown = webhooks.get(of.company, webhook).await.map_err(refused)?;
            output::record(json, &COLUMNS, &shown);
        }
        WebhookCommand::Change { of, webhook, url, events, switches } => {
            let body = body(url, events, None, &switches);
            let changed = webhooks.change(of.company, webhook, &body).await.map_err(refused)?;
            output::record(json, &COLUMNS, &changed);
        }
        WebhookCommand::Delete { of, webhook } => {
            webhooks.delete(of.company, webhook).await.map_err(refused)?;
            let deleted = object([
                ("id", Some(Value::from(webhook.to_string()))),
                ("deleted", Some(Value::Bool(true))),
            ]);
            output::record(json, &["id", "deleted"], &deleted);
        }
        WebhookCommand::RotateSecret { of, webhook, secret } => {
            let body = object([("secret", secret.map(Value::from))]);
            let rotated =
                webhooks.rotate_secret(of.company, webhook, &body).await.map_err(refused)?;
            output::record(json, &COLUMNS, &rotated);
        }
        WebhookCommand::Test { of, webhook } => {
            let made = webhooks.test(of.company, webhook).await.map_err(refused)?;
            output::record(json, &delivery::COLUMNS, &made);
        }
        WebhookCommand::Deliveries { of, filter } => {
            let command = DeliveryCommand::List { of, filter };
            return delivery::run_command(recado, json, command).await;
        }
        WebhookCommand::Delivery { of, delivery } => {
            let command = DeliveryCommand::Show { of, delivery };
            return delivery::run_command(recado, json, command).await;
        }
        WebhookCommand::Redeliver { of, delivery } => {
            let command = DeliveryCommand::Redeliver { of, delivery };
            return delivery::run_command(recado, json, command).await;
        }
    }
    Ok(())
}
