//! `recado move`

mod progress;
mod view;

use std::time::Instant;

use clap::Args;
use recado_core::documents::Files;
use recado_core::ids::CompanyId;
use recado_core::{Cell, Recado};
use recado_runtime::{TokioTimer, causes};
use recado_store_sql::transfer::{MoveError, Order, Scope, Transferable};

use super::CommandError;
use super::company::{CompanyMove, company_id};
use super::database::{core, is_there};
use crate::options::{
    ConfigError, DatabaseLocation, DocumentStorage, Options, read_cell, read_cells,
};
use crate::wiring::Opened;
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
    /// The cell of the target, 0 to 999: the cell that the company leaves hands its calls on
    #[arg(long, value_name = "NUMBER", value_parser = read_cell, requires = "company")]
    to_cell: Option<Cell>,
    /// Says what would be moved, and writes nothing
    #[arg(long)]
    dry_run: bool,
}

/// The error of a move.
fn failed(error: MoveError) -> CommandError {
    CommandError::Run(causes(&error))
}

pub(super) async fn run(options: &Options, json: bool, args: MoveArgs) -> Result<(), CommandError> {
    move_as(options, json, &args, false).await
}

/// `recado company move`
pub(super) async fn move_company(
    options: &Options,
    json: bool,
    args: CompanyMove,
) -> Result<(), CommandError> {
    let CompanyMove { company, to_cell, cells, documents_to, dry_run } = args;
    is_there(options).await?;
    let number = to_cell.number();
    let to = read_cells(&cells)?.remove(&to_cell);
    let to = to.ok_or_else(|| ConfigError::one(format!("--cells names no cell {number}")))?;
    let (from, company, to_cell) = (options.database.clone(), Some(company), Some(to_cell));
    let args = MoveArgs { from, to, documents_to, company, to_cell, dry_run };
    move_as(options, json, &args, true).await
}

/// Moves, of one company perhaps while it is in use.
async fn move_as(
    options: &Options,
    json: bool,
    args: &MoveArgs,
    is_in_use: bool,
) -> Result<(), CommandError> {
    let from = Options { database: args.from.clone(), ..options.clone() };
    let cell = args.to_cell.unwrap_or(options.cell);
    let to = Options { database: args.to.clone(), cell, ..options.clone() };
    // It has to be there, with the current schema: a move makes and changes nothing of it.
    let core = core(&from).await?;
    let source = wiring::open(&from, false).await?;
    let target = target(&to, args.dry_run).await?;
    let nothing = view::Nothing;
    let target_store =
        target.as_ref().map_or(&nothing as &dyn Transferable, |target| &*target.transferable);
    let source_store = &*source.transferable;
    let view = carry_out(options, &core.recado, source_store, target_store, args, is_in_use).await;
    // Of an SQLite file, nothing is left in its log.
    for closer in [core.closer, source.closer].into_iter().chain(target.map(|t| t.closer)) {
        closer.close().await;
    }
    view?.print(json);
    Ok(())
}

async fn carry_out(
    options: &Options,
    source: &Recado,
    from: &dyn Transferable,
    to: &dyn Transferable,
    args: &MoveArgs,
    is_in_use: bool,
) -> Result<View, CommandError> {
    let started = Instant::now();
    let scope = args.company.map_or(Scope::Installation, Scope::Company);
    let places = match &args.documents_to {
        Some(place) if *place != options.documents => {
            Some((files::open(&options.documents)?, files::open(place)?))
        }
        _ => None,
    };
    let copied = places.as_ref().map(|(from, to)| -> (&dyn Files, &dyn Files) { (&**from, &**to) });
    let timer = &TokioTimer::named("move");
    let order = Order { source, from, to, scope, to_cell: args.to_cell, files: copied, timer };
    if args.dry_run {
        return Ok(View::planned(
            &args.from,
            &args.to,
            scope,
            &order.plan().await.map_err(failed)?,
        ));
    }
    let mut progress = MoveProgress::new(places.is_some());
    let mut show = |at| progress.show(at);
    let outcome = match is_in_use {
        true => order.run_online(&mut show).await,
        false => order.run(&mut show).await,
    };
    progress.end();
    let outcome = outcome.map_err(failed)?;
    Ok(View::moved(&args.from, &args.to, scope, &outcome, started.elapsed()))
}

/// The target. Unless nothing is to be written, it is made and brought to the current schema.
async fn target(options: &Options, dry_run: bool) -> Result<Option<Opened>, CommandError> {
    if dry_run && !wiring::exists(options).await? {
        return Ok(None);
    }
    Ok(Some(wiring::open(options, !dry_run).await?))
}
