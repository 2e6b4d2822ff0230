//! The move itself: count, copy, compare.

use recado_core::ids::CompanyId;
use recado_core::store::{RowKind, StoreError};

use super::halting::is_moved;
use super::moved::Moved;
use super::part::Part;
use super::stores::{Fill, Scope, TransferReader, TransferWriter};
use super::tally::Tallies;

/// Why a move ended early. The target is as it was.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// A database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The target has other rows than the source.
    #[error(
        "the target differs from the source in {}{}: {source_rows} rows became {target_rows}",
        .part.table(), of_company(*.company)
    )]
    Differs {
        /// The part.
        part: Part,
        /// The company.
        company: Option<CompanyId>,
        /// How many rows the source has.
        source_rows: u64,
        /// How many the target has. The same number means other contents.
        target_rows: u64,
    },
    /// The target is another installation, which has companies.
    #[error(
        "the target has companies and other {} than the source, without which links, tokens and \
         cursors of the company would be lost",
        .part.table()
    )]
    OtherInstallation {
        /// The part that differs.
        part: Part,
    },
}

fn of_company(company: Option<CompanyId>) -> String {
    company.map(|company| format!(" of company {company}")).unwrap_or_default()
}

/// The number of rows of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The part.
    pub part: Part,
    /// The number of its rows.
    pub rows: u64,
}

/// What a move is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Rows were copied.
    Copied(Counted),
    /// What follows from the rows is derived.
    Deriving,
    /// Rows of the target were compared.
    Compared(Counted),
}

/// The parts that are copied: all, but no log with one company, and beside other companies nothing
/// of the installation.
///
/// R257, R390.
fn parts(scope: Scope, fill: Fill) -> impl Iterator<Item = Part> {
    let goes_along = move |part: &Part| {
        (scope == Scope::Installation || !part.is_log())
            && (fill == Fill::Anew || !part.is_of_installation())
    };
    Part::order().into_iter().filter(goes_along)
}

/// What a move would copy.
///
/// # Errors
///
/// When the database fails.
pub async fn count(
    reader: &mut dyn TransferReader,
    scope: Scope,
    fill: Fill,
) -> Result<Vec<Counted>, StoreError> {
    let mut counted = Vec::new();
    for part in parts(scope, fill) {
        counted.push(Counted { part, rows: reader.count(part).await? });
    }
    Ok(counted)
}

/// Copies all parts, and derives what follows from them; the source's rows, added up.
///
/// R257, R261.
///
/// # Errors
///
/// When a database fails, or the target has companies of another installation.
pub async fn copy(
    source: &mut dyn TransferReader,
    target: &mut dyn TransferWriter,
    scope: Scope,
    fill: Fill,
    step: &mut (dyn FnMut(Step) + Send),
) -> Result<Tallies, TransferError> {
    if fill == Fill::Beside {
        is_same_installation(source, target.written().await?).await?;
    }
    let mut tallies = Tallies::default();
    for part in parts(scope, fill) {
        source.open(part).await?;
        while let Some(mut rows) = source.next().await? {
            rows.retain(|moved| is_moved(moved, scope));
            if rows.is_empty() {
                continue;
            }
            tallies.add(part, &rows);
            let rows_count = rows.len() as u64;
            target.write(part, rows).await?;
            step(Step::Copied(Counted { part, rows: rows_count }));
        }
    }
    step(Step::Deriving);
    target.finish(source.places().await?).await?;
    Ok(tallies)
}

/// Fails unless source and target have the same rows of the installation. Logs and halts are left
/// out: both databases go on with their own.
///
/// R261.
async fn is_same_installation(
    source: &mut dyn TransferReader,
    target: &mut dyn TransferReader,
) -> Result<(), TransferError> {
    let is_compared = |part: &Part| {
        part.is_of_installation() && !part.is_log() && *part != Part::Rows(RowKind::Halt)
    };
    for part in Part::order().into_iter().filter(is_compared) {
        if !agree(source, target, part, |_| true).await? {
            return Err(TransferError::OtherInstallation { part });
        }
    }
    Ok(())
}

/// All rows of a database, added up.
///
/// # Errors
///
/// When the database fails.
pub async fn tallies(
    reader: &mut dyn TransferReader,
    scope: Scope,
    fill: Fill,
) -> Result<Tallies, StoreError> {
    let mut tallies = Tallies::default();
    for part in parts(scope, fill) {
        tally(reader, part, &mut tallies, |moved| is_moved(moved, scope)).await?;
    }
    Ok(tallies)
}

/// Whether a target has what a source has. What the source goes on with after everything was copied
/// is left out: the log of what was done, and the operator tokens of a company, which its closure
/// does not close, so that it may still be written when they were last used.
///
/// R262.
///
/// # Errors
///
/// When a database fails.
pub async fn is_same(
    source: &mut dyn TransferReader,
    target: &mut dyn TransferReader,
    scope: Scope,
    fill: Fill,
) -> Result<bool, StoreError> {
    let goes_on =
        |part: &Part| part.is_log() || (scope != Scope::Installation && part.may_be_of_company());
    for part in parts(scope, fill).filter(|part| !goes_on(part)) {
        if !agree(source, target, part, |moved| is_moved(moved, scope)).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether two databases have the same rows of a part.
async fn agree(
    source: &mut dyn TransferReader,
    target: &mut dyn TransferReader,
    part: Part,
    counts: impl Fn(&Moved) -> bool,
) -> Result<bool, StoreError> {
    let (mut ours, mut theirs) = (Tallies::default(), Tallies::default());
    tally(source, part, &mut ours, &counts).await?;
    tally(target, part, &mut theirs, &counts).await?;
    Ok(ours == theirs)
}

/// Adds up the rows of a part that count.
async fn tally(
    reader: &mut dyn TransferReader,
    part: Part,
    tallies: &mut Tallies,
    counts: impl Fn(&Moved) -> bool,
) -> Result<(), StoreError> {
    reader.open(part).await?;
    while let Some(mut rows) = reader.next().await? {
        rows.retain(&counts);
        tallies.add(part, &rows);
    }
    Ok(())
}

/// Compares the rows of a database with what was copied to it.
///
/// R258.
///
/// # Errors
///
/// [`TransferError::Differs`] when anything differs, and when the database fails.
pub async fn compare(
    copied: &Tallies,
    target: &mut dyn TransferReader,
    scope: Scope,
    fill: Fill,
    step: &mut (dyn FnMut(Step) + Send),
) -> Result<(), TransferError> {
    let mut found = Tallies::default();
    for part in parts(scope, fill) {
        target.open(part).await?;
        while let Some(mut rows) = target.next().await? {
            rows.retain(|moved| is_moved(moved, scope));
            found.add(part, &rows);
            step(Step::Compared(Counted { part, rows: rows.len() as u64 }));
        }
    }
    match copied.first_difference(&found) {
        None => Ok(()),
        Some((part, company)) => Err(TransferError::Differs {
            part,
            company,
            source_rows: copied.of((part, company)).rows,
            target_rows: found.of((part, company)).rows,
        }),
    }
}
