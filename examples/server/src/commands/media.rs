//! `recado media …`

use clap::{Args, Subcommand};
use recado_core::Recado;
use recado_core::messages::MediaKeyRotation;

use super::{CommandError, output};

pub(super) const HELP: &str = "\
Examples:
  recado media rotate-key
  recado media rotate-key --at-once

A new key signs links to files of messages from now on. Links that were given out stay good until
their end, at most --media-link-lifetime and a day; with --at-once they end now. Run it with the
options of the server, beside which it may run: the server follows within a minute.";

/// Links to the files of messages.
#[derive(Debug, Args)]
pub struct MediaArgs {
    #[command(subcommand)]
    command: MediaCommand,
}

#[derive(Debug, Subcommand)]
enum MediaCommand {
    /// Replaces the key that signs links
    #[command(after_help = HELP)]
    RotateKey {
        /// Ends all links that were given out, such as after a leak of the database
        #[arg(long)]
        at_once: bool,
    },
}

pub(super) async fn run(recado: &Recado, json: bool, args: MediaArgs) -> Result<(), CommandError> {
    let MediaCommand::RotateKey { at_once } = args.command;
    let rotated = recado.messages().rotate_media_key(at_once).await.map_err(CommandError::run)?;
    match json {
        true => output::record(true, &[], &rotated),
        false => output::line(sentence(&rotated)),
    }
    Ok(())
}

fn sentence(rotated: &MediaKeyRotation) -> String {
    let since = rotated.rotated_at;
    match rotated.links_until {
        Some(until) => {
            format!("A new key signs since {since}. The last link of older keys ends at {until}.")
        }
        None => format!("A new key signs since {since}. All links of older keys have ended."),
    }
}
