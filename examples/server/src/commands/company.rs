//! `recado company …`

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use recado_core::access::Company;
use recado_core::ids::CompanyId;
use recado_core::{Cell, Recado};
use serde_json::{Map, Value};

use super::database::with;
use super::{CommandError, cells, object, output, refused, transfer};
use crate::options::{DocumentStorage, Options, read_cell};

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
    /// Moves a company to the database of another cell while it is in use
    ///
    /// Its rows are copied, and what changes meanwhile is repeated there. It is held for the last
    /// changes only, some seconds. Both sides are compared before the new cell has anything. Then
    /// the old cell hands its calls on, if it knows where the new one answers (--cell-urls).
    #[command(after_help = "\
Examples:
  recado company move 01a19b7c-a680-78b4-a652-e44da7f29e26 --to-cell 1 --cells cells.toml \\
      --database postgres://recado@db0.example.org/recado

Both databases are Postgres; that of the company is version 15 or later with wal_level = logical,
and its user may replicate. Otherwise `recado move --company` moves it, and closes it meanwhile.")]
    Move(CompanyMove),
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

/// `recado company move`
#[derive(Debug, Args)]
pub(super) struct CompanyMove {
    /// Its id
    #[arg(value_parser = company_id)]
    pub(super) company: CompanyId,
    /// The cell that it moves to
    #[arg(long, value_name = "NUMBER", value_parser = read_cell)]
    pub(super) to_cell: Cell,
    /// The file with the database of each cell
    #[arg(long, value_name = "FILE")]
    pub(super) cells: PathBuf,
    /// Where the documents are copied to, from --documents: file:PATH or s3://BUCKET/PREFIX
    #[arg(long, value_name = "URL")]
    pub(super) documents_to: Option<DocumentStorage>,
    /// Says what would be moved, and writes nothing
    #[arg(long)]
    pub(super) dry_run: bool,
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
    options: &Options,
    json: bool,
    args: CompanyArgs,
) -> Result<(), CommandError> {
    match args.command {
        CompanyCommand::List { cells: Some(file) } => cells::list(options, json, &file).await,
        CompanyCommand::Move(args) => transfer::move_company(options, json, args).await,
        command => with(options, async |recado| in_database(recado, json, command).await).await,
    }
}

/// What is done on the database of the options alone.
async fn in_database(
    recado: &Recado,
    json: bool,
    command: CompanyCommand,
) -> Result<(), CommandError> {
    let access = recado.access();
    let company = match command {
        CompanyCommand::List { .. } => {
            let companies = access.companies().await.map_err(refused)?;
            output::records(json, &COLUMNS[..5], &companies);
            return Ok(());
        }
        // It opens two databases by itself.
        CompanyCommand::Move(_) => return Ok(()),
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
