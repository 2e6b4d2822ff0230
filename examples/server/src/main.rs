//! The binary `recado`. Exit codes: 0 done, 1 failed while running, 2 wrong configuration.

use std::fmt::Display;
use std::io::{Write, stderr};
use std::process::ExitCode;

use clap::Parser;
use recado_server::{Cli, commands, restrict};

fn main() -> ExitCode {
    restrict();
    let cli = Cli::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            complain(format_args!("the runtime cannot start: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let outcome = runtime.block_on(commands::run(cli));
    // Calls that are still under way after a stop must not keep the process.
    runtime.shutdown_background();
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            complain(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}

/// Prints an error. Where nobody can read it, the exit code still tells of it (R162).
fn complain(error: impl Display) {
    let _ = writeln!(stderr(), "error: {error}");
}
