//! Halting and resuming (D75, D76).

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use super::{Halt, HaltSubject, Halted, Whereabouts};
use crate::ids::CompanyId;
use crate::store::{Change, ChangeSet, Decided, RecordsExt, StoreError};
use crate::{Installation, Recado};

/// How long a process goes on with what it read (R251). D75 allows five seconds.
const READ_AGAIN: Duration = Duration::from_secs(2);

/// How long after a hold began every process has noticed it, and begins nothing more that it stops
/// (R251).
pub const NOTICED_AFTER: Duration = Duration::from_millis(2_500);

/// How long after a closure other processes may still do what writes without a commit, such as
/// housekeeping, and may still begin calls for what they then cannot record. Who copies a store
/// waits for it (R251).
pub const SETTLED_AFTER: Duration = Duration::from_secs(5);

/// The longest reason that is kept, in characters; the rest is cut off.
const REASON: usize = 500;

/// The use cases on halts. Made by [`Recado::halts`].
#[derive(Clone, Copy, Debug)]
pub struct Halts<'a> {
    pub(super) app: &'a Recado,
}

/// What [`Halts::resume`] has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resumed {
    /// What is not halted any more.
    pub ended: Vec<Halt>,
    /// What stays closed, because it was moved away (R250).
    pub kept: Vec<Halt>,
}

impl Recado {
    /// Halting sends, or writes.
    pub fn halts(&self) -> Halts<'_> {
        Halts { app: self }
    }
}

impl Installation {
    /// What is halted, as this process knows it: read at most two seconds ago.
    ///
    /// # Errors
    ///
    /// When it has to be read and the store fails.
    pub async fn halted(&self) -> Result<Arc<Halted>, StoreError> {
        match self.known_halts().recent(self.now(), READ_AGAIN) {
            Some(halted) => Ok(halted),
            None => self.halted_now().await,
        }
    }

    /// What is halted, read now.
    async fn halted_now(&self) -> Result<Arc<Halted>, StoreError> {
        let now = self.now();
        let halts = self.store().all::<Halt>(()).await?;
        Ok(self.known_halts().remember(Halted::new(halts), now))
    }
}

impl Halts<'_> {
    /// What is halted, as this process knows it: read at most two seconds ago.
    ///
    /// # Errors
    ///
    /// When it has to be read and the store fails.
    pub async fn current(&self) -> Result<Arc<Halted>, StoreError> {
        self.app.halted().await
    }

    /// What is halted, read now.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn read(&self) -> Result<Arc<Halted>, StoreError> {
        self.app.halted_now().await
    }

    /// Puts the installation on hold (D75). If it is held already, a reason replaces the one that
    /// was given.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn hold(&self, reason: Option<&str>) -> Result<Halt, StoreError> {
        self.begin(HaltSubject::Sending, reason, Whereabouts::Here).await
    }

    /// Holds one company: before it is closed, so that what is under way comes to its end.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn hold_company(
        &self,
        company: CompanyId,
        reason: Option<&str>,
    ) -> Result<Halt, StoreError> {
        self.begin(HaltSubject::SendingOf(company), reason, Whereabouts::Here).await
    }

    /// Closes the installation, or one company of it (D76): when this has returned, no commit of
    /// any process writes there, and none that was under way is still to come. Close again, saying
    /// where the data is, once everything was moved away (R250).
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn close(
        &self,
        company: Option<CompanyId>,
        reason: Option<&str>,
        whereabouts: Whereabouts,
    ) -> Result<Halt, StoreError> {
        if company.is_none() {
            // Reads go on, so what they make at their first use is made now.
            self.app.cursor_key().await?;
            self.app.media_links().await?;
            self.app.hash_key().await?;
        }
        self.begin(HaltSubject::writing_of(company), reason, whereabouts).await
    }

    /// Opens the installation, or one company, that a move has closed. A hold of the installation
    /// stays; that of the company ends.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn open(&self, company: Option<CompanyId>) -> Result<(), StoreError> {
        let closure = HaltSubject::writing_of(company);
        let held = company.map(HaltSubject::SendingOf);
        self.end(|halt| halt.subject == closure || Some(halt.subject) == held).await.map(drop)
    }

    /// Ends the closure of a company that a move has just begun, and leaves its hold.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn reopen(&self, company: CompanyId) -> Result<(), StoreError> {
        self.end(|halt| halt.subject == HaltSubject::WritingOf(company)).await.map(drop)
    }

    /// Ends the hold, and every closure that a move has left behind (D75, D76). What was moved away
    /// completely stays closed unless `even_moved` (R250).
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn resume(&self, even_moved: bool) -> Result<Resumed, StoreError> {
        self.end(|halt| even_moved || !halt.is_final()).await
    }

    async fn begin(
        &self,
        subject: HaltSubject,
        reason: Option<&str>,
        whereabouts: Whereabouts,
    ) -> Result<Halt, StoreError> {
        let reason = reason.map(str::trim).filter(|reason| !reason.is_empty());
        let reason = &reason.map(|reason| reason.chars().take(REASON).collect::<String>());
        let begun = self.app.decide::<_, Infallible, _>(|now| async move {
            let known = self.app.store().get::<Halt>(subject).await?;
            let halt = Halt {
                subject,
                reason: reason.clone().or_else(|| known.as_ref()?.reason.clone()),
                since: known.as_ref().map_or(now, |known| known.since),
                whereabouts,
            };
            let change = match &known {
                Some(known) if *known.value() == halt => return Ok(Decided::unchanged(halt)),
                Some(known) => known.update(halt.clone()),
                None => Change::insert(halt.clone()),
            };
            Ok(Decided::new(ChangeSet::new().with(change), halt))
        });
        let begun = begun.await;
        self.app.known_halts().outdate();
        let begun = begun?;
        self.read().await?;
        Ok(begun)
    }

    pub(super) async fn end(&self, ends: impl Fn(&Halt) -> bool) -> Result<Resumed, StoreError> {
        let ends = &ends;
        let ended = self.app.decide::<_, Infallible, _>(|_| async move {
            let mut resumed = Resumed::default();
            let mut changes = ChangeSet::new();
            for halt in self.app.store().all_stored::<Halt>(()).await? {
                if ends(&halt) {
                    changes = changes.with(halt.delete());
                    resumed.ended.push(halt.into_value());
                } else {
                    resumed.kept.push(halt.into_value());
                }
            }
            Ok(Decided::new(changes, resumed))
        });
        let ended = ended.await;
        self.app.known_halts().outdate();
        Ok(ended?)
    }
}
