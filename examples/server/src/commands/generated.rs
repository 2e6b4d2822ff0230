//! `recado completions` and `recado man`: generated from the command line itself.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;
use serde_json::json;

use super::{CommandError, output};
use crate::options::Cli;

pub(super) const COMPLETIONS_HELP: &str = "\
Examples:
  recado completions bash > ~/.local/share/bash-completion/completions/recado
  recado completions zsh > ~/.zfunc/_recado
  recado completions fish > ~/.config/fish/completions/recado.fish";

pub(super) const MAN_HELP: &str = "\
Examples:
  recado man ~/.local/share/man/man1

Then `man recado-serve` shows the page of `recado serve`.";

/// Completions for a shell.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Manual pages.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// The folder that gets the pages; it is made if it is missing
    dir: PathBuf,
}

pub(super) fn completions(json: bool, args: &CompletionsArgs) {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::listed(), "recado", &mut script);
    let script = String::from_utf8_lossy(&script);
    match json {
        true => output::json(&json!({"shell": args.shell.to_string(), "script": script})),
        false => output::line(script.trim_end()),
    }
}

pub(super) fn man(json: bool, args: &ManArgs) -> Result<(), CommandError> {
    let pages = write_pages(args).map_err(|error| {
        CommandError::Run(format!("the pages cannot be written to {}: {error}", args.dir.display()))
    })?;
    match json {
        true => output::json(&json!({"dir": args.dir, "pages": pages})),
        false => output::line(format_args!("{} pages are in {}", pages.len(), args.dir.display())),
    }
    Ok(())
}

/// Writes a page for each command; the names of the files.
fn write_pages(args: &ManArgs) -> std::io::Result<Vec<String>> {
    std::fs::create_dir_all(&args.dir)?;
    // Without the generated `help`, which says what the pages say.
    let command = Cli::listed().disable_help_subcommand(true);
    clap_mangen::generate_to(command, &args.dir)?;
    let mut pages = Vec::new();
    for entry in std::fs::read_dir(&args.dir)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.starts_with("recado") && name.ends_with(".1") {
            pages.push(name);
        }
    }
    pages.sort();
    Ok(pages)
}
