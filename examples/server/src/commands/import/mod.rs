//! `recado import`: many contacts or messages from a file, through the same use cases as the
//! operator API. Safe to repeat: existing records are recognized.

mod formula;
mod identity;
mod progress;
mod record;
mod refused;
mod source;
mod target;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use futures_util::StreamExt;
use futures_util::stream;
use recado_core::Recado;
use recado_core::ids::CompanyId;
use serde_json::json;

use self::identity::Identities;
use self::progress::ImportProgress;
use self::refused::RefusedLines;
use self::source::{ImportFile, ImportRecord};
use self::target::{Imported, Target};
use super::company::company_id;
use super::{CommandError, output};

/// How many lines are read and imported as one group.
const WINDOW: usize = 512;
/// How many of them are imported at the same time. Messages of one contact are not, because each
/// changes the contact; nor are lines that name the same person or message: the earlier one counts.
const AT_ONCE: usize = 64;

pub(super) const HELP: &str = "\
Examples:
  recado import --company 01a19b7c-a680-78b4-a652-e44da7f29e26 contacts.csv
  recado import --company 01a19b7c-a680-78b4-a652-e44da7f29e26 --kind messages messages.jsonl

The file is CSV with a line of column names (comma, semicolon or tab between columns), or JSON \
Lines: one object a line. Columns and keys are those of the operator API's POST contacts and POST \
messages. In CSV an empty cell counts as not given, true and false are written so, tag_ids holds \
ids with semicolons between them, and custom_fields.SLUG or custom_fields.ID holds a custom value. \
Columns and keys that begin with _ are ignored.

Lines that are refused are written, with the reason, to a file of the same form, which can be \
corrected and imported. A contact whose identifier is taken and a message whose wamid or \
external_id is known count as already there, so an import that was cut off is simply repeated.";

/// Bulk import.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The company to import into
    #[arg(long, value_name = "ID", value_parser = company_id)]
    company: CompanyId,
    /// What the file holds; by default its fields tell
    #[arg(long, value_enum)]
    kind: Option<ImportKind>,
    /// Where refused lines go; by default beside FILE, as FILE.refused.csv or FILE.refused.jsonl
    #[arg(long, value_name = "FILE")]
    refused: Option<PathBuf>,
    /// Tells webhooks and the journal of what is imported: contact.created, message.received,
    /// message.sent. Lines that are there already are not told of
    #[arg(long)]
    events: bool,
    /// Prints the summary in JSON
    #[arg(long)]
    json: bool,
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

/// The outcomes of the lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    lines: u64,
    imported: u64,
    already_there: u64,
    refused: u64,
}

pub(super) async fn run(recado: &Recado, args: ImportArgs) -> Result<(), CommandError> {
    let mut source = ImportFile::open(&args.file)?;
    let kind = args.kind.or_else(|| ImportKind::of_fields(source.names())).ok_or_else(|| {
        CommandError::Run(
            "the fields of the file do not tell what it holds: give --kind".to_owned(),
        )
    })?;
    let target = Target::new(recado, args.company, kind, args.events).await?;
    let refused_to = args.refused.unwrap_or_else(|| source.refused_path(&args.file));
    let mut refused = RefusedLines::new(refused_to, &source);
    let progress = ImportProgress::new(source.size());
    let started = Instant::now();
    let mut tally = Tally::default();
    let mut identities = Identities::new(args.company);
    let mut left = None;
    loop {
        let mut window = next_window(&mut source, &mut left)?;
        if kind == ImportKind::Messages {
            window.iter_mut().flat_map(|entry| &mut entry.body).for_each(|body| {
                identities.identify(body);
            });
        }
        let Some(last) = window.last() else { break };
        let position = last.end;
        for (entry, outcome) in window.iter().zip(import_all(&target, &window).await) {
            tally.lines += 1;
            match outcome.map_err(|failure| stopped_at(entry.line, &failure))? {
                Imported::Made => tally.imported += 1,
                Imported::AlreadyThere => tally.already_there += 1,
                Imported::Refused(reason) => {
                    tally.refused += 1;
                    refused.add(entry, &reason)?;
                }
            }
        }
        progress.show(position, &tally);
    }
    progress.end();
    let refused = refused.finish()?;
    summary(args.json, kind, tally, refused, started.elapsed());
    Ok(())
}

/// The next lines that can be imported at the same time; `left` is a line that was read and belongs
/// to the next group.
fn next_window(
    source: &mut ImportFile,
    left: &mut Option<ImportRecord>,
) -> Result<Vec<ImportRecord>, CommandError> {
    let mut window = Vec::new();
    let mut seen = HashSet::new();
    while window.len() < WINDOW {
        let Some(entry) = left.take().map_or_else(|| source.next(), |entry| Ok(Some(entry)))?
        else {
            break;
        };
        let keys = entry.keys();
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
) -> Vec<Result<Imported, CommandError>> {
    let mut chains: HashMap<&str, Vec<usize>> = HashMap::new();
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

fn summary(json: bool, kind: ImportKind, tally: Tally, refused: Option<PathBuf>, took: Duration) {
    let Tally { lines, imported, already_there, refused: count } = tally;
    if json {
        let summary = json!({
            "kind": kind.as_str(),
            "lines": lines,
            "imported": imported,
            "already_there": already_there,
            "refused": count,
            "refused_file": refused,
        });
        return output::line(format_args!("{summary:#}"));
    }
    let seconds = took.as_secs_f64();
    output::line(format_args!("{}: {lines} lines in {seconds:.1} s", kind.as_str()));
    output::line(format_args!("imported       {imported}"));
    output::line(format_args!("already there  {already_there}"));
    output::line(format_args!("refused        {count}"));
    if let Some(path) = refused {
        output::line(format_args!("refused lines  {}", path.display()));
    }
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
