//! The use cases on sending.

use super::{SendAddress, SendError, SendTarget};
use crate::Recado;
use crate::conversations::ChannelQuery;
use crate::error::Error;
use crate::ids::{CompanyId, ContactId};
use crate::store::StoreError;

/// The use cases on sending. Made by [`Recado::sending`].
#[derive(Clone, Copy, Debug)]
pub struct Sending<'a> {
    pub(crate) app: &'a Recado,
}

impl Sending<'_> {
    /// Whom an address names, and the contact that this has to be. A number that is no phone of the
    /// region has to be one that a contact is known by (D14, D16).
    ///
    /// # Errors
    ///
    /// [`SendError::InvalidPhone`], [`SendError::ContactStateUnavailable`].
    pub(super) async fn target(
        &self,
        company: CompanyId,
        address: SendAddress,
    ) -> Result<(SendTarget, Option<ContactId>), Error<SendError>> {
        if let Some(phone) = address.shown() {
            let query = ChannelQuery { per_phone: Some(1), ..ChannelQuery::of_phone(phone) };
            match self.app.store().channel_contacts(company, &query).await {
                Ok(found) if found.is_empty() => {
                    return Err(Error::Rejected(SendError::InvalidPhone));
                }
                Ok(_) => {}
                Err(StoreError::Unavailable(_)) => {
                    return Err(Error::Rejected(SendError::ContactStateUnavailable));
                }
                Err(error) => return Err(Error::Store(error)),
            }
        }
        Ok(address.target())
    }
}

impl Recado {
    /// Sending messages.
    pub fn sending(&self) -> Sending<'_> {
        Sending { app: self }
    }
}
