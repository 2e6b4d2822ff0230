//! The command line: the table of options as global flags, and the commands.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Args, Command as Clap, FromArgMatches, Parser};

use super::settings::OptionFormat;
use super::{ConfigError, Layer, Options, resolve, settings};
use crate::commands::Command;

/// `recado`: an omnichannel CRM and messaging service over one database.
#[derive(Debug, Parser)]
#[command(
    name = "recado",
    version,
    about = "Contacts and messaging over one database",
    after_help = "Each option is a flag, an environment variable and a key of the file that \
                  --config names; the first of these that is given counts."
)]
pub struct Cli {
    #[command(flatten)]
    flags: Flags,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

impl Cli {
    /// `base`, changed by the file, `env` and the flags.
    ///
    /// # Errors
    ///
    /// All invalid options, by name.
    pub fn options(
        &self,
        base: Options,
        env: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Options, ConfigError> {
        resolve(base, &self.flags.given, self.flags.config.clone(), env)
    }
}

/// The flags that were given.
#[derive(Clone, Debug, Default)]
struct Flags {
    given: Layer,
    config: Option<PathBuf>,
}

const HEADING: &str = "Server options";

impl Args for Flags {
    fn augment_args(command: Clap) -> Clap {
        let config = Arg::new("config")
            .long("config")
            .value_name("FILE")
            .help("A TOML file of options [env: RECADO_CONFIG]")
            .value_parser(clap::value_parser!(PathBuf))
            .help_heading(HEADING)
            .global(true);
        settings().iter().map(flag).fold(command, Clap::arg).arg(config)
    }

    fn augment_args_for_update(command: Clap) -> Clap {
        Self::augment_args(command)
    }
}

fn flag(setting: &'static super::Setting) -> Arg {
    let arg = Arg::new(setting.name)
        .long(setting.name)
        .value_name(setting.placeholder)
        .help(setting.help_line())
        .help_heading(HEADING)
        .global(true);
    match setting.form {
        OptionFormat::Text => arg.action(ArgAction::Set),
        OptionFormat::List => arg.action(ArgAction::Append),
        OptionFormat::Switch => arg
            .action(ArgAction::Set)
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true"),
    }
}

impl FromArgMatches for Flags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = Self::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for setting in settings() {
            if let Some(values) = matches.get_many::<String>(setting.name) {
                let values: Vec<&str> = values.map(String::as_str).collect();
                self.given.insert(setting.name, values.join(","));
            }
        }
        if let Some(config) = matches.get_one::<PathBuf>("config") {
            self.config = Some(config.clone());
        }
        Ok(())
    }
}
