//! `recado restore` (D75, R253).

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use recado_core::halts::CopyHeld;
use serde_json::json;

use super::manifest::Manifest;
use super::{DUMP_FILE, SQLITE_FILE, blocking, documents, failed, postgres};
use crate::commands::{CommandError, output};
use crate::files;
use crate::options::{DatabaseLocation, DocumentStorage, Options};
use crate::start::Overrides;
use crate::wiring;

pub(in crate::commands) const RESTORE_HELP: &str = "\
Examples:
  recado restore /var/backups/recado/2026-11-24
  recado restore --database sqlite:copy.db --documents file:copy-documents ./backup
  recado restore --resume /var/backups/recado/2026-11-24

The places that --database and --documents name have to be empty. Start the server when the command
has ended. The installation is then on hold: nothing is sent, dispatched or delivered until recado
resume. Campaigns that ran are paused, and what was being sent is uncertain. With --resume none of
that is done: for the one installation that takes the place of what was lost.";

/// The options of `recado restore`.
#[derive(Debug, Args)]
pub struct RestoreArgs {
    /// The folder of the backup
    dir: PathBuf,
    /// Leaves the installation as it was when it was backed up, sending and delivering
    #[arg(long)]
    resume: bool,
}

pub(in crate::commands) async fn restore(
    options: &Options,
    json: bool,
    args: RestoreArgs,
) -> Result<(), CommandError> {
    let folder = args.dir.clone();
    let manifest = blocking(move || Manifest::checked(&folder)).await?;
    check_key(options, &manifest)?;
    let files = files::open(&options.documents)?;
    if folder_is_used(&options.documents)
        || documents::any_there(&*files, &manifest).await.map_err(failed)?
    {
        let message = "--documents names a place that is not empty: restore into an empty one";
        return Err(failed(message));
    }
    let reason = format!("restored from the backup of {}", manifest.created_at);
    let reason = (!args.resume).then_some(reason.as_str());
    let (documents, held) = match &options.database {
        DatabaseLocation::Sqlite(path) => {
            expect_store(&manifest, "sqlite")?;
            check_unused(path)?;
            let documents = documents::copy_in(&*files, &args.dir, &manifest).await;
            (documents.map_err(failed)?, sqlite(options, path, &args.dir, reason).await?)
        }
        DatabaseLocation::Postgres(url) => {
            expect_store(&manifest, "postgres")?;
            if !wiring::postgres_is_empty(url, options).await? {
                let message = "--database names a database that is not empty: restore into an \
                               empty one";
                return Err(failed(message));
            }
            let documents = documents::copy_in(&*files, &args.dir, &manifest).await;
            let documents = documents.map_err(failed)?;
            let (url, dump) = (url.clone(), args.dir.join(DUMP_FILE));
            blocking(move || postgres::restore(&url, &dump)).await?;
            (documents, prepare(options, reason).await?)
        }
    };
    if json {
        let done = json!({
            "held": reason.is_some(), "reason": reason, "created_at": manifest.created_at,
            "documents": documents, "campaigns_paused": held.campaigns_paused,
            "sends_uncertain": held.sends_uncertain,
        });
        output::json(&done);
        return Ok(());
    }
    output::line(format_args!(
        "Restored the backup of {}, with {documents} documents.",
        manifest.created_at
    ));
    if reason.is_some() {
        let CopyHeld { campaigns_paused, sends_uncertain } = held;
        output::line(format_args!(
            "It is on hold: nothing is sent until recado resume. {campaigns_paused} campaigns are \
             paused, {sends_uncertain} sends uncertain."
        ));
    }
    Ok(())
}

fn expect_store(manifest: &Manifest, wanted: &str) -> Result<(), CommandError> {
    if manifest.store == wanted {
        return Ok(());
    }
    let store = &manifest.store;
    Err(failed(format!(
        "the backup is of a database on {store}: restore it there, then recado move changes the \
         kind of database"
    )))
}

/// A backup whose secrets are sealed needs their key.
fn check_key(options: &Options, manifest: &Manifest) -> Result<(), CommandError> {
    let Some(needed) = &manifest.sealing_key else { return Ok(()) };
    if options.sealer()?.key_ids().any(|id| id.to_string() == *needed) {
        return Ok(());
    }
    Err(failed(format!(
        "the backup is sealed with the key {needed}, which is no part of it: give the keys of the \
         server by --secret-key-file"
    )))
}

/// Whether the folder of documents has something in it.
fn folder_is_used(documents: &DocumentStorage) -> bool {
    let DocumentStorage::Folder(folder) = documents else { return false };
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
}

/// The file of this name with `end` behind it.
fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(end);
    PathBuf::from(name)
}

fn check_unused(path: &Path) -> Result<(), CommandError> {
    for file in ["", "-wal", "-shm"].map(|end| beside(path, end)) {
        if file.exists() {
            let message =
                format!("{} is there already: restore into an empty place", file.display());
            return Err(failed(message));
        }
    }
    Ok(())
}

/// Fills the file beside its place and moves it there when it is held: so that a server which is
/// started meanwhile never sends.
async fn sqlite(
    options: &Options,
    path: &Path,
    dir: &Path,
    reason: Option<&str>,
) -> Result<CopyHeld, CommandError> {
    let staged = beside(path, ".restoring");
    let (from, to) = (dir.join(SQLITE_FILE), staged.clone());
    blocking(move || {
        for end in ["", "-wal", "-shm"] {
            let left = beside(&to, end);
            if left.exists() {
                let removed = fs::remove_file(&left);
                removed.map_err(|error| format!("{}: {error}", left.display()))?;
            }
        }
        let copied = fs::copy(&from, &to).and_then(|_| fs::File::open(&to)?.sync_all());
        copied.map_err(|error| format!("the database cannot be written: {error}"))
    })
    .await?;
    let there = Options { database: DatabaseLocation::Sqlite(staged.clone()), ..options.clone() };
    let held = prepare(&there, reason).await?;
    check_unused(path)?;
    let moved = fs::rename(&staged, path).and_then(|()| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        fs::File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    });
    moved.map_err(|error| failed(format!("the database cannot be put in its place: {error}")))?;
    Ok(held)
}

/// Brings the copy to the current schema, and makes it one that writes to nobody.
async fn prepare(options: &Options, reason: Option<&str>) -> Result<CopyHeld, CommandError> {
    let options = Options { no_migrate: false, ..options.clone() };
    let core = wiring::core(&options, String::new(), Overrides::default()).await?;
    let halts = core.recado.halts();
    let held = match reason {
        Some(reason) => halts.hold_copy(reason).await,
        None => halts.leave_processes_behind().await.map(|()| CopyHeld::default()),
    };
    core.closer.close().await;
    held.map_err(CommandError::run)
}
