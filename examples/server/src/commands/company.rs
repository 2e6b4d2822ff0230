//! `recado company …`

use clap::{Args, Subcommand};
use recado_core::Recado;
use recado_core::access::Company;
use recado_core::ids::CompanyId;
use serde_json::{Map, Value};

use super::{CommandError, object, output, refused};

/// Companies.
#[derive(Debug, Args)]
pub struct CompanyArgs {
    /// Answers in JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: CompanyCommand,
}

#[derive(Debug, Subcommand)]
enum CompanyCommand {
    /// Makes a company and shows it with its id
    Create {
        /// Its name
        name: String,
        #[command(flatten)]
        fields: CompanyFields,
    },
    /// Lists all companies
    List,
    /// Shows a company
    Show {
        /// Its id
        #[arg(value_parser = company_id)]
        company: CompanyId,
    },
    /// Changes a company; what is not named stays
    Set {
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
            ("features", features),
        ])
    }
}

const COLUMNS: [&str; 7] =
    ["id", "name", "plan", "features", "default_region", "created_at", "updated_at"];

/// Why a company was not deleted.
const NOT_ITS_NAME: &str = "nothing was deleted: that is not the name of the company";

/// Reads a company's id.
pub(super) fn company_id(text: &str) -> Result<CompanyId, String> {
    CompanyId::parse(text).ok_or_else(|| "must be the id of a company".to_owned())
}

/// Whether the person at the terminal types the company's name.
fn is_confirmed(company: &Company) -> Result<bool, CommandError> {
    eprint!(
        "This deletes the company {} with all its contacts, messages and files.\n\
         Type its name to go on: ",
        company.name
    );
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).map_err(CommandError::run)?;
    Ok(line.trim() == company.name)
}

pub(super) async fn run(recado: &Recado, args: CompanyArgs) -> Result<(), CommandError> {
    let access = recado.access();
    let company = match args.command {
        CompanyCommand::List => {
            let companies = access.companies().await.map_err(refused)?;
            output::records(args.json, &COLUMNS[..5], &companies);
            return Ok(());
        }
        CompanyCommand::Delete { company, yes } => {
            let found = access.company(company).await.map_err(refused)?;
            if !yes && !is_confirmed(&found)? {
                return Err(CommandError::Run(NOT_ITS_NAME.to_owned()));
            }
            access.delete_company(company).await.map_err(refused)?;
            output::record(args.json, &COLUMNS, &found);
            return Ok(());
        }
        CompanyCommand::Create { name, fields } => {
            access.create_company(&fields.body(Some(name))).await
        }
        CompanyCommand::Show { company } => access.company(company).await,
        CompanyCommand::Set { company, name, fields } => {
            access.change_company(company, &fields.body(name)).await
        }
    };
    output::record(args.json, &COLUMNS, &company.map_err(refused)?);
    Ok(())
}
