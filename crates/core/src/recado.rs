//! [`Recado`]: the handle with all use cases, for one who acts.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::app::{Installation, Parts};
use crate::audit::{Acting, Actor};
use crate::ids::{CompanyId, MemberId};
use crate::standby::ListingsAsOf;
use crate::store::StoreError;

impl Installation {
    /// Starts the core on these parts. Makes the installation's secrets if they are missing.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotMigrated`] for a database that was not migrated to this release; another
    /// when the store cannot be reached.
    pub async fn start(parts: Parts) -> Result<Self, StoreError> {
        let installation = Self::new(parts);
        installation.ready().await?;
        let itself = installation.itself("start");
        itself.cursor_key().await?;
        if installation.settings().remember_opt_outs {
            itself.hash_key().await?;
        }
        Ok(installation)
    }

    /// Housekeeping of the database, as [`Upkeep::upkeep`](crate::store::Upkeep::upkeep) says; it
    /// writes when keys were used, too (R221), and asks the standby how far it is (R462). During a
    /// move it does nothing (D76). Call it every few seconds.
    ///
    /// # Errors
    ///
    /// When the store fails; the next call does the rest.
    pub async fn upkeep(&self) -> Result<(), StoreError> {
        if self.halted().await?.is_moving() {
            return Ok(());
        }
        self.follow_standby();
        self.database().upkeep().upkeep(self.now()).await?;
        let itself = self.itself("upkeep");
        itself.access().record_uses().await?;
        itself.accounts().record_seen().await?;
        itself.audit().record_denials().await
    }

    /// The handle with all use cases, for whoever acts (R384).
    pub fn by(&self, acting: Acting) -> Recado {
        Recado::new(self.clone(), acting)
    }

    /// The handle for work of the process itself.
    pub(crate) fn itself(&self, operation: &'static str) -> Recado {
        self.by(Acting::system(operation))
    }
}

/// The core for one who acts: it has all use cases, and what they write is written in that name
/// (R384). Made by [`Installation::by`]; cheap to clone. Its reads are those of the installation,
/// to which it dereferences.
#[derive(Clone)]
pub struct Recado {
    installation: Installation,
    acting: Arc<Acting>,
    /// Set where listings may be read from a standby (R462).
    pub(crate) listings_as_of: Option<ListingsAsOf>,
}

impl fmt::Debug for Recado {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recado").field("acting", &self.acting).finish_non_exhaustive()
    }
}

impl Deref for Recado {
    type Target = Installation;

    fn deref(&self) -> &Installation {
        &self.installation
    }
}

/// Who acts is dropped.
impl From<Recado> for Installation {
    fn from(recado: Recado) -> Self {
        recado.installation
    }
}

impl Recado {
    pub(crate) fn new(installation: Installation, acting: Acting) -> Self {
        Self { installation, acting: Arc::new(acting), listings_as_of: None }
    }

    /// The installation.
    pub const fn installation(&self) -> &Installation {
        &self.installation
    }

    /// Who acts.
    pub fn acting(&self) -> &Acting {
        &self.acting
    }

    /// The same operation, gone on with by the process itself after the call that it follows from:
    /// it is logged only where the process decides something by itself (R385).
    pub fn as_system(&self) -> Self {
        Self::new(self.installation.clone(), self.acting.followed())
    }

    /// The same for a company, whose audit log has what is changed without a company being named
    /// (R388).
    pub(crate) fn on(&self, company: CompanyId) -> Self {
        Self::new(self.installation.clone(), self.acting.on(company))
    }

    /// The same operation in the name of a member, who has just shown a password or a link (R384).
    pub(crate) fn as_member(&self, company: CompanyId, member: MemberId) -> Self {
        let acting = self.acting.named(Actor::Member(company, member));
        Self::new(self.installation.clone(), acting)
    }

    /// The same for a trial: every use case reads and decides as it would, answers as it would, and
    /// writes nothing to the database (R286). What one call would have written, the next one does
    /// not see. It is for dry runs of imports; calls to gateways and files are made.
    pub fn rehearsal(&self) -> Self {
        Self { installation: self.installation.rehearsal(), ..self.clone() }
    }
}
