//! `recado import`: many contacts or messages from a file, through the same use cases as the
//! operator API. Safe to repeat: existing records are recognized.

mod columns;
mod csv_lines;
mod encoding;
mod identity;
mod json_lines;
mod progress;
mod refused;
mod source;
mod summary;
mod target;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use futures_util::StreamExt;
use futures_util::stream;
use recado_core::Recado;
use recado_core::ids::CompanyId;
use recado_core::imports::{Imported, Labels, RowOutcome, delimiter};

use self::columns::ColumnMap;
use self::encoding::Encoding;
use self::identity::Identities;
use self::progress::ImportProgress;
use self::refused::RefusedLines;
use self::source::{ImportFile, ImportRecord};
use self::summary::Tally;
use self::target::{Manner, Target};
use super::company::company_id;
use super::{CommandError, refused};

/// How many lines are read and imported as one group.
const WINDOW: usize = 512;
/// How many of them are imported at the same time. Messages of one contact are not, because each
/// changes the contact; nor are lines that name the same person or message: the earlier one counts.
const AT_ONCE: usize = 64;

/// How often the store is tended meanwhile.
///
/// R315.
const UPKEEP_EVERY: Duration = Duration::from_secs(2);

pub(super) const HELP: &str = "\
Examples:
  recado import --company 01a19b7c-a680-78b4-a652-e44da7f29e26 contacts.csv
  recado import --company 01a19b7c-a680-78b4-a652-e44da7f29e26 --dry-run \\
      --map 'Telefone=phone' --map 'Nome=name' clientes.csv
  recado import --company 01a19b7c-a680-78b4-a652-e44da7f29e26 --map-file docs/imports/hubspot.map \\
      --update --list 'HubSpot' hubspot.csv
  recado import --company 01a19b7c-a680-78b4-a652-e44da7f29e26 --kind messages messages.jsonl

The file is CSV with a line of column names, or JSON Lines: one object a line. Columns and keys are \
those of the operator API's POST contacts and POST messages, or what a map says they are. \
first_name and last_name make the name. In CSV an empty cell counts as not given, true and false \
are written so, days as 1990-05-17 or 17/05/1990, tag_ids holds ids with semicolons between them, \
and custom_fields.SLUG or custom_fields.ID holds a custom value. A message names its contact by \
contact_id or phone, and its connection by connection_id or connection: its number or name. \
Columns and keys that begin with _ are ignored.

A contact with a bad value is imported without that value, which is reported; --strict refuses it. \
Lines that are refused are written, with the reason, to a file of the same form, which can be \
corrected and imported. A contact whose identifier is taken and a message whose wamid or \
external_id is known count as already there, so an import that was cut off is simply repeated. \
Exit status 1 if lines were refused, 2 if the header is one that no line can be read by.";

/// Bulk import.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The company to import into
    #[arg(long, value_name = "ID", value_parser = company_id)]
    company: CompanyId,
    /// What the file holds; by default its fields tell
    #[arg(long, value_enum)]
    kind: Option<ImportKind>,
    /// Which field a column is, such as 'Telefone=phone'; columns that are neither mapped nor
    /// fields are left out then
    #[arg(long = "map", value_name = "COLUMN=FIELD")]
    maps: Vec<String>,
    /// A file of such lines; columns that it names may be missing
    #[arg(long, value_name = "FILE")]
    map_file: Option<PathBuf>,
    /// How the file is encoded; by default its bytes tell
    #[arg(long, value_enum)]
    encoding: Option<Encoding>,
    /// What separates cells of CSV: one character, or tab; by default the first line tells
    #[arg(long, value_name = "CHAR", value_parser = delimiter::parse)]
    delimiter: Option<u8>,
    /// Reads and checks everything, with the same report and exit status, and imports nothing
    #[arg(long)]
    dry_run: bool,
    /// Changes contacts that are there already
    #[arg(long)]
    update: bool,
    /// A list that the contacts are added to; made if it is missing
    #[arg(long, value_name = "NAME")]
    list: Option<String>,
    /// A tag that the contacts get; made if it is missing
    #[arg(long, value_name = "NAME")]
    tag: Option<String>,
    /// Refuses lines with bad values in place of leaving the values out
    #[arg(long)]
    strict: bool,
    /// Where refused lines go; by default beside FILE, as FILE.refused.csv or FILE.refused.jsonl
    #[arg(long, alias = "refused", value_name = "FILE")]
    report: Option<PathBuf>,
    /// Tells webhooks and the journal of what is imported: contact.created, message.received,
    /// message.sent. Lines that are there already are not told of
    #[arg(long)]
    events: bool,
    /// The file
    file: PathBuf,
}

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ImportKind {
    /// Contacts
    Contacts,
    /// Messages
    Messages,
}

