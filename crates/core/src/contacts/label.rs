//! Adding one tag to a contact, whatever tags it has.

use async_trait::async_trait;

use super::operator::MAX_TAGS;
use super::{ContactTag, Contacts, DraftFacts, DraftQuery};
use crate::Timestamp;
use crate::ids::{CompanyId, ContactId, TagId};
use crate::manage::{ManageError, ManageResult};
use crate::problems::Problems;
use crate::store::{ChangeSet, Decided, Reads, StoreError};
use crate::use_case::UseCase;

/// Adds a tag to a contact.
#[derive(Clone, Copy, Debug)]
struct AddTag {
    company: CompanyId,
    contact: ContactId,
    tag: TagId,
}

#[async_trait]
impl UseCase for AddTag {
    type Loaded = DraftFacts;
    type Output = ();
    type Error = ManageError;

    async fn load(&self, store: &dyn Reads) -> Result<DraftFacts, StoreError> {
        let query = DraftQuery {
            contact: Some(self.contact),
            tags: vec![self.tag],
            ..DraftQuery::default()
        };
        store.draft_facts(self.company, &query).await
    }

    fn decide(&self, facts: DraftFacts, now: Timestamp) -> Result<Decided<()>, ManageError> {
        let Some(stored) = facts.contact.as_ref() else { return Err(ManageError::NotFound) };
        if facts.tags.iter().all(|tag| tag.id != self.tag) {
            return Err(ManageError::NotFound);
        }
        if facts.tagged.contains(&self.tag) {
            return Ok(Decided::unchanged(()));
        }
        if facts.tagged.len() >= MAX_TAGS {
            return Err(Problems::of("tag_ids", format!("holds {MAX_TAGS} tags already")).into());
        }
        let Self { company, contact, tag } = *self;
        let mut changed = stored.value().clone();
        changed.updated_at = now;
        let changes = ChangeSet::new()
            .insert(ContactTag { company, contact, tag })
            .with(stored.update(changed));
        Ok(Decided::new(changes, ()))
    }
}

impl Contacts<'_> {
    /// Adds a tag to a contact, which keeps its others (R9). Safe to repeat.
    ///
    /// # Errors
    ///
    /// [`ManageError::NotFound`] for a contact or tag that the company does not have;
    /// [`ManageError::Invalid`] when it has as many tags as it may have.
    pub async fn add_tag(
        &self,
        company: CompanyId,
        contact: ContactId,
        tag: TagId,
    ) -> ManageResult<()> {
        self.app.run(&AddTag { company, contact, tag }).await
    }
}
