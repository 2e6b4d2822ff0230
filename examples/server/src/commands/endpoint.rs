//! `recado endpoint …`

use clap::{Args, Subcommand};
use recado_core::Recado;
use recado_core::ids::{CompanyId, InboundEndpointId};
use serde_json::{Map, Value};

use super::company::company_id;
use super::{CommandError, object, output, refused};

/// Inbound endpoints.
#[derive(Debug, Args)]
pub struct EndpointArgs {
    /// Answers in JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: EndpointCommand,
}

#[derive(Debug, Subcommand)]
enum EndpointCommand {
    /// Makes an endpoint and shows its secret, this once
    Add {
        #[command(flatten)]
        of: Of,
        /// The last part of its path
        slug: String,
        /// What is found where, such as phone_number=$.lead.phone; once for each key
        #[arg(long = "map", required = true, value_name = "KEY=JSONPATH", value_parser = entry)]
        mapping: Vec<(String, String)>,
        /// What callers present, 16 to 128 characters; one is made by default
        #[arg(long)]
        secret: Option<String>,
        /// Takes calls without the secret too, less often
        #[arg(long)]
        public: bool,
        /// Whether it takes anything; true by default
        #[arg(long, value_name = "BOOL")]
        active: Option<bool>,
    },
    /// Lists the endpoints of a company
    List {
        #[command(flatten)]
        of: Of,
    },
    /// Replaces the secret and shows the new one, this once; the old one is refused at once
    RotateSecret {
        #[command(flatten)]
        of: Of,
        /// Its id
        #[arg(value_parser = endpoint_id)]
        endpoint: InboundEndpointId,
        /// The new secret, 16 to 128 characters; one is made by default
        #[arg(long)]
        secret: Option<String>,
    },
    /// Deletes an endpoint
    Delete {
        #[command(flatten)]
        of: Of,
        /// Its id
        #[arg(value_parser = endpoint_id)]
        endpoint: InboundEndpointId,
    },
}

#[derive(Debug, Args)]
struct Of {
    /// The id of the company
    #[arg(long, value_name = "ID", value_parser = company_id)]
    company: CompanyId,
}

fn endpoint_id(text: &str) -> Result<InboundEndpointId, String> {
    InboundEndpointId::parse(text).ok_or_else(|| "must be the id of an endpoint".to_owned())
}

fn entry(text: &str) -> Result<(String, String), String> {
    let (key, path) = text.split_once('=').ok_or("must be KEY=JSONPATH")?;
    Ok((key.to_owned(), path.to_owned()))
}

const COLUMNS: [&str; 8] = [
    "id",
    "slug",
    "auth_mode",
    "is_active",
    "variable_mapping",
    "created_at",
    "updated_at",
    "secret",
];

pub(super) async fn run(recado: &Recado, args: EndpointArgs) -> Result<(), CommandError> {
    let (endpoints, json) = (recado.inbound(), args.json);
    match args.command {
        EndpointCommand::Add { of, slug, mapping, secret, public, active } => {
            let mapping: Map<String, Value> =
                mapping.into_iter().map(|(key, path)| (key, Value::from(path))).collect();
            let body = object([
                ("slug", Some(Value::from(slug))),
                ("variable_mapping", Some(Value::Object(mapping))),
                ("secret", secret.map(Value::from)),
                ("auth_mode", public.then(|| Value::from("public"))),
                ("is_active", active.map(Value::from)),
            ]);
            let made = endpoints.create(of.company, &body).await.map_err(refused)?;
            output::record(json, &COLUMNS, &made);
        }
        EndpointCommand::List { of } => {
            // Otherwise the answer for a company that does not exist would be an empty list.
            recado.access().company(of.company).await.map_err(refused)?;
            let all = endpoints.all(of.company).await.map_err(refused)?;
            output::records(json, &COLUMNS[..5], &all);
        }
        EndpointCommand::RotateSecret { of, endpoint, secret } => {
            let body = object([("secret", secret.map(Value::from))]);
            let rotated = endpoints.rotate_secret(of.company, endpoint, &body).await;
            output::record(json, &COLUMNS, &rotated.map_err(refused)?);
        }
        EndpointCommand::Delete { of, endpoint } => {
            endpoints.delete(of.company, endpoint).await.map_err(refused)?;
            let deleted = object([
                ("id", Some(Value::from(endpoint.to_string()))),
                ("deleted", Some(Value::Bool(true))),
            ]);
            output::record(json, &["id", "deleted"], &deleted);
        }
    }
    Ok(())
}