impl ImportKind {
    /// The kind by the names of fields; `None` if they do not determine it.
    fn of_fields<'a>(names: impl Iterator<Item = &'a str>) -> Option<Self> {
        const OF_MESSAGES: [&str; 4] = ["direction", "sender_type", "connection_id", "wamid"];
        const OF_CONTACTS: [&str; 2] = ["phone", "identifier"];
        let names: Vec<&str> = names.collect();
        if names.iter().any(|name| OF_MESSAGES.contains(name)) {
            return Some(Self::Messages);
        }
        names.iter().any(|name| OF_CONTACTS.contains(name)).then_some(Self::Contacts)
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::Contacts => "contacts",
            Self::Messages => "messages",
        }
    }
}

pub(super) async fn run(recado: &Recado, json: bool, args: ImportArgs) -> Result<(), CommandError> {
    let map = ColumnMap::read(&args.maps, args.map_file.as_deref()).map_err(CommandError::Usage)?;
    let mut source = ImportFile::open(&args.file, args.encoding, args.delimiter, map)?;
    let kind = args.kind.or_else(|| ImportKind::of_fields(source.field_names()));
    let kind = kind.ok_or_else(|| {
        CommandError::Usage(
            "the fields of the file do not tell what it holds: give --kind, or --map".to_owned(),
        )
    })?;
    let ImportArgs { events, update, strict, dry_run: is_rehearsal, .. } = args;
    let manner = Manner { kind, events, update, strict, is_rehearsal };
    let rehearsal = recado.rehearsal();
    let recado = if is_rehearsal { &rehearsal } else { recado };
    let company = recado.access().company(args.company).await.map_err(refused)?;
    let target = Target::new(recado, company, manner).await?;
    check_header(&mut source, &target, kind)?;
    let (list, tag) = (args.list.as_deref(), args.tag.as_deref());
    let labels = match kind {
        ImportKind::Contacts if !is_rehearsal => {
            let made = Labels::find_or_make(recado, args.company, list, tag).await;
            made.map_err(refused)?
        }
        ImportKind::Messages if list.is_some() || tag.is_some() => {
            return Err(CommandError::Usage("--list and --tag go with contacts".to_owned()));
        }
        ImportKind::Contacts | ImportKind::Messages => Labels::default(),
    };
    let target = target.with_labels(labels);
    let report = args.report.unwrap_or_else(|| source.refused_path(&args.file));
    let mut refused = RefusedLines::new(report, &source);
    let progress = ImportProgress::new(source.size());
    let started = Instant::now();
    let mut tended = started;
    let mut tally = Tally::default();
    let mut identities = Identities::new(args.company);
    let mut left = None;
    loop {
        let mut window = next_window(&mut source, &mut left, kind)?;
        if kind == ImportKind::Messages {
            window.iter_mut().for_each(|entry| identify(entry, &target, &mut identities));
        }
        let Some(last) = window.last() else { break };
        let position = last.end;
        let outcomes = import_all(&target, &window).await;
        let failed = window.iter().zip(&outcomes).find_map(|(entry, outcome)| {
            outcome.as_ref().err().map(|failure| stopped_at(entry.line, failure))
        });
        let outcomes: Vec<RowOutcome> = outcomes.into_iter().flatten().collect();
        target.list(&outcomes).await?;
        if let Some(failure) = failed {
            return Err(failure);
        }
        for (entry, outcome) in window.iter().zip(outcomes) {
            if let Imported::Refused(reason) = &outcome.imported {
                refused.add(entry, &reason.to_string())?;
            }
            tally.count(entry.line, outcome);
        }
        progress.show(position, &tally);
        if tended.elapsed() >= UPKEEP_EVERY {
            tend(recado, manner).await?;
            tended = Instant::now();
        }
    }
    tend(recado, manner).await?;
    progress.end();
    let report = refused.finish()?;
    summary::print(json, manner, &tally, report.as_deref(), started.elapsed());
    match tally.refused {
        0 => Ok(()),
        count => Err(CommandError::Run(format!("{count} of {} lines were refused", tally.lines))),
    }
}

