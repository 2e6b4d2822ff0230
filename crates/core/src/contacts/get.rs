//! Reading one contact (4.2).

use super::{ContactDetail, ContactRecord, Contacts, OperatorContact};
use crate::access::{Caller, Scope};
use crate::audit::RecordRef;
use crate::custom_fields::CustomField;
use crate::error::{Error, NotFound};
use crate::ids::{CompanyId, ContactId};
use crate::remembered_opt_outs::is_remembered;
use crate::store::StoreError;

impl Contacts<'_> {
    /// The detail form of a contact (4.2); `profile` adds the fields of 2.1 that it lacks (D44a).
    /// That the lead memory in it was read is logged (R386).
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
        let detail =
            ContactDetail::new(&record, &fields, caller.has(Scope::LeadMemoryRead), profile);
        self.note_memory(caller.company(), &detail).await?;
        Ok(detail)
    }

    /// Logs that somebody reads the lead memory, if there is one in an answer (R386).
    async fn note_memory(
        &self,
        company: CompanyId,
        shown: &ContactDetail,
    ) -> Result<(), StoreError> {
        if !matches!(shown.lead_memory, Some(Some(_))) {
            return Ok(());
        }
        let record = RecordRef::new("lead_memory", shown.summary.id);
        self.app.audit().note_read(company, [record]).await
    }

    /// The detail form with what only the operator sees. That the lead memory in it was read is
    /// logged (R386).
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
                let shown = self.operator_form(&record, &fields).await?;
                self.note_memory(company, &shown.detail).await?;
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
        let mut contact = self.operator_form(&record, &fields).await?;
        contact.detail.lead_memory = None;
        Ok(contact)
    }

    /// The operator's form of a record, with whether its opt-out is a remembered one.
    ///
    /// R415.
    pub(crate) async fn operator_form(
        &self,
        record: &ContactRecord,
        fields: &[CustomField],
    ) -> Result<OperatorContact, StoreError> {
        let mut shown = OperatorContact::new(record, fields);
        if shown.opted_out_at.is_some() {
            let contact = record.contact.value();
            shown.is_opt_out_remembered = is_remembered(self.app, contact).await?;
        }
        Ok(shown)
    }
}
