//! Reading one contact (4.2).

use super::{ContactDetail, Contacts, OperatorContact};
use crate::access::{Caller, Scope};
use crate::error::{Error, NotFound};
use crate::ids::{CompanyId, ContactId};
use crate::remembered_opt_outs::is_remembered;

impl Contacts<'_> {
    /// The detail form of a contact (4.2); `profile` adds the fields of 2.1 that it lacks (D44a).
    ///
    /// # Errors
    ///
    /// [`NotFound`], of another company too.
    pub async fn get(
        &self,
        caller: &Caller,
        id: ContactId,
        profile: bool,
    ) -> Result<ContactDetail, Error<NotFound>> {
        caller.require(Scope::ContactsRead)?;
        let Some((record, fields)) = self.app.store().contact_record(caller.company(), id).await?
        else {
            return Err(Error::Rejected(NotFound));
        };
        Ok(ContactDetail::new(&record, &fields, caller.has(Scope::LeadMemoryRead), profile))
    }

    /// The detail form with what only the operator sees.
    ///
    /// # Errors
    ///
    /// [`NotFound`], of another company too.
    pub async fn get_for_operator(
        &self,
        company: CompanyId,
        id: ContactId,
    ) -> Result<OperatorContact, Error<NotFound>> {
        match self.app.store().contact_record(company, id).await? {
            Some((record, fields)) => {
                let mut shown = OperatorContact::new(&record, &fields);
                if shown.opted_out_at.is_some() {
                    let contact = record.contact.value();
                    shown.is_opt_out_remembered = is_remembered(self.app, contact).await?;
                }
                Ok(shown)
            }
            None => Err(Error::Rejected(NotFound)),
        }
    }

    /// The same without the lead memory, for those who have not asked for it.
    ///
    /// # Errors
    ///
    /// [`NotFound`], of another company too.
    pub async fn get_without_memory(
        &self,
        company: CompanyId,
        id: ContactId,
    ) -> Result<OperatorContact, Error<NotFound>> {
        let Some((mut record, fields)) = self.app.store().contact_record(company, id).await? else {
            return Err(Error::Rejected(NotFound));
        };
        record.related.lead_memory = None;
        let mut contact = OperatorContact::new(&record, &fields);
        contact.detail.lead_memory = None;
        Ok(contact)
    }
}
