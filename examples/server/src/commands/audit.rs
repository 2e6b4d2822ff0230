//! `recado audit …`

use clap::{Args, Subcommand};
use recado_core::Recado;
use recado_core::audit::{AuditEntryView, AuditRequest};
use recado_core::ids::CompanyId;
use recado_core::query::Params;

use super::company::company_id;
use super::{CommandError, output, refused};

pub(super) const HELP: &str = "\
Examples:
  recado audit list --operation deleteContact
  recado audit list --company 01a19b7c-a680-78b4-a652-e44da7f29e26 --outcome denied --json";

/// The audit log.
#[derive(Debug, Args)]
pub struct AuditArgs {
    #[command(subcommand)]
    command: AuditCommand,
}

#[derive(Debug, Subcommand)]
enum AuditCommand {
    /// Lists who did what, the newest first
    #[command(after_help = "\
Examples:
  recado audit list --since 2026-11-20 --actor token
  recado audit list --record-kind contact --record-id 01a19b90-2c40-7d0e-9a5e-0f5a3b6c7d11")]
    List(AuditFilters),
}

/// What is listed.
#[derive(Debug, Args)]
struct AuditFilters {
    /// Of this company alone
    #[arg(long, value_name = "ID", value_parser = company_id)]
    company: Option<CompanyId>,
    /// Who acted: root, token, member, key, program, outside or system
    #[arg(long, value_name = "KIND")]
    actor: Option<String>,
    /// The id of the token, member or key
    #[arg(long, value_name = "ID")]
    actor_id: Option<String>,
    /// The operation, such as createContact or "company create"
    #[arg(long, value_name = "NAME")]
    operation: Option<String>,
    /// A kind of record, such as contact
    #[arg(long, value_name = "KIND")]
    record_kind: Option<String>,
    /// The id of a record
    #[arg(long, value_name = "ID")]
    record_id: Option<String>,
    /// done or denied
    #[arg(long)]
    outcome: Option<String>,
    /// From this time on: a timestamp, or a date
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Until this time: a timestamp, or the beginning of a date
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// At most so many entries, from 1 to 100
    #[arg(long, default_value = "50")]
    limit: String,
}

const COLUMNS: [&str; 10] = [
    "id",
    "at",
    "company_id",
    "actor",
    "actor_id",
    "from",
    "operation",
    "outcome",
    "code",
    "record_count",
];

/// Lists entries, over as many reads as it takes.
///
/// R388.
pub(super) async fn run(recado: &Recado, json: bool, args: AuditArgs) -> Result<(), CommandError> {
    let AuditCommand::List(filters) = args.command;
    let company = filters.company;
    let limit: usize = filters.limit.parse().unwrap_or(0);
    let mut entries: Vec<AuditEntryView> = Vec::new();
    let mut cursor = None;
    let given = [
        ("actor", filters.actor),
        ("actor_id", filters.actor_id),
        ("operation", filters.operation),
        ("record_kind", filters.record_kind),
        ("record_id", filters.record_id),
        ("outcome", filters.outcome),
        ("since", filters.since),
        ("until", filters.until),
        ("limit", Some(filters.limit)),
    ];
    loop {
        let given = given.iter().cloned().chain([("cursor", cursor)]);
        let pairs = given.filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let request = AuditRequest::parse(&Params::new(pairs.collect()));
        let request = request.map_err(CommandError::rejected)?;
        let page = recado.audit().list(company, &request).await.map_err(refused)?;
        entries.extend(page.entries);
        cursor = page.next_cursor;
        if entries.len() >= limit || cursor.is_none() {
            break;
        }
    }
    entries.truncate(limit);
    output::records(json, &COLUMNS, &entries);
    Ok(())
}
