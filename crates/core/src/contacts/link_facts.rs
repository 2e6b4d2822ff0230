//! Checks and changes for creating, changing and importing a contact: custom fields, lists, the
//! e-mail rule, the organization of a cnpj (4.3, 4.4, D20, D22).

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;

use super::body::NO_FIELD_ID;
use super::{Contact, DraftFacts, Email};
use crate::Timestamp;
use crate::ids::{ContactId, CustomFieldId, JobId, ListId, OrganizationId};
use crate::input::Given;
use crate::jobs::{Job, JobKind};
use crate::lists::ListMember;
use crate::organizations::{Cnpj, Organization};
use crate::problems::Problems;
use crate::store::ChangeSet;

/// A warning about a value that was stored differently than sent (4.3.4, D20).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Warning {
    /// Stable code.
    pub code: &'static str,
    /// The field it is about.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub field: Cow<'static, str>,
    /// A sentence for people.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub message: Cow<'static, str>,
}

/// The e-mail was stored in `shared_email` (4.3.4).
pub(crate) const EMAIL_TAKEN: Warning = Warning {
    code: "EMAIL_BELONGS_TO_ANOTHER_CONTACT",
    field: Cow::Borrowed("email"),
    message: Cow::Borrowed(
        "The e-mail belongs to another contact; it was stored in shared_email and does not \
         identify this contact.",
    ),
};

/// Names the custom fields that are not active fields of the company (4.3.2, 4.4).
pub(crate) fn check_fields(
    wanted: &BTreeMap<CustomFieldId, String>,
    facts: &DraftFacts,
    problems: &mut Problems,
) {
    // A body may name tens of thousands, and a company may have as many.
    let active: HashSet<CustomFieldId> =
        facts.fields.iter().filter(|field| field.is_active()).map(|field| field.id).collect();
    for id in wanted.keys().filter(|id| !active.contains(id)) {
        problems.add_custom_field(
            id.to_string(),
            "has keys that are not ids of active fields of the company",
        );
    }
}

/// Names the custom fields that are given by a slug that the company does not have or, once the
/// contact is known, with another value than the stored one: by slug nothing is written (D23).
pub(crate) fn check_listed_fields(
    listed: &BTreeMap<String, String>,
    facts: &DraftFacts,
    contact: Option<&Contact>,
    problems: &mut Problems,
) {
    let known: HashMap<&str, CustomFieldId> =
        facts.fields.iter().map(|field| (field.slug.as_str(), field.id)).collect();
    for (slug, value) in listed {
        let field = known.get(slug.as_str());
        let is_stored = match (field, contact) {
            (Some(id), Some(contact)) => contact.custom_fields.get(id) == Some(value),
            (field, _) => field.is_some(),
        };
        if !is_stored {
            problems.add_custom_field(slug.clone(), NO_FIELD_ID);
        }
    }
}

/// The lists that are not of the company or inactive (4.3.3, D23).
pub(crate) fn missing_lists(wanted: &[ListId], facts: &DraftFacts) -> Vec<ListId> {
    wanted
        .iter()
        .filter(|id| !facts.lists.iter().any(|list| list.id == **id && list.is_active))
        .copied()
        .collect()
}

/// Merges values of custom fields: an empty one removes (D23).
pub(crate) fn merge_custom_fields(contact: &mut Contact, values: &BTreeMap<CustomFieldId, String>) {
    for (id, value) in values {
        if value.is_empty() {
            contact.custom_fields.remove(id);
        } else {
            contact.custom_fields.insert(*id, value.clone());
        }
    }
}

/// Stores the e-mail that was sent: in `email`, or in `shared_email` when another contact has it
/// (4.3.4). Storing an e-mail or clearing a stored one empties `shared_email`; the
/// stored e-mail, or none where none is stored, changes nothing (D20). Returns a warning if another
/// contact has it.
pub(crate) fn apply_email(
    contact: &mut Contact,
    email: &Given<Email>,
    holder: Option<ContactId>,
) -> Option<Warning> {
    match email {
        Given::Absent => None,
        given if given.as_ref() == contact.email.as_ref() => None,
        Given::Cleared => {
            contact.email = None;
            contact.shared_email = None;
            None
        }
        Given::Value(email) if holder.is_some_and(|holder| holder != contact.id) => {
            contact.shared_email = Some(email.clone());
            Some(EMAIL_TAKEN)
        }
        Given::Value(email) => {
            contact.email = Some(email.clone());
            contact.shared_email = None;
            None
        }
    }
}

