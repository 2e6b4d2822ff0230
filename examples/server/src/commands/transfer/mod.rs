//! `recado move`

mod progress;
mod view;

use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use recado_core::documents::Files;
use recado_core::ids::CompanyId;
use recado_runtime::{TokioTimer, causes};
use recado_store_sql::transfer::{MoveError, Order, Scope, Transferable};

use super::CommandError;
use super::company::company_id;
use super::database::core;
use crate::files;
use crate::options::{DatabaseLocation, DocumentStorage, Options};
use crate::wiring::{self, Closer};
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
}

/// The error of a move.
fn failed(error: MoveError) -> CommandError {
    CommandError::Run(causes(&error))
}

pub(super) async fn run(options: &Options, json: bool, args: MoveArgs) -> Result<(), CommandError> {
    let started = Instant::now();
    let scope = args.company.map_or(Scope::Installation, Scope::Company);
    let from = Options { database: args.from.clone(), ..options.clone() };
    let to = Options { database: args.to.clone(), ..options.clone() };
    // It has to be there, with the current schema: a move makes and changes nothing of it.
    let source = core(&from).await?;
    let opened = wiring::open(&from, false).await?;
    let (to_store, to_closer) = target(&to, args.dry_run).await?;
    let places = match &args.documents_to {
        Some(place) if *place != options.documents => {
            Some((files::open(&options.documents)?, files::open(place)?))
        }
        _ => None,
    };
    let copied = places.as_ref().map(|(from, to)| -> (&dyn Files, &dyn Files) { (&**from, &**to) });
    let order = Order {
        source: &source.recado,
        from: &*opened.transferable,
        to: &*to_store,
        scope,
        files: copied,
        timer: &TokioTimer::named("move"),
    };
    let view = if args.dry_run {
        order.plan().await.map(|plan| View::planned(&args.from, &args.to, scope, &plan))
    } else {
        let mut progress = MoveProgress::new(places.is_some());
        let outcome = order.run(&mut |at| progress.show(at)).await;
        progress.end();
        outcome.map(|moved| View::moved(&args.from, &args.to, scope, &moved, started.elapsed()))
    };
    for closer in [source.closer, opened.closer, to_closer] {
        closer.close().await;
    }
    view.map_err(failed)?.print(json);
    Ok(())
}

/// The target. Unless nothing is to be written, it is made and brought to the current schema.
async fn target(
    options: &Options,
    dry_run: bool,
) -> Result<(Arc<dyn Transferable>, Closer), CommandError> {
    if dry_run && !wiring::exists(options).await? {
        return Ok((Arc::new(view::Nothing), Closer::default()));
    }
    let opened = wiring::open(options, !dry_run).await?;
    Ok((opened.transferable, opened.closer))
}
