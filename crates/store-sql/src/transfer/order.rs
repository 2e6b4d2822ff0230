//! The order of a move: close the source, copy, compare, open the target.

use std::collections::BTreeMap;
use std::time::Duration;

use recado_core::deliveries::Timer;
use recado_core::documents::{FileError, Files};
use recado_core::halts::{SETTLED_AFTER, Whereabouts};
use recado_core::store::{RecordsExt, StoreError};
use recado_core::workers::Worker;
use recado_core::{Cell, Recado};

use super::documents::{self, DocumentCount};
use super::halting::{Found, REASON, found};
use super::refusal::{Refusal, fill};
use super::run::{Counted, Step, TransferError, compare, copy, count, is_same};
use super::stores::{Fill, Scope, Transferable};

/// How long a move waits for sends and jobs that are under way when the source is held.
pub(super) const UNDER_WAY: Duration = Duration::from_secs(30);
/// How often it looks for them.
pub(super) const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// A move.
#[expect(missing_debug_implementations, reason = "it refers to stores")]
#[derive(Clone, Copy)]
pub struct Order<'a> {
    /// The core on the source.
    pub source: &'a Recado,
    /// The source.
    pub from: &'a dyn Transferable,
    /// The target, which has the current schema.
    pub to: &'a dyn Transferable,
    /// What is moved.
    pub scope: Scope,
    /// The cell of the target, which gets the calls of a company that moves alone; `None` if nobody
    /// said it (R460).
    pub to_cell: Option<Cell>,
    /// From where to where the bytes of documents are copied; `None` leaves them where they are.
    pub files: Option<(&'a dyn Files, &'a dyn Files)>,
    /// Waits.
    pub timer: &'a dyn Timer,
}

/// What a move is at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// What will be copied.
    Planned(Plan),
    /// The source is being closed, after what is under way there.
    Closing,
    /// Rows are copied and compared.
    Step(Step),
    /// What has changed in the source since rows were copied was repeated in the target.
    CaughtUp {
        /// How many changes that were.
        changes: u64,
    },
    /// A document was copied.
    Document {
        /// Its bytes.
        bytes: u64,
    },
}

/// What is to be moved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The rows.
    pub parts: Vec<Counted>,
    /// The documents.
    pub documents: DocumentCount,
}

/// What was moved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The rows, by their table.
    pub rows: BTreeMap<&'static str, u64>,
    /// The documents that were copied.
    pub documents: DocumentCount,
    /// Whether an earlier move had done everything.
    pub already: bool,
    /// How many changes were repeated, of a company that was in use (R461).
    pub repeated: u64,
    /// For how long such a company was held.
    pub held: Option<Duration>,
}

/// Why a move ended without being done.
#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    /// It was not begun.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// It failed. The source is as it was, the target too.
    #[error(transparent)]
    Failed(#[from] TransferError),
    /// A document could not be copied. The source is as it was, and so is the target's database.
    #[error(transparent)]
    Document(#[from] FileError),
    /// A company cannot be moved while it is in use: the text says what is missing. Nothing was
    /// changed; move it as it is described there, or without use.
    #[error("{0}")]
    Unsupported(String),
    /// The target may have everything, or nothing. The source stays closed.
    #[error(
        "the target may have taken everything or nothing; the source stays closed: give the same \
         command again, which finds out"
    )]
    Uncertain(#[source] StoreError),
}

/// Why a target was not committed, as far as that is known.
pub(super) fn uncommitted(error: StoreError) -> MoveError {
    match error {
        StoreError::OutcomeUnknown(_) => MoveError::Uncertain(error),
        error => error.into(),
    }
}

impl From<StoreError> for MoveError {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.into())
    }
}

