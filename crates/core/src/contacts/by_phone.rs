//! The contact that a phone stands for, where a record names its person by phone (R288).

use super::{Contacts, Phone};
use crate::access::Company;
use crate::code::Code;
use crate::conversations::ChannelQuery;
use crate::error::{Error, Rejection};
use crate::ids::ContactId;

/// How many contacts are read to see whether there are several.
const READ: u32 = 2;

/// Why a phone stands for no contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ByPhoneError {
    /// It is no phone number; correct it.
    #[error("phone is not a phone number")]
    NotAPhone,
    /// No contact has it; make the contact first.
    #[error("no contact has this phone")]
    Unknown,
    /// Several contacts have it; name the contact by its id.
    #[error("several contacts have this phone")]
    Several,
}

impl Rejection for ByPhoneError {
    fn code(&self) -> Code {
        match self {
            Self::NotAPhone => Code::InvalidPhone,
            Self::Unknown => Code::NotFound,
            Self::Several => Code::AmbiguousContact,
        }
    }
}

impl Contacts<'_> {
    /// The one contact of a company that has the phone, in any of its forms (D15), on any channel.
    ///
    /// # Errors
    ///
    /// [`ByPhoneError`], and the store's failure.
    pub async fn by_phone(
        &self,
        company: &Company,
        phone: &str,
    ) -> Result<ContactId, Error<ByPhoneError>> {
        let phone = Phone::parse(phone, &company.default_region)
            .map_err(|_| Error::Rejected(ByPhoneError::NotAPhone))?;
        let query = ChannelQuery { per_phone: Some(READ), ..ChannelQuery::of_phone(&phone) };
        let found = self.app.store().channel_contacts(company.id, &query).await?;
        match found.as_slice() {
            [] => Err(Error::Rejected(ByPhoneError::Unknown)),
            [only] => Ok(only.contact.id),
            _ => Err(Error::Rejected(ByPhoneError::Several)),
        }
    }
}
