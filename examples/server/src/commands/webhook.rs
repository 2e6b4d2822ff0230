//! `recado webhook …`

use clap::{Args, Subcommand};
use recado_core::Recado;
use recado_core::deliveries::DeliveryRequest;
use recado_core::ids::{CompanyId, DeliveryId, WebhookId};
use recado_core::query::Params;
use recado_core::webhooks::ALL_EVENTS;
use serde_json::{Map, Value};

use super::company::company_id;
use super::{CommandError, object, output, refused};

/// Outbound webhooks.
#[derive(Debug, Args)]
pub struct WebhookArgs {
    /// Answers in JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: WebhookCommand,
}

#[derive(Debug, Subcommand)]
enum WebhookCommand {
    /// Registers a webhook and shows its signing secret, this once
    Add {
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
    List {
        #[command(flatten)]
        of: Of,
    },
    /// Shows a webhook, without its secret
    Show {
        #[command(flatten)]
        of: Of,
        /// Its id
        #[arg(value_parser = webhook_id)]
        webhook: WebhookId,
    },
    /// Changes a webhook; what is not named stays
    Set {
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
    Delete {
        #[command(flatten)]
        of: Of,
        /// Its id
        #[arg(value_parser = webhook_id)]
        webhook: WebhookId,
    },
    /// Replaces the signing secret and shows the new one, this once; the old one signs for a day
    /// more
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
    Test {
        #[command(flatten)]
        of: Of,
        /// Its id
        #[arg(value_parser = webhook_id)]
        webhook: WebhookId,
    },
    /// Lists deliveries, newest first
    Deliveries {
        #[command(flatten)]
        of: Of,
        #[command(flatten)]
        filter: Filter,
    },
    /// Shows a delivery with its body and its attempts
    Delivery {
        #[command(flatten)]
        of: Of,
        /// Its id
        #[arg(value_parser = delivery_id)]
        delivery: DeliveryId,
    },
    /// Starts a fresh series of attempts at a delivery, which a running server makes
    Redeliver {
        #[command(flatten)]
        of: Of,
        /// Its id
        #[arg(value_parser = delivery_id)]
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

#[derive(Debug, Args)]
struct Filter {
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

fn webhook_id(text: &str) -> Result<WebhookId, String> {
    WebhookId::parse(text).ok_or_else(|| "must be the id of a webhook".to_owned())
}

fn delivery_id(text: &str) -> Result<DeliveryId, String> {
    DeliveryId::parse(text).ok_or_else(|| "must be the id of a delivery".to_owned())
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
const DELIVERY: [&str; 10] = [
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

pub(super) async fn run(recado: &Recado, args: WebhookArgs) -> Result<(), CommandError> {
    let (webhooks, deliveries, json) = (recado.webhooks(), recado.deliveries(), args.json);
    match args.command {
        WebhookCommand::Add { of, url, events, secret, switches } => {
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
        WebhookCommand::Set { of, webhook, url, events, switches } => {
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
            output::record(json, &DELIVERY, &made);
        }
        WebhookCommand::Deliveries { of, filter } => {
            recado.access().company(of.company).await.map_err(refused)?;
            let request = DeliveryRequest::parse(&filter.params()).map_err(CommandError::run)?;
            let page = deliveries.list(of.company, &request).await.map_err(CommandError::run)?;
            output::records(json, &DELIVERY[..8], &page.items);
        }
        WebhookCommand::Delivery { of, delivery } => {
            let shown = deliveries.get(of.company, delivery).await.map_err(refused)?;
            output::record(json, &DELIVERY, &shown);
        }
        WebhookCommand::Redeliver { of, delivery } => {
            let again = deliveries.redeliver(of.company, delivery).await.map_err(refused)?;
            output::record(json, &DELIVERY, &again);
        }
    }
    Ok(())
}
