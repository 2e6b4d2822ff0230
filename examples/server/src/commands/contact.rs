//! `recado contact …`

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use futures_util::StreamExt;
use recado_core::Recado;
use recado_core::contacts::DuplicateGroup;
use recado_core::ids::{CompanyId, ContactId};

use super::company::company_id;
use super::new_file::NewFile;
use super::{CommandError, output, refused};

pub(super) const HELP: &str = "\
Examples:
  recado contact duplicates --company 01a19b7c-a680-78b4-a652-e44da7f29e26
  recado contact duplicates --company 01a19b7c-a680-78b4-a652-e44da7f29e26 --json

Two contacts become one by POST C/contacts/{id}/merge of the operator API.";

/// Contacts.
#[derive(Debug, Args)]
pub struct ContactArgs {
    #[command(subcommand)]
    command: ContactCommand,
}

#[derive(Debug, Subcommand)]
enum ContactCommand {
    /// Lists the contacts that are one person: they share a number, in whichever form
    #[command(after_help = "\
Examples:
  recado contact duplicates --company 01a19b7c-a680-78b4-a652-e44da7f29e26")]
    Duplicates {
        /// The company
        #[arg(long, value_name = "ID", value_parser = company_id)]
        company: CompanyId,
    },
    /// Writes everything that is kept about a contact into a ZIP
    #[command(after_help = "\
Examples:
  recado contact export --company 01a19b7c-a680-78b4-a652-e44da7f29e26 \\
    --contact 01a19b7c-a680-78b4-a652-e44da7f29e27 --out ana.zip")]
    Export {
        /// The company
        #[arg(long, value_name = "ID", value_parser = company_id)]
        company: CompanyId,
        /// The contact
        #[arg(long, value_name = "ID", value_parser = contact_id)]
        contact: ContactId,
        /// The file to make; it must not be there
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
}

fn contact_id(text: &str) -> Result<ContactId, String> {
    ContactId::parse(text).ok_or_else(|| "is not an id".to_owned())
}

/// Writes the export to a new file, which gets its name when it is whole. What was written of one
/// that fails is removed.
///
/// R410.
async fn export(
    recado: &Recado,
    company: CompanyId,
    contact: ContactId,
    out: &Path,
) -> Result<(), CommandError> {
    // Before anything is read, so that an export that cannot be kept has no entry in the audit log.
    let mut file = NewFile::begin(out).map_err(CommandError::run)?;
    let export = recado.contacts().export_person(company, contact).await.map_err(refused)?;
    let mut frames = export.frames();
    let written = async {
        while let Some(frame) = frames.next().await {
            file.write_all(&frame.map_err(std::io::Error::other)?)?;
        }
        file.publish()
    };
    written.await.map_err(CommandError::run)
}

const COLUMNS: [&str; 7] = [
    "number",
    "contact",
    "identifier",
    "display_name",
    "opted_out_at",
    "last_message_at",
    "created_at",
];

/// A row for each contact of a group.
fn rows(groups: &[DuplicateGroup]) -> Vec<serde_json::Value> {
    let rows = groups.iter().flat_map(|group| {
        group.contacts.iter().map(|contact| {
            serde_json::json!({
                "number": group.phone,
                "contact": contact.id,
                "identifier": contact.identifier,
                "display_name": contact.display_name,
                "opted_out_at": contact.opted_out_at,
                "last_message_at": contact.last_message_at,
                "created_at": contact.created_at,
            })
        })
    });
    rows.collect()
}

pub(super) async fn run(
    recado: &Recado,
    json: bool,
    args: ContactArgs,
) -> Result<(), CommandError> {
    let company = match args.command {
        ContactCommand::Duplicates { company } => company,
        ContactCommand::Export { company, contact, out } => {
            return export(recado, company, contact, &out).await;
        }
    };
    // Otherwise a company that does not exist would seem to have none.
    recado.access().company(company).await.map_err(refused)?;
    let (mut groups, mut cursor) = (Vec::new(), None);
    loop {
        let contacts = recado.contacts();
        let page = contacts.duplicates(company, cursor).await.map_err(refused)?;
        groups.extend(page.groups);
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    match json {
        true => output::records(true, &COLUMNS, &groups),
        false => output::records(false, &COLUMNS, &rows(&groups)),
    }
    Ok(())
}