/// The ids that linking an organization may need, made before deciding.
#[derive(Clone, Copy, Debug)]
pub struct OrganizationIds {
    /// Of the organization.
    pub(crate) organization: OrganizationId,
    /// Of the job that asks the registry.
    pub(crate) job: JobId,
}

impl OrganizationIds {
    /// These ids.
    pub const fn new(organization: OrganizationId, job: JobId) -> Self {
        Self { organization, job }
    }
}

/// Links the organization of `cnpj`, made if missing together with the job that asks the registry;
/// a contact that has an organization keeps it (4.4.3, D22).
pub(crate) fn link_organization(
    contact: &mut Contact,
    cnpj: Option<&Cnpj>,
    facts: &DraftFacts,
    ids: OrganizationIds,
    now: Timestamp,
    changes: ChangeSet,
) -> ChangeSet {
    let Some(cnpj) = cnpj else { return changes };
    if contact.organization_id.is_some() {
        return changes;
    }
    if let Some(known) = &facts.organization {
        contact.organization_id = Some(known.id);
        return changes;
    }
    contact.organization_id = Some(ids.organization);
    let organization = Organization::new(ids.organization, contact.company, cnpj.clone(), now);
    let kind = JobKind::Enrich { organization: ids.organization };
    changes.insert(organization).insert(Job::due_now(ids.job, contact.company, kind, now))
}

/// Adds the contact to lists it is not in yet, on the condition that each list is as it was read.
pub(crate) fn join_lists(
    contact: &Contact,
    lists: &[ListId],
    facts: &DraftFacts,
    mut changes: ChangeSet,
) -> ChangeSet {
    for list in facts.lists.iter().filter(|list| lists.contains(&list.id)) {
        changes = changes.require(list.unchanged());
        if !facts.member_of.contains(&list.id) {
            changes = changes.insert(ListMember {
                company: contact.company,
                list: list.id,
                contact: contact.id,
            });
        }
    }
    changes
}

/// Adds the condition that the definitions of the written custom fields are as they were read.
pub(crate) fn rely_on_fields(facts: &DraftFacts, changes: ChangeSet) -> ChangeSet {
    facts.fields.iter().fold(changes, |changes, field| changes.require(field.unchanged()))
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::custom_fields::{CustomField, FieldStatus, FieldType};
    use crate::ids::CompanyId;
    use crate::store::{Stored, Version};

    #[test]
    fn as_many_fields_as_a_body_can_name_are_checked_at_once() {
        // A linear search for each of them would take minutes.
        const MANY: u128 = 60_000;
        let field = |n: u128, status| CustomField {
            id: CustomFieldId::new(Uuid::from_u128(n)),
            company: CompanyId::new(Uuid::from_u128(1)),
            slug: n.to_string(),
            label: n.to_string(),
            field_type: FieldType::Text,
            status,
            created_at: Timestamp::from_millis(0),
        };
        let mut fields: Vec<CustomField> =
            (0..MANY).map(|n| field(n, FieldStatus::Active)).collect();
        fields[7].status = FieldStatus::Pending;
        let stored = fields.into_iter().map(|field| Stored::new(field, Version::FIRST)).collect();
        let facts = DraftFacts { fields: stored, ..DraftFacts::default() };
        let id = |n| CustomFieldId::new(Uuid::from_u128(n));
        let wanted = (0..=MANY).map(|n| (id(n), String::new())).collect();
        let mut problems = Problems::new();
        check_fields(&wanted, &facts, &mut problems);
        let details = crate::error::Rejection::details(&problems).expect("details");
        let named = [id(7).to_string(), id(MANY).to_string()];
        assert_eq!(details["custom_fields"], serde_json::json!(named));
    }
}
