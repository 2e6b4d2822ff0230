//! What the operator changes on a contact (operator API, PATCH contacts).

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::{ContactTag, Contacts, CrmStatus, DraftFacts, DraftQuery, Priority};
use crate::Timestamp;
use crate::app::UseCase;
use crate::ids::{CompanyId, ConnectionId, ContactId, TagId};
use crate::input::{Given, Input, read_bool, read_id, read_word};
use crate::manage::{ManageError, ManageResult};
use crate::problems::Problems;
use crate::store::{ChangeSet, Decided, Reads, StoreError, Stored, Version};

/// A body of the operator's PATCH.
#[derive(Clone, Debug)]
pub struct OperatorPatch {
    priority: Option<Priority>,
    crm_status: Option<CrmStatus>,
    is_archived: Option<bool>,
    is_pinned: Option<bool>,
    is_muted: Option<bool>,
    tags: Option<Vec<TagId>>,
    last_connection: Given<ConnectionId>,
    problems: Problems,
}

/// The most tags one contact may have.
pub(super) const MAX_TAGS: usize = 200;

/// Reads `tag_ids`: distinct ids of tags.
pub(super) fn read_tags(value: &Value) -> Result<Vec<TagId>, String> {
    let entries = value.as_array().ok_or("must be an array of UUIDs")?;
    if entries.len() > MAX_TAGS {
        return Err(format!("may name at most {MAX_TAGS} tags"));
    }
    let mut tags = Vec::new();
    for entry in entries {
        let id =
            read_id(TagId::parse)(entry).map_err(|_| "must be an array of UUIDs".to_owned())?;
        if !tags.contains(&id) {
            tags.push(id);
        }
    }
    Ok(tags)
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

/// Relies on the connection that was asked for being as it was read: it must not go meanwhile.
pub(super) fn rely_on_connection(facts: &DraftFacts, changes: ChangeSet) -> ChangeSet {
    match &facts.connection {
        Some(connection) => changes.require(connection.unchanged()),
        None => changes,
    }
}

/// A field that may be left out but not be null.
fn kept<'a, T>(
    input: &mut Input<'a>,
    name: &'a str,
    read: impl FnOnce(&Value) -> Result<T, String>,
) -> Option<T> {
    let given = input.given(name, read);
    input.kept(name, given)
}

impl OperatorPatch {
    /// Reads any of `priority`, `crm_status`, `is_archived`, `is_pinned`, `is_muted`, `tag_ids`
    /// (the whole set), `last_connection_id` (null removes it). A null of what every contact has is
    /// a problem (D8).
    pub fn parse(body: &Map<String, Value>) -> Self {
        let mut input = Input::new(body);
        let mut patch = Self {
            priority: kept(&mut input, "priority", read_word(Priority::parse, Priority::WORDS)),
            crm_status: kept(
                &mut input,
                "crm_status",
                read_word(CrmStatus::parse, CrmStatus::WORDS),
            ),
            is_archived: kept(&mut input, "is_archived", read_bool),
            is_pinned: kept(&mut input, "is_pinned", read_bool),
            is_muted: kept(&mut input, "is_muted", read_bool),
            tags: kept(&mut input, "tag_ids", read_tags),
            last_connection: input.given("last_connection_id", read_id(ConnectionId::parse)),
            problems: Problems::new(),
        };
        patch.problems = input.finish();
        patch
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
            tags: self.patch.tags.clone().unwrap_or_default(),
            connection: self.patch.last_connection.as_ref().copied(),
            ..DraftQuery::default()
        };
        store.draft_facts(self.company, &query).await
    }

    fn decide(&self, facts: DraftFacts, now: Timestamp) -> Result<Decided<()>, ManageError> {
        let patch = &self.patch;
        let mut problems = patch.problems.clone();
        if let Some(tags) = &patch.tags {
            check_tags(tags, &facts, &mut problems);
        }
        check_connection(patch.last_connection.as_ref().copied(), &facts, &mut problems);
        problems.into_result()?;
        let Some(stored) = facts.contact.as_ref() else {
            return Err(ManageError::NotFound);
        };
        let mut contact = stored.changed(now, |contact| {
            contact.priority = patch.priority.unwrap_or(contact.priority);
            contact.crm_status = patch.crm_status.unwrap_or(contact.crm_status);
            contact.is_archived = patch.is_archived.unwrap_or(contact.is_archived);
            contact.is_pinned = patch.is_pinned.unwrap_or(contact.is_pinned);
            contact.is_muted = patch.is_muted.unwrap_or(contact.is_muted);
            patch.last_connection.clone().apply(&mut contact.last_connection_id);
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
        body: &Map<String, Value>,
    ) -> ManageResult<()> {
        self.app.run(&PatchContact { company, id, patch: OperatorPatch::parse(body) }).await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_null_of_what_every_contact_has_is_named_and_one_of_the_connection_removes_it() {
        let body = json!({
            "priority": null,
            "crm_status": null,
            "is_archived": null,
            "is_pinned": null,
            "is_muted": null,
            "tag_ids": null,
            "last_connection_id": null,
        });
        let patch = OperatorPatch::parse(body.as_object().expect("an object"));
        assert_eq!(patch.last_connection, Given::Cleared);
        let mut named: Vec<&str> = patch.problems.fields().collect();
        named.sort_unstable();
        let all = ["crm_status", "is_archived", "is_muted", "is_pinned", "priority", "tag_ids"];
        assert_eq!(named, all);
    }
}
