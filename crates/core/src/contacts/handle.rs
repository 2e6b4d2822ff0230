//! The use cases on contacts.

use super::OrganizationIds;
use crate::ids::{JobId, OrganizationId};
use crate::{Recado, Timestamp};

/// The use cases on contacts. Made by [`Recado::contacts`].
#[derive(Clone, Copy, Debug)]
pub struct Contacts<'a> {
    pub(crate) app: &'a Recado,
}

impl Recado {
    /// Contacts.
    pub fn contacts(&self) -> Contacts<'_> {
        Contacts { app: self }
    }

    pub(crate) fn organization_ids(&self, now: Timestamp) -> OrganizationIds {
        OrganizationIds::new(OrganizationId::new(self.uuid(now)), JobId::new(self.uuid(now)))
    }
}
