//! `recado secret-key`

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use recado_store_sqlite::{SealedCounts, Sealer};
use serde::Serialize;

use super::{CommandError, is_there, output};
use crate::options::Options;
use crate::wiring;

pub(super) const HELP: &str = "\
Examples:
  recado secret-key create recado.key
  recado secret-key list --secret-key-file recado.key";

/// `recado secret-key`
#[derive(Debug, Args)]
pub struct SecretKeyArgs {
    #[command(subcommand)]
    command: SecretKeyCommand,
}

#[derive(Debug, Subcommand)]
enum SecretKeyCommand {
    /// Makes a file with a new key, readable by its owner only; a file that exists is left alone
    #[command(after_help = "\
Examples:
  recado secret-key create recado.key")]
    Create {
        /// The file, for --secret-key-file
        file: PathBuf,
    },
    /// Lists how many stored secrets are sealed with which key
    #[command(
        alias = "status",
        after_help = "\
Examples:
  recado secret-key list
  recado secret-key list --secret-key-file recado.key --json"
    )]
    List,
}

/// A key, and what is sealed with it.
#[derive(Serialize)]
struct KeyView {
    key: String,
    secrets: u64,
    /// `current`, `older` or, of what is clear, `none`.
    role: &'static str,
}

pub(super) async fn run(
    options: &Options,
    json: bool,
    args: SecretKeyArgs,
) -> Result<(), CommandError> {
    match args.command {
        SecretKeyCommand::Create { file } => {
            let key = create(&file).map_err(|error| {
                CommandError::Run(format!("{} cannot be made: {error}", file.display()))
            })?;
            let made = [("key", key.into()), ("file", file.display().to_string().into())];
            output::record(
                json,
                &["key", "file"],
                &super::object(made.map(|(name, value)| (name, Some(value)))),
            );
        }
        SecretKeyCommand::List => {
            is_there(options).await?;
            let sealer = options.sealer()?;
            let counts = wiring::sealed_counts(options).await?;
            let views = views(&sealer, &counts);
            output::records(json, &["key", "secrets", "role"], &views);
        }
    }
    Ok(())
}

/// Makes the file; the id of its key.
///
/// R217.
fn create(file: &Path) -> std::io::Result<String> {
    let text = Sealer::new_key_file();
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut opened = options.open(file)?;
    opened.write_all(text.as_bytes())?;
    opened.sync_all()?;
    let sealer = Sealer::parse(&text).map_err(std::io::Error::other)?;
    Ok(sealer.current().map(|id| id.to_string()).unwrap_or_default())
}

/// The keys that were given, then what is clear.
fn views(sealer: &Sealer, counts: &SealedCounts) -> Vec<KeyView> {
    let current = sealer.current();
    let keys = sealer.key_ids().map(|id| KeyView {
        key: id.to_string(),
        secrets: counts.sealed.get(&id).copied().unwrap_or_default(),
        role: if Some(id) == current { "current" } else { "older" },
    });
    let clear = KeyView { key: "clear".to_owned(), secrets: counts.clear, role: "none" };
    keys.chain([clear]).collect()
}