impl Order<'_> {
    /// What would be moved. Nothing is written, and nothing is closed.
    ///
    /// # Errors
    ///
    /// When the move would be refused, or a database fails.
    pub async fn plan(&self) -> Result<Plan, MoveError> {
        let (_, fill) = self.begin().await?;
        self.counted(fill.unwrap_or(Fill::Anew)).await
    }

    pub(super) async fn counted(&self, fill: Fill) -> Result<Plan, MoveError> {
        let mut reader = self.from.transfer_out(self.scope, false).await?;
        let parts = count(&mut *reader, self.scope, fill).await?;
        Ok(Plan { parts, documents: documents::count(&mut *reader).await? })
    }

    /// How the target is filled; `None` when it holds companies that an earlier move may have
    /// brought.
    pub(super) async fn begin(&self) -> Result<(Found, Option<Fill>), MoveError> {
        if self.from.identity().await? == self.to.identity().await? {
            return Err(Refusal::SameDatabase.into());
        }
        if let Scope::Company(company) = self.scope
            && !self.from.held_companies().await?.contains(&company)
        {
            return Err(Refusal::NoSuchCompany(company).into());
        }
        let found = found(&*self.source.halts().read().await?, self.scope)?;
        match fill(self.scope, &self.to.held_companies().await?) {
            Ok(fill) => Ok((found, Some(fill))),
            Err(_) if found.is_begun => Ok((found, None)),
            Err(refusal) => Err(refusal.into()),
        }
    }

    /// Moves everything. Afterwards the source is closed for good, and the target is open. After a
    /// failure the source is open again, as it was.
    ///
    /// D76, R262.
    ///
    /// # Errors
    ///
    /// [`MoveError`]. In every case the same order can be given again.
    pub async fn run(
        &self,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Outcome, MoveError> {
        let (found, fill) = self.begin().await?;
        let outcome = match fill {
            Some(fill) => {
                progress(Progress::Planned(self.counted(fill).await?));
                match self.close_and_fill(fill, found, progress).await {
                    Err(error @ MoveError::Uncertain(_)) => return Err(error),
                    Err(error) => {
                        self.open_again(found).await?;
                        return Err(error);
                    }
                    Ok(outcome) => outcome,
                }
            }
            None => self.already_moved().await?,
        };
        let whereabouts = self.whereabouts();
        self.source.halts().close(self.scope.company(), Some(REASON), whereabouts).await?;
        Ok(outcome)
    }

    /// Where everything is afterwards.
    pub(super) fn whereabouts(&self) -> Whereabouts {
        self.to_cell.map_or(Whereabouts::Elsewhere, Whereabouts::InCell)
    }

    /// Makes the source as it was: what the operator holds stays held.
    pub(super) async fn open_again(&self, found: Found) -> Result<(), StoreError> {
        match (self.scope, found.is_held) {
            (Scope::Installation, false) => self.source.halts().resume(false).await.map(drop),
            _ => self.source.halts().open(self.scope.company()).await,
        }
    }

    async fn close_and_fill(
        &self,
        fill: Fill,
        found: Found,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Outcome, MoveError> {
        if self.scope != Scope::Installation {
            self.source.make_secrets().await?;
        }
        progress(Progress::Closing);
        self.close(found).await?;
        let mut source = self.from.transfer_out(self.scope, true).await?;
        let mut target = self.to.transfer_in(self.scope, fill).await?;
        let mut outcome = Outcome::default();
        let mut step = |step| {
            if let Step::Copied(Counted { part, rows }) = step {
                *outcome.rows.entry(part.table()).or_default() += rows;
            }
            progress(Progress::Step(step));
        };
        let copied = copy(&mut *source, &mut *target, self.scope, fill, &mut step).await?;
        compare(&copied, target.written().await?, self.scope, fill, &mut step).await?;
        if let Some(files) = self.files {
            outcome.documents = documents::copy(&mut *source, files, progress).await?;
        }
        target.commit().await.map_err(uncommitted)?;
        Ok(outcome)
    }

    /// Closes the source. Where processes run, they are held first, so that what they send comes to
    /// its end and is recorded.
    ///
    /// R262.
    async fn close(&self, found: Found) -> Result<(), StoreError> {
        let (halts, company) = (self.source.halts(), self.scope.company());
        let is_used = self.is_used().await?;
        if is_used && !found.is_begun {
            match company {
                Some(company) => drop(halts.hold_company(company, Some(REASON)).await?),
                None if found.is_held => {}
                None => drop(halts.hold(Some(REASON)).await?),
            }
            self.timer.sleep(SETTLED_AFTER).await;
            let until = self.source.now().plus(UNDER_WAY);
            while self.source.now() < until
                && self.from.under_way(self.scope, self.source.now()).await? > 0
            {
                self.timer.sleep(LOOK_AGAIN).await;
            }
        }
        halts.close(company, Some(REASON), Whereabouts::Here).await?;
        if is_used {
            self.timer.sleep(SETTLED_AFTER).await;
        }
        Ok(())
    }

    /// Whether processes run on the source.
    pub(super) async fn is_used(&self) -> Result<bool, StoreError> {
        let workers = self.source.store().all::<Worker>(()).await?;
        Ok(workers.iter().any(|worker| worker.is_alive(self.source.now())))
    }

    /// Whether a move that was killed had done everything but to close the source for good.
    async fn already_moved(&self) -> Result<Outcome, MoveError> {
        let mut source = self.from.transfer_out(self.scope, true).await?;
        let mut target = self.to.transfer_out(self.scope, false).await?;
        // Beside other companies, what belongs to the installation is not compared.
        let fill = match self.scope {
            Scope::Installation => Fill::Anew,
            Scope::Company(_) => Fill::Beside,
        };
        if is_same(&mut *source, &mut *target, self.scope, fill).await? {
            return Ok(Outcome { already: true, ..Outcome::default() });
        }
        match super::refusal::fill(self.scope, &self.to.held_companies().await?) {
            Err(refusal) => Err(refusal.into()),
            Ok(_) => Err(Refusal::AnotherMove.into()),
        }
    }
}
