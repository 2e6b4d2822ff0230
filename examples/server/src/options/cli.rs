//! The command line: the commands, and the table of options as flags of each of them. The options
//! are listed under `recado serve` alone.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{
    Arg, ArgAction, ArgMatches, Args, Command as Clap, CommandFactory, FromArgMatches, Parser,
    Subcommand,
};

use super::settings::OptionFormat;
use super::{CONFIG_ENV, ConfigError, Layer, Options, resolve, settings};
use crate::commands::Command;

const HELP: &str = "\
Examples:
  recado demo                                    # try it, with sample data
  recado init --dir /srv/recado --company 'Padaria Aurora'
  recado serve --config /srv/recado/recado.toml
  recado key list --config /srv/recado/recado.toml --company 01a19b7c-a680-78b4-a652-e44da7f29e26

Each option is a flag, an environment variable and a key of the file that --config names; the first
of these that is given counts. `recado serve --help` lists the options; every command takes them.

Exit status: 0 done; 1 it failed, or something was refused; 2 wrong usage or configuration, or no
database.";

/// `recado`: an omnichannel CRM and messaging service over one database.
#[derive(Debug, Parser)]
#[command(
    name = "recado",
    version,
    about = "Contacts and messaging over one database",
    after_help = HELP
)]
pub struct Cli {
    #[command(flatten)]
    flags: Flags,
    /// Answers in JSON; a failure is {"error": …} on standard error
    #[arg(long, global = true, overrides_with = "json", help_heading = COMMON, display_order = 1000)]
    pub json: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// The names of the command and its subcommands.
    #[arg(skip)]
    pub(crate) path: Vec<String>,
}

impl Cli {
    /// Reads a command line, whose first argument is the name of the program.
    ///
    /// # Errors
    ///
    /// What clap says: a mistake, or help that was asked for.
    pub fn read(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let mut command = Self::command();
        let matches = command.try_get_matches_from_mut(arguments)?;
        let mut cli = Self::from_arg_matches(&matches).map_err(|e| e.format(&mut command))?;
        let mut next = matches.subcommand();
        while let Some((name, matches)) = next {
            cli.path.push(name.to_owned());
            next = matches.subcommand();
        }
        Ok(cli)
    }

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
        let config = self.flags.config.clone();
        let config =
            config.or_else(|| env(CONFIG_ENV).filter(|p| !p.is_empty()).map(PathBuf::from));
        self.options_with(base, config, env)
    }

    /// The same with another file, or none.
    pub(crate) fn options_with(
        &self,
        base: Options,
        config: Option<PathBuf>,
        env: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Options, ConfigError> {
        resolve(base, &self.flags.given, config, env)
    }

    /// The command line as it is listed: without the flags that only `recado serve` shows. For
    /// completions and manual pages.
    pub(crate) fn listed() -> Clap {
        let whole = Self::command();
        let listed = Clap::new("recado")
            .version(env!("CARGO_PKG_VERSION"))
            .about(whole.get_about().cloned().unwrap_or_default())
            .after_help(HELP);
        let shown = whole.get_arguments().filter(|arg| !arg.is_hide_set()).cloned();
        Command::augment_subcommands(shown.fold(listed, Clap::arg)).subcommand_required(true)
    }

    /// The flags of the server that were given, as they were written.
    pub(crate) const fn given(&self) -> &Layer {
        &self.flags.given
    }

    /// Whether a flag was given.
    pub(crate) fn gives(&self, name: &str) -> bool {
        self.flags.given.contains_key(name) || (name == "config" && self.flags.config.is_some())
    }
}

/// The flags that were given.
#[derive(Clone, Debug, Default)]
struct Flags {
    given: Layer,
    config: Option<PathBuf>,
}

/// What every command shows.
const COMMON: &str = "Common options";
/// The option among those of the server that every command shows.
const SHOWN: &str = "database";

impl Args for Flags {
    fn augment_args(command: Clap) -> Clap {
        let config = Arg::new("config")
            .long("config")
            .value_name("FILE")
            .help("A TOML file of options [env: RECADO_CONFIG]")
            .value_parser(clap::value_parser!(PathBuf))
            .help_heading(COMMON)
            .display_order(999)
            .global(true);
        let flags = settings().iter().map(|setting| {
            let is_shown = setting.name == SHOWN;
            flag(setting).hide(!is_shown).help_heading(COMMON).display_order(998).global(true)
        });
        flags.fold(command, Clap::arg).arg(config)
    }

    fn augment_args_for_update(command: Clap) -> Clap {
        Self::augment_args(command)
    }
}

/// The options of the server, where they are listed. Their values are those of the flags that all
/// commands take.
#[derive(Clone, Copy, Debug)]
pub struct ServerOptions;

impl Args for ServerOptions {
    fn augment_args(command: Clap) -> Clap {
        let listed = settings().iter().filter(|setting| setting.name != SHOWN);
        listed.map(|setting| flag(setting).help_heading("Server options")).fold(command, Clap::arg)
    }

    fn augment_args_for_update(command: Clap) -> Clap {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ServerOptions {
    fn from_arg_matches(_: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self)
    }

    fn update_from_arg_matches(&mut self, _: &ArgMatches) -> Result<(), clap::Error> {
        Ok(())
    }
}

fn flag(setting: &'static super::Setting) -> Arg {
    let arg = Arg::new(setting.name)
        .long(setting.name)
        .value_name(setting.placeholder)
        .help(setting.help_line());
    match setting.form {
        OptionFormat::Text | OptionFormat::Number | OptionFormat::Path | OptionFormat::Place => {
            arg.action(ArgAction::Set)
        }
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
