//! The keys of the forms in which contacts are shown (D23).

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::Serialize;
use uuid::Uuid;

use super::{
    Contact, ContactDetail, ContactListItem, ContactRecord, ContactSummary, Identifier, Platform,
    Related,
};
use crate::Timestamp;
use crate::ids::{CompanyId, ContactId};
use crate::links::LinkClicks;
use crate::store::{Stored, Version};

/// The keys of the forms of a contact in `/api/v1`, with every scope. They are read from the forms,
/// so that a new field of a form is included.
struct ShownKeys {
    /// The keys of the detail form without `include`, and of the answers to POST and PATCH.
    plain: BTreeSet<String>,
    /// The keys of every form with every `include`.
    all: BTreeSet<String>,
}

static KEYS: LazyLock<ShownKeys> = LazyLock::new(|| {
    let (id, company) = (ContactId::new(Uuid::nil()), CompanyId::new(Uuid::nil()));
    let identifier = Identifier::parse("nobody").expect("a word is an identifier");
    let contact = Contact::new(id, company, Platform::whatsapp(), identifier, None, Timestamp::MIN);
    let created = keys_of(&ContactSummary::created(&contact));
    let related = Related { clicks: Some(LinkClicks::default()), ..Related::default() };
    let record = ContactRecord { contact: Stored::new(contact, Version::FIRST), related };
    let mut plain = keys_of(&ContactDetail::new(&record, &[], true, false));
    plain.extend(created);
    let mut all = keys_of(&ContactDetail::new(&record, &[], true, true));
    all.extend(keys_of(&ContactListItem::new(&record, &[])));
    all.extend(plain.iter().cloned());
    ShownKeys { plain, all }
});

fn keys_of(form: &impl Serialize) -> BTreeSet<String> {
    let form = serde_json::to_value(form).expect("a form holds nothing that JSON cannot write");
    form.as_object().into_iter().flat_map(|form| form.keys().cloned()).collect()
}

/// The keys of the detail form. POST ignores those that it cannot write (D8).
pub(super) fn detail_keys<'a>() -> impl Iterator<Item = &'a str> {
    KEYS.plain.iter().map(String::as_str)
}

/// The keys of all forms. PATCH ignores those that it cannot write, so that any form can be sent
/// back whole (4.4.4, D23).
pub(super) fn shown_keys<'a>() -> impl Iterator<Item = &'a str> {
    KEYS.all.iter().map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// D23.
    #[test]
    fn the_keys_are_those_of_every_form_whatever_it_includes() {
        let keys: Vec<&str> = shown_keys().collect();
        for key in ["shared_email", "link_clicks", "lead_memory", "organization", "is_pinned"] {
            assert!(keys.contains(&key), "{key}");
        }
        let plain: Vec<&str> = detail_keys().collect();
        for (key, is_plain) in [("shared_email", true), ("is_muted", true), ("street", false)] {
            assert_eq!(plain.contains(&key), is_plain, "{key}");
        }
        for key in ["external_ai_enabled", "lists", "cnpj", "list_ids", "nmae"] {
            assert!(!keys.contains(&key), "{key}");
        }
    }
}
