//! `recado company …`

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use recado_core::Recado;
use recado_core::access::Company;
use recado_core::ids::CompanyId;
use serde_json::{Map, Value};

use super::{CommandError, object, output, refused};

pub(super) const HELP: &str = "\
Examples:
  recado company create 'Padaria Aurora'
  recado company list --json
  recado company change 01a19b7c-a680-78b4-a652-e44da7f29e26 --plan enterprise";

/// Companies.
#[derive(Debug, Args)]
pub struct CompanyArgs {
    #[command(subcommand)]
    command: CompanyCommand,
}

impl CompanyArgs {
    /// The file of `list --cells`: that command reads other databases than that of the options.
    pub(super) fn cells(&self) -> Option<&Path> {
        match &self.command {
            CompanyCommand::List { cells } => cells.as_deref(),
            _ => None,
        }
    }
}

#[derive(Debug, Subcommand)]
enum CompanyCommand {
    /// Makes a company and shows it with its id
    #[command(after_help = "\
Examples:
  recado company create 'Padaria Aurora'
  recado company create 'Padaria Aurora' --plan starter --inbound-contacts true --json")]
    Create {
        /// Its name
        name: String,
        #[command(flatten)]
        fields: CompanyFields,
    },
    /// Lists all companies
    #[command(after_help = "\
Examples:
  recado company list
  recado company list --database postgres://recado@db.example.org/recado --json
  recado company list --cells cells.toml

A file of cells has the database of each, by its number:
  0 = \"postgres://recado@db0.example.org/recado\"
  1 = \"postgres://recado@db1.example.org/recado\"")]
    List {
        /// Lists those of all installations that this file names
        #[arg(long, value_name = "FILE")]
        cells: Option<PathBuf>,
    },
    /// Shows a company
    #[command(after_help = "\
Examples:
  recado company show 01a19b7c-a680-78b4-a652-e44da7f29e26")]
    Show {
        /// Its id
        #[arg(value_parser = company_id)]
        company: CompanyId,
    },
    /// Changes a company; what is not named stays
    #[command(
        alias = "set",
        after_help = "\
Examples:
  recado company change 01a19b7c-a680-78b4-a652-e44da7f29e26 --plan enterprise
  recado company change 01a19b7c-a680-78b4-a652-e44da7f29e26 --name 'Padaria Boreal' --template-dispatch true"
    )]
    Change {
        /// Its id
        #[arg(value_parser = company_id)]
        company: CompanyId,
        /// A new name
        #[arg(long)]
        name: Option<String>,
        #[command(flatten)]
        fields: CompanyFields,
    },
    /// Deletes a company with everything that it has
    ///
    /// Nobody can use it any more when this command ends. Its records and files are then removed by
    /// the servers that run on the database.
    #[command(after_help = "\
Examples:
  recado company delete 01a19b7c-a680-78b4-a652-e44da7f29e26
  recado company delete 01a19b7c-a680-78b4-a652-e44da7f29e26 --yes")]
    Delete {
        /// Its id
        #[arg(value_parser = company_id)]
        company: CompanyId,
        /// Does not ask for its name
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Debug, Args)]
struct CompanyFields {
    /// starter, professional or enterprise; only enterprise has the public API
    #[arg(long)]
    plan: Option<String>,
    /// The region of phone numbers without a country code, such as BR
    #[arg(long, value_name = "REGION")]
    default_region: Option<String>,
    /// The IANA time zone of the hours in which campaigns send, such as America/Sao_Paulo
    #[arg(long, value_name = "ZONE")]
    time_zone: Option<String>,
    /// Whether inbound webhooks may create contacts
    #[arg(long, value_name = "BOOL")]
    inbound_contacts: Option<bool>,
    /// Whether inbound webhooks may dispatch templates
    #[arg(long, value_name = "BOOL")]
    template_dispatch: Option<bool>,
}

impl CompanyFields {
    /// The body of the operator's call.
    fn body(self, name: Option<String>) -> Map<String, Value> {
        let features = object([
            ("inbound_contacts", self.inbound_contacts.map(Value::from)),
            ("template_dispatch", self.template_dispatch.map(Value::from)),
        ]);
        let features = Some(features).filter(|f| !f.is_empty()).map(Value::Object);
        object([
            ("name", name.map(Value::from)),
            ("plan", self.plan.map(Value::from)),
            ("default_region", self.default_region.map(Value::from)),
            ("time_zone", self.time_zone.map(Value::from)),
            ("features", features),
        ])
    }
}

const COLUMNS: [&str; 8] =
    ["id", "name", "plan", "features", "default_region", "time_zone", "created_at", "updated_at"];

/// Why a company was not deleted.
const NOT_ITS_NAME: &str = "nothing was deleted: that is not the name of the company";

/// Reads a company's id.
pub(super) fn company_id(text: &str) -> Result<CompanyId, String> {
    CompanyId::parse(text).ok_or_else(|| "must be the id of a company".to_owned())
}

/// Whether the person at the terminal types the company's name.
fn is_confirmed(company: &Company) -> Result<bool, CommandError> {
    // Where nobody can read it, nobody types the name.
    let _ = write!(
        std::io::stderr(),
        "This deletes the company {} with all its contacts, messages and files.\n\
         Type its name to go on: ",
        company.name
    );
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).map_err(CommandError::run)?;
    Ok(line.trim() == company.name)
}

pub(super) async fn run(
    recado: &Recado,
    json: bool,
    args: CompanyArgs,
) -> Result<(), CommandError> {
    let access = recado.access();
    let company = match args.command {
        CompanyCommand::List { .. } => {
            let companies = access.companies().await.map_err(refused)?;
            output::records(json, &COLUMNS[..5], &companies);
            return Ok(());
        }
        CompanyCommand::Delete { company, yes } => {
            let found = access.company(company).await.map_err(refused)?;
            if !yes && !is_confirmed(&found)? {
                return Err(CommandError::Run(NOT_ITS_NAME.to_owned()));
            }
            access.delete_company(company).await.map_err(refused)?;
            output::record(json, &COLUMNS, &found);
            return Ok(());
        }
        CompanyCommand::Create { name, fields } => {
            access.create_company(&fields.body(Some(name))).await
        }
        CompanyCommand::Show { company } => access.company(company).await,
        CompanyCommand::Change { company, name, fields } => {
            access.change_company(company, &fields.body(name)).await
        }
    };
    output::record(json, &COLUMNS, &company.map_err(refused)?);
    Ok(())
}
