//! `recado move`

mod progress;
mod view;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use recado_core::documents::Files;
use recado_core::ids::CompanyId;
use recado_core::store::StoreError;
use recado_runtime::{TokioTimer, causes};
use recado_store_sql::transfer::{MoveError, Order, Scope, Transferable};

use super::CommandError;
use super::company::company_id;
use crate::options::{ConfigError, DatabaseLocation, DocumentStorage, Options};
use crate::start::{Overrides, public_url};
use crate::{files, wiring};
use progress::MoveProgress;
use view::View;

/// Shown below the options.
pub(super) const HELP: &str = "\
The source is closed meanwhile: what writes, the webhooks of gateways included, is answered 503 and
repeated by its callers, and nothing is sent. The target is compared with the source, record by
record, before it has anything. Afterwards the source stays closed. Then start the server on the
target. A move that failed or was killed is begun again by the same command, or given up by
`recado resume` on the source.

Documents stay where they are unless --documents-to names another place. Secrets are opened and
sealed with the keys of --secret-key-file.

Examples:
  recado move --from sqlite:recado.db --to postgres://recado@localhost/recado --dry-run
  recado move --from sqlite:recado.db --to postgres://recado@localhost/recado
  recado move --from sqlite:recado.db --to postgres://recado@db/recado --documents-to s3://bucket/recado
  recado move --from postgres://recado@localhost/recado --to sqlite:one.db \\
      --company 01a19b7c-a680-78b4-a652-e44da7f29e26";

/// `recado move`
#[derive(Debug, Args)]
pub struct MoveArgs {
    /// The database that is moved: sqlite:PATH or postgres://…
    #[arg(long, value_name = "URL")]
    from: DatabaseLocation,
    /// Where to; the database is made if it is missing, and must hold no company
    #[arg(long, value_name = "URL")]
    to: DatabaseLocation,
    /// Where the documents are copied to, from --documents: file:PATH or s3://BUCKET/PREFIX
    #[arg(long, value_name = "URL")]
    documents_to: Option<DocumentStorage>,
    /// Moves this company alone; the target may hold others
    #[arg(long, value_name = "ID", value_parser = company_id)]
    company: Option<CompanyId>,
    /// Says what would be moved, and writes nothing
    #[arg(long)]
    dry_run: bool,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

/// The error of a move.
fn failed(error: MoveError) -> CommandError {
    CommandError::Run(causes(&error))
}

pub(super) async fn run(options: Options, args: MoveArgs) -> Result<(), CommandError> {
    let started = Instant::now();
    let scope = args.company.map_or(Scope::Installation, Scope::Company);
    let from = Options { database: args.from.clone(), no_migrate: true, ..options.clone() };
    let to = Options { database: args.to.clone(), ..options.clone() };
    let source = source(&from).await?;
    let core = wiring::core(&from, public_url(&from, from.listen), Overrides::default()).await?;
    let target = target(&to, args.dry_run).await?;
    let places = match &args.documents_to {
        Some(place) if *place != options.documents => {
            Some((files::open(&options.documents)?, files::open(place)?))
        }
        _ => None,
    };
    let copied_files =
        places.as_ref().map(|(from, to)| -> (&dyn Files, &dyn Files) { (&**from, &**to) });
    let order = Order {
        source: &core.recado,
        from: &*source,
        to: &*target,
        scope,
        files: copied_files,
        timer: &TokioTimer::named("move"),
    };
    let view = if args.dry_run {
        View::planned(&args.from, &args.to, scope, &order.plan().await.map_err(failed)?)
    } else {
        let mut progress = MoveProgress::new(places.is_some());
        let outcome = order.run(&mut |at| progress.show(at)).await;
        progress.end();
        let outcome = outcome.map_err(failed)?;
        View::moved(&args.from, &args.to, scope, &outcome, started.elapsed())
    };
    view.print(args.json);
    Ok(())
}

/// The source, which has to be there and to have the current schema: a move changes nothing of it.
async fn source(options: &Options) -> Result<Arc<dyn Transferable>, CommandError> {
    if let DatabaseLocation::Sqlite(path) = &options.database
        && !path.exists()
    {
        return Err(missing(path).into());
    }
    let opened = wiring::open(options, false).await?;
    match opened.store.ready().await {
        Ok(()) => Ok(opened.transferable),
        Err(error @ StoreError::NotMigrated { .. }) => {
            Err(ConfigError(vec![format!("--from: {}", causes(&error))]).into())
        }
        Err(error) => Err(CommandError::run(error)),
    }
}

fn missing(path: &Path) -> ConfigError {
    ConfigError(vec![format!("--from: there is no database {}", path.display())])
}

/// The target. Unless nothing is to be written, it is made and brought to the current schema.
async fn target(options: &Options, dry_run: bool) -> Result<Arc<dyn Transferable>, CommandError> {
    if dry_run {
        return Ok(match &options.database {
            DatabaseLocation::Sqlite(path) if !path.exists() => Arc::new(view::Nothing),
            _ => {
                let opened = wiring::open(options, false).await?;
                match opened.store.ready().await {
                    Err(StoreError::NotMigrated { .. }) => Arc::new(view::Nothing),
                    _ => opened.transferable,
                }
            }
        });
    }
    Ok(wiring::open(options, true).await?.transferable)
}
