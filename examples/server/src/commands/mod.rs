//! The commands of the binary.

mod audit;
mod backup;
mod cells;
mod company;
mod connection;
mod contact;
mod database;
mod delivery;
mod demo;
mod endpoint;
mod failure;
mod generated;
mod health;
mod hold;
mod import;
mod inbox;
mod init;
mod key;
mod media;
mod member;
mod migrate;
mod new_file;
mod operator_token;
mod output;
mod secret_key;
mod serve;
mod transfer;
mod webhook;

use std::env;

use clap::{CommandFactory, Subcommand};
use recado_core::Rejection;
use serde_json::{Map, Value};

use self::database::{is_there, with};
use crate::options::{Cli, Options, ServerOptions};
use crate::{logging, shutdown, wiring};

pub use self::failure::{CommandError, usage_as_json};

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Runs a demonstration on a local SQLite file, with sample data and lines to try
    #[command(after_help = demo::HELP)]
    Demo,
    /// Makes a configuration, a database, a company and a key: the first run
    #[command(after_help = init::HELP)]
    Init(init::InitArgs),
    /// Runs the server
    #[command(after_help = serve::HELP)]
    Serve(ServerOptions),
    /// Brings the database to the current schema; makes it if it is missing
    #[command(after_help = migrate::HELP)]
    Migrate(migrate::MigrateArgs),
    /// Prints the OpenAPI 3.1 document
    #[command(after_help = "\
Examples:
  recado openapi > openapi.json")]
    Openapi,
    /// Asks a running server whether it is ready
    #[command(after_help = health::HELP)]
    Health(health::HealthArgs),
    /// Moves an installation, or one company, to another database
    #[command(after_help = transfer::HELP)]
    Move(transfer::MoveArgs),
    /// Imports many contacts or messages from a file; safe to repeat
    #[command(after_help = import::HELP)]
    Import(import::ImportArgs),
    /// Makes, lists, shows, changes and deletes companies, on the database directly
    #[command(after_help = company::HELP)]
    Company(company::CompanyArgs),
    /// Makes, lists, shows, changes and deletes API keys, on the database directly
    #[command(after_help = key::HELP)]
    Key(key::KeyArgs),
    /// Makes, lists, shows, changes and deletes tokens of the operator API, on the database
    /// directly
    #[command(after_help = operator_token::HELP)]
    OperatorToken(operator_token::OperatorTokenArgs),
    /// Lists the audit log: who did what, on the database directly
    #[command(after_help = audit::HELP)]
    Audit(audit::AuditArgs),
    /// Invites members to log in, and manages their logins and sessions, on the database directly
    #[command(after_help = member::HELP)]
    Member(member::MemberArgs),
    /// Makes, lists, shows, changes and deletes connections, and pairs phones with them, on the
    /// database directly
    #[command(after_help = connection::HELP)]
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
    /// Makes, lists, shows, changes, tests and deletes outbound webhooks, on the database directly
    #[command(after_help = webhook::HELP)]
    Webhook(webhook::WebhookArgs),
    /// Lists and shows deliveries to webhooks, and begins them again, on the database directly
    #[command(after_help = delivery::HELP)]
    Delivery(delivery::DeliveryArgs),
    /// Makes, lists, shows, changes and deletes inbound endpoints, on the database directly
    #[command(after_help = endpoint::HELP)]
    Endpoint(endpoint::EndpointArgs),
    /// Copies the database and the documents into a new folder, while the server runs
    #[command(after_help = backup::BACKUP_HELP)]
    Backup(backup::BackupArgs),
    /// Fills an empty place from a backup, and leaves it on hold
    #[command(after_help = backup::RESTORE_HELP)]
    Restore(backup::RestoreArgs),
    /// Sends nothing from now on, until `resume`
    #[command(after_help = hold::HOLD_HELP)]
    Hold(hold::HoldArgs),
    /// Ends a hold, and opens what a killed move left closed
    #[command(after_help = hold::RESUME_HELP)]
    Resume(hold::ResumeArgs),
    /// Makes a key that seals secrets in the database; lists which keys seal them
    #[command(after_help = secret_key::HELP)]
    SecretKey(secret_key::SecretKeyArgs),
    /// Prints the completions of a shell
    #[command(after_help = generated::COMPLETIONS_HELP)]
    Completions(generated::CompletionsArgs),
    /// Writes a manual page for each command
    #[command(after_help = generated::MAN_HELP)]
    Man(generated::ManArgs),
}

