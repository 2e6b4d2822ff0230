//! The commands of the binary.

mod company;
mod connection;
mod contact;
mod demo;
mod endpoint;
mod import;
mod inbox;
mod key;
mod media;
mod migrate;
mod output;
mod secret_key;
mod serve;
mod webhook;

use std::env;
use std::error::Error;

use clap::Subcommand;
use recado_core::Recado;
use recado_runtime::causes;
use serde_json::{Map, Value};

use crate::options::{Cli, ConfigError, Options};
use crate::start::{Overrides, StartError, public_url};
use crate::{logging, wiring};

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Runs a demonstration on a local SQLite file, with sample data and lines to try
    #[command(after_help = demo::HELP)]
    Demo,
    /// Runs the server
    Serve,
    /// Brings the database to the current schema
    #[command(after_help = migrate::HELP)]
    Migrate(migrate::MigrateArgs),
    /// Prints the OpenAPI 3.1 document
    Openapi,
    /// Imports many contacts or messages from a file; safe to repeat
    #[command(after_help = import::HELP)]
    Import(import::ImportArgs),
    /// Makes, lists, shows and changes companies, on the database directly
    Company(company::CompanyArgs),
    /// Makes, lists, changes and revokes API keys, on the database directly
    Key(key::KeyArgs),
    /// Lists connections and pairs phones with them, on the database directly
    Connection(connection::ConnectionArgs),
    /// Finds contacts that are one person, on the database directly
    #[command(after_help = contact::HELP)]
    Contact(contact::ContactArgs),
    /// Lists what was not understood, and reads it again, on the database directly
    #[command(after_help = inbox::HELP)]
    Inbox(inbox::InboxArgs),
    /// Rotates the key of links to files of messages, on the database directly
    #[command(after_help = media::HELP)]
    Media(media::MediaArgs),
    /// Registers, lists, changes, tests and deletes outbound webhooks, on the database directly
    Webhook(webhook::WebhookArgs),
    /// Makes, lists and deletes inbound endpoints, on the database directly
    Endpoint(endpoint::EndpointArgs),
    /// Makes a key that seals secrets in the database; shows which keys seal them
    SecretKey(secret_key::SecretKeyArgs),
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The configuration is wrong: exit code 2.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Something failed while it ran: exit code 1.
    #[error("{0}")]
    Run(String),
}

impl CommandError {
    /// A failure at run time, with all its causes.
    fn run(error: impl Error) -> Self {
        Self::Run(causes(&error))
    }

    /// The exit code of the process.
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Config(_) => 2,
            Self::Run(_) => 1,
        }
    }
}

impl From<StartError> for CommandError {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Config(error) => Self::Config(error),
            error => Self::run(error),
        }
    }
}

/// Runs the command.
///
/// # Errors
///
/// [`CommandError`], to be shown on standard error.
pub async fn run(cli: Cli) -> Result<(), CommandError> {
    let base = match cli.command {
        Command::Demo => demo::defaults(),
        _ => Options::default(),
    };
    let options = cli.options(base, |name| env::var_os(name))?;
    let _logging = match cli.command {
        Command::Openapi => {
            output::line(recado_http_hyper::openapi(&wiring::gateways(&options)));
            return Ok(());
        }
        Command::Demo | Command::Serve => {
            Some(logging::start(&options.log).map_err(CommandError::run)?)
        }
        // Other commands print to standard output, and report their failures themselves.
        _ => None,
    };
    match cli.command {
        Command::Demo => demo::run(options).await,
        Command::Serve => serve::run(options).await,
        Command::Migrate(args) => migrate::run(&options, args).await,
        Command::Import(args) => import::run(&core(&options).await?, args).await,
        Command::Company(args) => company::run(&core(&options).await?, args).await,
        Command::Key(args) => key::run(&core(&options).await?, args).await,
        Command::Connection(args) => connection::run(&core(&options).await?, args).await,
        Command::Contact(args) => contact::run(&core(&options).await?, args).await,
        Command::Inbox(args) => inbox::run(&core(&options).await?, args).await,
        Command::Media(args) => media::run(&core(&options).await?, args).await,
        Command::Webhook(args) => webhook::run(&core(&options).await?, args).await,
        Command::Endpoint(args) => endpoint::run(&core(&options).await?, args).await,
        Command::SecretKey(args) => secret_key::run(&options, args).await,
        Command::Openapi => Ok(()),
    }
}

/// The core on the database, without a server.
async fn core(options: &Options) -> Result<Recado, CommandError> {
    let public_url = public_url(options, options.listen);
    Ok(wiring::core(options, public_url, Overrides::default()).await?.recado)
}

/// The error for a refusal of a use case, with its details.
fn refused<E>(error: recado_core::Error<E>) -> CommandError
where
    E: Error + 'static,
    recado_core::Error<E>: Error,
{
    CommandError::run(error)
}

/// A body with the given fields.
fn object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Map<String, Value> {
    let given = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    given.collect()
}
