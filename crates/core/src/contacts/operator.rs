//! The operator's change of a contact (operator API, PATCH contacts).

use super::{ContactTag, Contacts, CrmStatus, DraftFacts, DraftQuery, Email, Priority};
use crate::Timestamp;
use crate::body::{Clearable, IntoBody, Kept, WriteOver, body};
use crate::form::Distinct;
use crate::ids::{CompanyId, ConnectionId, ContactId, TagId};
use crate::input;
use crate::input::Given;
use crate::manage::{ManageError, ManageResult};
use crate::problems::Problems;
use crate::store::{ChangeSet, Decided, Reads, StoreError, Stored, Version};
use crate::use_case::UseCase;
use async_trait::async_trait;

/// The most tags one contact may have (R9).
pub(super) const MAX_TAGS: usize = 200;

/// The tags of a contact.
pub(super) type ContactTags = Distinct<TagId, MAX_TAGS>;

body! {
    /// What the operator changes of a contact.
    #[derive(Clone, Debug)]
    pub struct ContactChange as "PatchContact" partial {
        priority: Option<Priority> = Kept<Priority>,
        crm_status: Option<CrmStatus> = Kept<CrmStatus>,
        is_archived: Option<bool> = Kept<bool>,
        is_pinned: Option<bool> = Kept<bool>,
        is_muted: Option<bool> = Kept<bool>,
        /// The whole set.
        tags as "tag_ids": Option<Vec<TagId>> = Kept<ContactTags>,
        last_connection as "last_connection_id": Given<ConnectionId> = Clearable<ConnectionId>,
        /// Only `null`, which clears it (D20).
        shared_email: Given<Email> = Clearable<Email>,
    }
    check |input| if shared_email.as_ref().is_some_and(|given| given.as_ref().is_some()) {
        input.problem("shared_email", "can only be cleared, by null");
    };
}

/// A body of the operator's PATCH.
#[derive(Clone, Debug)]
pub struct OperatorPatch {
    sent: ContactChange,
    problems: Problems,
}

/// Names the tags that are not of the company.
pub(super) fn check_tags(wanted: &[TagId], facts: &DraftFacts, problems: &mut Problems) {
    let known = |id: &TagId| facts.tags.iter().any(|tag| tag.id == *id);
    if wanted.iter().any(|id| !known(id)) {
        problems.add("tag_ids", "names a tag that the company does not have");
    }
}

/// Names the connection that is not of the company.
pub(super) fn check_connection(
    wanted: Option<ConnectionId>,
    facts: &DraftFacts,
    problems: &mut Problems,
) {
    if wanted.is_some() && facts.connection.is_none() {
        problems.add("last_connection_id", "names a connection that the company does not have");
    }
}

/// Adds the condition that the named connection is as it was read: it must not be deleted
/// meanwhile.
pub(super) fn rely_on_connection(facts: &DraftFacts, changes: ChangeSet) -> ChangeSet {
    match &facts.connection {
        Some(connection) => changes.require(connection.unchanged()),
        None => changes,
    }
}

impl OperatorPatch {
    /// Reads a [`ContactChange`]. Never fails: its problems are reported together with those that
    /// only the store shows (D8).
    pub fn parse(body: impl IntoBody<ContactChange>) -> Self {
        let (sent, problems) = input::parse_partly(&body.into_map(), ContactChange::fields);
        Self { sent, problems }
    }
}

/// Applies an [`OperatorPatch`].
#[derive(Clone, Debug)]
pub struct PatchContact {
    /// The company.
    pub company: CompanyId,
    /// The contact.
    pub id: ContactId,
    /// What was sent.
    pub patch: OperatorPatch,
}

#[async_trait]
impl UseCase for PatchContact {
    type Loaded = DraftFacts;
    type Output = ();
    type Error = ManageError;

    async fn load(&self, store: &dyn Reads) -> Result<DraftFacts, StoreError> {
        let query = DraftQuery {
            contact: Some(self.id),
            tags: self.patch.sent.tags.clone().unwrap_or_default(),
            connection: self.patch.sent.last_connection.as_ref().copied(),
            ..DraftQuery::default()
        };
        store.draft_facts(self.company, &query).await
    }

    fn decide(&self, facts: DraftFacts, now: Timestamp) -> Result<Decided<()>, ManageError> {
        let patch = &self.patch.sent;
        let mut problems = self.patch.problems.clone();
        if let Some(tags) = &patch.tags {
            check_tags(tags, &facts, &mut problems);
        }
        check_connection(patch.last_connection.as_ref().copied(), &facts, &mut problems);
        problems.into_result()?;
        let Some(stored) = facts.contact.as_ref() else {
            return Err(ManageError::NotFound);
        };
        let mut contact = stored.changed(now, |contact| {
            patch.priority.write_over(&mut contact.priority);
            patch.crm_status.write_over(&mut contact.crm_status);
            patch.is_archived.write_over(&mut contact.is_archived);
            patch.is_pinned.write_over(&mut contact.is_pinned);
            patch.is_muted.write_over(&mut contact.is_muted);
            patch.last_connection.write_over(&mut contact.last_connection_id);
            patch.shared_email.write_over(&mut contact.shared_email);
        });
        let mut changes = ChangeSet::new();
        if let Some(tags) = &patch.tags {
            let row = |tag| ContactTag { company: self.company, contact: self.id, tag };
            for tag in tags.iter().filter(|tag| !facts.tagged.contains(tag)) {
                changes = changes.insert(row(*tag));
            }
            for tag in facts.tagged.iter().filter(|tag| !tags.contains(tag)) {
                changes = changes.with(Stored::new(row(*tag), Version::FIRST).delete());
            }
            if !changes.is_empty() {
                contact.updated_at = now;
            }
        }
        if contact != *stored.value() {
            changes = rely_on_connection(&facts, changes).with(stored.update(contact));
        }
        Ok(Decided::new(changes, ()))
    }
}

impl Contacts<'_> {
    /// Applies the operator's change. Atomic.
    ///
    /// # Errors
    ///
    /// [`ManageError`]; nothing was changed.
    pub async fn patch_as_operator(
        &self,
        company: CompanyId,
        id: ContactId,
        body: impl IntoBody<ContactChange>,
    ) -> ManageResult<()> {
        self.app.run(&PatchContact { company, id, patch: OperatorPatch::parse(body) }).await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::input::Given;

    #[test]
    fn a_null_of_what_every_contact_has_is_named_and_one_of_what_it_may_lack_removes_it() {
        let body = json!({
            "priority": null,
            "crm_status": null,
            "is_archived": null,
            "is_pinned": null,
            "is_muted": null,
            "tag_ids": null,
            "last_connection_id": null,
            "shared_email": null,
        });
        let patch = OperatorPatch::parse(body.as_object().expect("an object"));
        assert_eq!(patch.sent.last_connection, Given::Cleared);
        assert_eq!(patch.sent.shared_email, Given::Cleared);
        let mut named: Vec<&str> = patch.problems.fields().collect();
        named.sort_unstable();
        let all = ["crm_status", "is_archived", "is_muted", "is_pinned", "priority", "tag_ids"];
        assert_eq!(named, all);
    }
}