/// Runs the command.
///
/// # Errors
///
/// [`CommandError`], to be shown on standard error.
pub async fn run(cli: Cli) -> Result<(), CommandError> {
    let path = cli.path.clone();
    run_command(cli).await.map_err(|failure| {
        let mut command = Cli::command();
        command.build();
        let leaf = path.iter().try_fold(&command, |command, name| command.find_subcommand(name));
        failure.naming_options(leaf.unwrap_or(&command))
    })
}

async fn run_command(cli: Cli) -> Result<(), CommandError> {
    shutdown::outlive_hangup().map_err(CommandError::run)?;
    if let Command::Init(args) = &cli.command {
        return init::run(&cli, args).await;
    }
    let base = match cli.command {
        Command::Demo => demo::defaults(),
        _ => Options::default(),
    };
    let json = cli.json;
    let command = cli.path.join(" ");
    let options = &Options { command, ..cli.options(base, |name| env::var_os(name))? };
    let _logging = match cli.command {
        Command::Demo | Command::Serve(_) => {
            Some(logging::start(options).map_err(CommandError::run)?)
        }
        // Other commands print to standard output, and report their failures themselves.
        _ => None,
    };
    match cli.command {
        // It has options of its own, above.
        Command::Init(_) => Ok(()),
        Command::Demo => demo::run(json, options.clone()).await,
        Command::Serve(_) => serve::run(json, options.clone()).await,
        Command::Migrate(args) => migrate::run(json, options, args).await,
        Command::Openapi => {
            output::line(recado_http_hyper::openapi(&wiring::gateways(options)));
            Ok(())
        }
        Command::Health(args) => health::run(options, json, args).await,
        Command::Move(args) => transfer::run(options, json, args).await,
        Command::Import(args) => {
            with(options, async |core| import::run(core, json, args).await).await
        }
        Command::Company(args) => company::run(options, json, args).await,
        Command::Key(args) => with(options, async |core| key::run(core, json, args).await).await,
        Command::OperatorToken(args) => {
            with(options, async |core| operator_token::run(core, json, args).await).await
        }
        Command::Audit(args) => {
            with(options, async |core| audit::run(core, json, args).await).await
        }
        Command::Member(args) => {
            with(options, async |core| member::run(core, json, args).await).await
        }
        Command::Connection(args) => connection::run(options, json, args).await,
        Command::Contact(args) => {
            with(options, async |core| contact::run(core, json, args).await).await
        }
        Command::Inbox(args) => {
            with(options, async |core| inbox::run(core, json, args).await).await
        }
        Command::Media(args) => {
            with(options, async |core| media::run(core, json, args).await).await
        }
        Command::Webhook(args) => {
            with(options, async |core| webhook::run(core, json, args).await).await
        }
        Command::Delivery(args) => {
            with(options, async |core| delivery::run(core, json, args).await).await
        }
        Command::Endpoint(args) => {
            with(options, async |core| endpoint::run(core, json, args).await).await
        }
        Command::Backup(args) => backup::backup(options, json, args).await,
        Command::Restore(args) => backup::restore(options, json, args).await,
        Command::Hold(args) => with(options, async |core| hold::hold(core, json, args).await).await,
        Command::Resume(args) => {
            with(options, async |core| hold::resume(core, json, args).await).await
        }
        Command::SecretKey(args) => secret_key::run(options, json, args).await,
        Command::Completions(args) => {
            generated::completions(json, &args);
            Ok(())
        }
        Command::Man(args) => generated::man(json, &args),
    }
}

/// The error for a refusal of a use case, with its details.
fn refused<E: Rejection>(error: recado_core::Error<E>) -> CommandError
where
    recado_core::Error<E>: std::error::Error,
{
    match error {
        recado_core::Error::Rejected(rejection) => CommandError::rejected(rejection),
        error => CommandError::run(error),
    }
}

/// A body with the given fields.
fn object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Map<String, Value> {
    let given = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    given.collect()
}
