//! [`Recado`]: the handle with all use cases, for one who acts.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::app::Installation;
use crate::audit::{Acting, Actor};
use crate::ids::{CompanyId, MemberId};

/// The core for one who acts: it has all use cases, and what they write is written in that name
/// (R384). Made by [`Installation::by`]; cheap to clone. Its reads are those of the installation,
/// to which it dereferences.
#[derive(Clone)]
pub struct Recado {
    installation: Installation,
    acting: Arc<Acting>,
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
        Self { installation, acting: Arc::new(acting) }
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

    /// The same operation in the name of a member, who has just shown a password or a link (R384).
    pub(crate) fn as_member(&self, company: CompanyId, member: MemberId) -> Self {
        let acting = self.acting.named(Actor::Member(company, member));
        Self::new(self.installation.clone(), acting)
    }

    /// The same for a trial: every use case reads and decides as it would, answers as it would, and
    /// writes nothing to the database (R286). What one call would have written, the next one does
    /// not see. It is for dry runs of imports; calls to gateways and files are made.
    pub fn rehearsal(&self) -> Self {
        let installation = self.installation.rehearsal();
        Self { installation, acting: Arc::clone(&self.acting) }
    }
}
