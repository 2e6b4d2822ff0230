//! Reading and writing lead memories.

use async_trait::async_trait;

use super::{LeadMemory, LeadMemoryView, MemoryUpdate, WholeMemory, write};
use crate::audit::RecordRef;
use crate::body::IntoBody;
use crate::contacts::Contact;
use crate::ids::{CompanyId, ContactId};
use crate::manage::{ManageError, ManageResult, NOT_FOUND, invalid};
use crate::store::{Change, ChangeSet, Decided, Reads, RecordsExt, StoreError, Stored};
use crate::use_case::UseCase;
use crate::{Recado, Timestamp};

/// The use cases on lead memories. Made by [`Recado::leads`].
#[derive(Clone, Copy, Debug)]
pub struct Leads<'a> {
    pub(crate) app: &'a Recado,
}

impl Recado {
    /// Lead memories.
    pub fn leads(&self) -> Leads<'_> {
        Leads { app: self }
    }
}

/// Writes a lead memory.
#[derive(Clone, Debug)]
pub struct WriteMemory {
    company: CompanyId,
    contact: ContactId,
    sent: Sent,
}

/// What was sent.
#[derive(Clone, Debug)]
enum Sent {
    /// To be merged into the stored memory.
    Update(MemoryUpdate),
    /// To be stored as it is.
    Whole(WholeMemory),
}

#[async_trait]
impl UseCase for WriteMemory {
    type Loaded = (Option<Stored<Contact>>, Option<Stored<LeadMemory>>);
    type Output = LeadMemory;
    type Error = ManageError;

    async fn load(&self, store: &dyn Reads) -> Result<Self::Loaded, StoreError> {
        let contact = store.get::<Contact>((self.company, self.contact)).await?;
        Ok((contact, store.get::<LeadMemory>((self.company, self.contact)).await?))
    }

    fn decide(
        &self,
        (contact, known): Self::Loaded,
        now: Timestamp,
    ) -> Result<Decided<LeadMemory>, ManageError> {
        let contact = contact.ok_or(ManageError::NotFound)?;
        let written =
            |inferred| write((contact.company, contact.id), known.as_deref(), inferred, now);
        let memory = match &self.sent {
            Sent::Update(update) => {
                written(update.merged(known.as_ref().map(|known| &known.inferred)))
            }
            Sent::Whole(whole) => whole.counted(written(whole.as_given())),
        };
        let changes = match &known {
            Some(known) => ChangeSet::new().with(known.update(memory.clone())),
            // The contact is written too, so that a concurrent merge that read no memory conflicts
            // and reads again.
            None => ChangeSet::new()
                .with(Change::insert(memory.clone()))
                .with(contact.update(contact.value().clone())),
        };
        Ok(Decided::new(changes, memory))
    }
}

impl Leads<'_> {
    /// The lead memory of a contact; `None` when there is none yet (R42). The read is logged
    /// (R386).
    ///
    /// # Errors
    ///
    /// [`ManageError::NotFound`] when there is no such contact.
    pub async fn get(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> ManageResult<Option<LeadMemoryView>> {
        let store = self.app.store();
        if let Some(memory) = store.get::<LeadMemory>((company, contact)).await? {
            let record = RecordRef::new("lead_memory", contact);
            self.app.audit().note_read(company, [record]).await?;
            return Ok(Some(LeadMemoryView::new(&memory)));
        }
        match store.get::<Contact>((company, contact)).await? {
            Some(_) => Ok(None),
            None => Err(NOT_FOUND),
        }
    }

    /// Merges what was inferred into the memory: items are added to lists, other values that are
    /// sent replace the stored ones (D45).
    ///
    /// # Errors
    ///
    /// What is wrong with the body, or [`ManageError::NotFound`] when there is no such contact.
    pub async fn merge(
        &self,
        company: CompanyId,
        contact: ContactId,
        body: impl IntoBody<MemoryUpdate>,
    ) -> ManageResult<LeadMemoryView> {
        let sent = Sent::Update(MemoryUpdate::parse(body).map_err(invalid)?);
        self.write(WriteMemory { company, contact, sent }).await
    }

    /// Stores a memory as it is given, counters and times included, in place of the stored one. It
    /// is for moving memories from another system; old records keep their shape (2.3.2). Counters
    /// and times that the body lacks are those of one more write (D45).
    ///
    /// # Errors
    ///
    /// What is wrong with the body, a list over its cap too, or [`ManageError::NotFound`] when
    /// there is no such contact.
    pub async fn put(
        &self,
        company: CompanyId,
        contact: ContactId,
        body: impl IntoBody<WholeMemory>,
    ) -> ManageResult<LeadMemoryView> {
        let sent = Sent::Whole(WholeMemory::parse(body).map_err(invalid)?);
        self.write(WriteMemory { company, contact, sent }).await
    }

    async fn write(&self, write: WriteMemory) -> ManageResult<LeadMemoryView> {
        Ok(LeadMemoryView::new(&self.app.run(&write).await?))
    }
}
