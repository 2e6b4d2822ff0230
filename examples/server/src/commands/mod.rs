//! The commands of the binary.

use clap::Subcommand;

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Runs the server.
    Serve,
}
