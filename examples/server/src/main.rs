//! The binary `recado`. Exit status: 0 done, 1 failed while running, 2 wrong usage or
//! configuration, or no database.

use std::fmt::Display;
use std::io::{Write, stderr};
use std::process::ExitCode;

use recado_server::{Cli, commands, restrict};

fn main() -> ExitCode {
    restrict();
    let arguments = || std::env::args_os();
    let cli = match Cli::read(arguments()) {
        Ok(cli) => cli,
        Err(error) => return usage(&error, arguments().any(|argument| argument == "--json")),
    };
    let json = cli.json;
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            complain(format_args!("error: the runtime cannot start: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let outcome = runtime.block_on(commands::run(cli));
    // Calls that are still under way after a stop must not keep the process.
    runtime.shutdown_background();
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            complain(failure.message(json));
            ExitCode::from(failure.exit_code())
        }
    }
}

/// Prints help that was asked for, or what is wrong with the command line.
fn usage(error: &clap::Error, json: bool) -> ExitCode {
    if json && error.use_stderr() {
        complain(commands::usage_as_json(error));
    } else {
        let _ = error.print();
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// Prints an error. Where nobody can read it, the exit status still tells of it (R162).
fn complain(error: impl Display) {
    let _ = writeln!(stderr(), "{error}");
}
