//! `recado endpoint …`

use clap::{Args, Subcommand};
use recado_core::Recado;
use recado_core::ids::{CompanyId, InboundEndpointId};
use serde_json::{Map, Value};

use super::company::company_id;
use super::{CommandError, object, output, refused};

pub(super) const HELP: &str = "\
Examples:
  recado endpoint create site-leads --company 01a19b7c-a680-78b4-a652-e44da7f29e26 \\
    --map 'phone_number=$.lead.telefone' --map 'first_name=$.lead.nome'
  recado endpoint list --company 01a19b7c-a680-78b4-a652-e44da7f29e26";

/// Inbound endpoints.
#[derive(Debug, Args)]
pub struct EndpointArgs {
    #[command(subcommand)]
    command: EndpointCommand,
}

#[derive(Debug, Subcommand)]
enum EndpointCommand {
    /// Makes an endpoint and shows its secret, this once
    #[command(
        alias = "add",
        after_help = "\
Examples:
  recado endpoint create site-leads --company 01a19b7c-a680-78b4-a652-e44da7f29e26 \\
    --map 'phone_number=$.lead.telefone' --map 'first_name=$.lead.nome'"
    )]
    Create {
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
    #[command(after_help = "\
Examples:
  recado endpoint list --company 01a19b7c-a680-78b4-a652-e44da7f29e26")]
    List {
        #[command(flatten)]
        of: Of,
    },
    /// Shows an endpoint, without its secret
    #[command(after_help = "\
Examples:
  recado endpoint show --company 01a19b7c-a680-78b4-a652-e44da7f29e26 01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11")]
    Show {
        #[command(flatten)]
        of: Of,
        /// Its id
        #[arg(value_parser = endpoint_id)]
        endpoint: InboundEndpointId,
    },
    /// Changes an endpoint; what is not named stays
    #[command(after_help = "\
Examples:
  recado endpoint change --company 01a19b7c-a680-78b4-a652-e44da7f29e26 01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11 \\
    --active false
  recado endpoint change --company 01a19b7c-a680-78b4-a652-e44da7f29e26 01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11 \\
    --map 'phone_number=$.contact.phone'")]
    Change {
        #[command(flatten)]
        of: Of,
        /// Its id
        #[arg(value_parser = endpoint_id)]
        endpoint: InboundEndpointId,
        /// The last part of its path from now on
        #[arg(long)]
        slug: Option<String>,
        /// What is found where from now on; once for each key
        #[arg(long = "map", value_name = "KEY=JSONPATH", value_parser = entry)]
        mapping: Option<Vec<(String, String)>>,
        /// Whether it takes calls without the secret too, less often
        #[arg(long, value_name = "BOOL")]
        public: Option<bool>,
        /// Whether it takes anything
        #[arg(long, value_name = "BOOL")]
        active: Option<bool>,
    },
    /// Replaces the secret and shows the new one, this once; the old one is refused at once
    #[command(after_help = "\
Examples:
  recado endpoint rotate-secret --company 01a19b7c-a680-78b4-a652-e44da7f29e26 01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11")]
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
    #[command(after_help = "\
Examples:
  recado endpoint delete --company 01a19b7c-a680-78b4-a652-e44da7f29e26 01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11")]
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

/// The mapping as the operator's call has it.
fn paths(mapping: Vec<(String, String)>) -> Value {
    let paths: Map<String, Value> =
        mapping.into_iter().map(|(key, path)| (key, Value::from(path))).collect();
    Value::Object(paths)
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

pub(super) async fn run(
    recado: &Recado,
    json: bool,
    args: EndpointArgs,
) -> Result<(), CommandError> {
    let endpoints = recado.inbound();
    match args.command {
        EndpointCommand::Create { of, slug, mapping, secret, public, active } => {
            let body = object([
                ("slug", Some(Value::from(slug))),
                ("variable_mapping", Some(paths(mapping))),
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
        EndpointCommand::Show { of, endpoint } => {
            let shown = endpoints.get(of.company, endpoint).await.map_err(refused)?;
            output::record(json, &COLUMNS, &shown);
        }
        EndpointCommand::Change { of, endpoint, slug, mapping, public, active } => {
            let mode = |public| if public { "public" } else { "secret_required" };
            let body = object([
                ("slug", slug.map(Value::from)),
                ("variable_mapping", mapping.map(paths)),
                ("auth_mode", public.map(mode).map(Value::from)),
                ("is_active", active.map(Value::from)),
            ]);
            let changed = endpoints.change(of.company, endpoint, &body).await.map_err(refused)?;
            output::record(json, &COLUMNS, &changed);
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