/// Does the upkeep that a server does, because none may be running.
///
/// R315.
async fn tend(recado: &Recado, manner: Manner) -> Result<(), CommandError> {
    if manner.is_rehearsal {
        return Ok(());
    }
    recado.upkeep().await.map_err(CommandError::run)
}

/// Checks the columns before the first line is imported (R287).
fn check_header(
    source: &mut ImportFile,
    target: &Target<'_>,
    kind: ImportKind,
) -> Result<(), CommandError> {
    let is_csv = source.delimiter().is_some();
    let checked = source.name_columns(kind).and_then(|fields| {
        if !is_csv {
            return Ok(());
        }
        columns::check_identity(fields, kind, target.has_one_connection())?;
        match columns::custom_slugs(fields).find(|slug| !target.has_field(slug)) {
            Some(slug) => Err(format!("the company has no custom field {slug:?}")),
            None => Ok(()),
        }
    });
    checked.map_err(CommandError::Usage)
}

/// Gives a message its connection and, if it has none, an id.
fn identify(entry: &mut ImportRecord, target: &Target<'_>, identities: &mut Identities) {
    let Ok(body) = &mut entry.body else { return };
    match target.name_connection(body) {
        Ok(()) => identities.identify(body),
        Err(reason) => entry.body = Err(reason),
    }
}

/// The next lines that can be imported at the same time; `left` is a line that was read and belongs
/// to the next group.
fn next_window(
    source: &mut ImportFile,
    left: &mut Option<ImportRecord>,
    kind: ImportKind,
) -> Result<Vec<ImportRecord>, CommandError> {
    let mut window = Vec::new();
    let mut seen = HashSet::new();
    while window.len() < WINDOW {
        let Some(entry) = left.take().map_or_else(|| source.next(), |entry| Ok(Some(entry)))?
        else {
            break;
        };
        let keys = entry.keys(kind);
        if keys.iter().any(|key| seen.contains(key)) {
            *left = Some(entry);
            break;
        }
        seen.extend(keys);
        window.push(entry);
    }
    Ok(window)
}

/// Imports lines concurrently, those of one chain after each other; the outcomes are in the order
/// of the lines.
async fn import_all(
    target: &Target<'_>,
    window: &[ImportRecord],
) -> Vec<Result<RowOutcome, CommandError>> {
    let mut chains: HashMap<String, Vec<usize>> = HashMap::new();
    let mut alone = Vec::new();
    for (index, entry) in window.iter().enumerate() {
        match entry.chain() {
            None => alone.push(vec![index]),
            Some(chain) => chains.entry(chain).or_default().push(index),
        }
    }
    let import = |chain: Vec<usize>| async move {
        let mut outcomes = Vec::new();
        for index in chain {
            outcomes.push((index, target.import(&window[index]).await));
        }
        outcomes
    };
    let chains = stream::iter(chains.into_values().chain(alone)).map(import);
    let mut outcomes: Vec<_> = chains.buffer_unordered(AT_ONCE).concat().await;
    outcomes.sort_by_key(|(index, _)| *index);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

fn stopped_at(line: u64, failure: &CommandError) -> CommandError {
    CommandError::Run(format!(
        "stopped at line {line}: {failure}; repeat the import, what is there is recognized"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_tell_what_a_file_holds() {
        let kind = |names: &[&str]| ImportKind::of_fields(names.iter().copied());
        assert_eq!(kind(&["name", "phone"]), Some(ImportKind::Contacts));
        assert_eq!(kind(&["identifier"]), Some(ImportKind::Contacts));
        assert_eq!(kind(&["phone", "direction", "content"]), Some(ImportKind::Messages));
        assert_eq!(kind(&["name", "city"]), None);
    }
}
