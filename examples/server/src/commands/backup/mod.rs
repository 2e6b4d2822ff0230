//! `recado backup` and `recado restore`.

mod documents;
mod manifest;
mod postgres;
mod restore;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use recado_core::{Clock, Recado};
use recado_runtime::SystemClock;
use serde_json::json;

use self::manifest::Manifest;
pub(super) use self::restore::{RESTORE_HELP, RestoreArgs, restore};
use super::database::core;
use super::{CommandError, output};
use crate::files;
use crate::options::{DatabaseLocation, Options};

pub(super) const BACKUP_HELP: &str = "\
Examples:
  recado backup /var/backups/recado/2026-11-24
  recado backup /var/backups/recado/today --json --database postgres://recado@localhost/recado

The server may run meanwhile: what it had answered before the command began is in the backup. The
folder is made; one that is not empty is refused. The key that seals secrets is no part of it: keep
it elsewhere. On Postgres the programs pg_dump and, for restoring, pg_restore have to be there.";

/// The database of a backup on SQLite.
const SQLITE_FILE: &str = "recado.db";
/// The database of a backup on Postgres.
const DUMP_FILE: &str = "database.dump";

/// The options of `recado backup`.
#[derive(Debug, Args)]
pub struct BackupArgs {
    /// The new folder of the backup
    dir: PathBuf,
}

/// A failure that a sentence explains.
fn failed(message: impl Into<String>) -> CommandError {
    CommandError::Run(message.into())
}

pub(super) async fn backup(
    options: &Options,
    json: bool,
    args: BackupArgs,
) -> Result<(), CommandError> {
    let core = core(options).await?;
    let outcome = back_up(options, &core.recado, &args.dir).await;
    core.closer.close().await;
    let (manifest, documents) = outcome?;
    if json {
        let made = json!({
            "dir": args.dir, "store": manifest.store, "version": manifest.version,
            "created_at": manifest.created_at, "files": manifest.files.len(),
            "bytes": manifest.bytes(), "documents": documents,
            "sealing_key": manifest.sealing_key,
        });
        output::json(&made);
    } else {
        let (dir, bytes) = (args.dir.display(), manifest.bytes());
        output::line(format_args!("{dir}: the database and {documents} documents, {bytes} bytes"));
        if let Some(key) = manifest.sealing_key {
            output::line(format_args!(
                "Its secrets are sealed with the key {key}: keep that, too."
            ));
        }
    }
    Ok(())
}

async fn back_up(
    options: &Options,
    recado: &Recado,
    dir: &Path,
) -> Result<(Manifest, u64), CommandError> {
    make_folder(dir).map_err(failed)?;
    let key = options.sealer()?.current().map(|id| id.to_string());
    // First the database, then the documents: so none that a record names is missing because it
    // was too new.
    let now = SystemClock.now();
    let (file, mut manifest) = match &options.database {
        DatabaseLocation::Sqlite(path) => {
            let (from, to) = (path.clone(), dir.join(SQLITE_FILE));
            blocking(move || {
                let copied = recado_store_sqlite::back_up(from, to);
                copied.map_err(|error| format!("the database cannot be copied: {error}"))
            })
            .await?;
            (SQLITE_FILE, Manifest::new("sqlite", now, key))
        }
        DatabaseLocation::Postgres(url) => {
            let (url, to) = (url.clone(), dir.join(DUMP_FILE));
            blocking(move || postgres::dump(&url, &to)).await?;
            (DUMP_FILE, Manifest::new("postgres", now, key))
        }
    };
    let folder = dir.to_path_buf();
    let mut manifest = blocking(move || {
        let added = manifest.add(&folder, file);
        added.map_err(|error| format!("{file} cannot be read again: {error}"))?;
        Ok(manifest)
    })
    .await?;
    let files = files::open(&options.documents)?;
    let documents = documents::copy_out(recado, &*files, dir, &mut manifest).await;
    let documents = documents.map_err(failed)?;
    let (folder, written) = (dir.to_path_buf(), manifest.clone());
    blocking(move || {
        let written = written.write(&folder);
        written.map_err(|error| format!("the manifest cannot be written: {error}"))
    })
    .await?;
    Ok((manifest, documents))
}

/// Makes the folder of a backup. One that is there has to be empty.
fn make_folder(dir: &Path) -> Result<(), String> {
    let shown = dir.display();
    fs::create_dir_all(dir).map_err(|error| format!("{shown} cannot be made: {error}"))?;
    let mut entries =
        fs::read_dir(dir).map_err(|error| format!("{shown} cannot be read: {error}"))?;
    match entries.next() {
        Some(_) => Err(format!("{shown} is not empty: name a new folder")),
        None => Ok(()),
    }
}

/// Runs what blocks.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, CommandError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(CommandError::run)?.map_err(failed)
}
