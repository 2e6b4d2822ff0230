//! The bodies that make, change and fill lists.

use super::List;
use crate::body::{Optional, Replaced, Required, body};
use crate::form::{Distinct, Name};
use crate::ids::ContactId;

/// The most contacts one call may add, remove or leave (R9, D78).
const MAX_CONTACTS: usize = 10_000;

body! {
    /// A new list.
    #[derive(Clone, Debug)]
    pub struct ListDraft as "CreateList" {
        name: String = Required<Name>,
        /// True by default.
        is_active: Option<bool> = Optional<bool>,
    }
}

body! {
    /// What changes of a list.
    #[derive(Clone, Debug)]
    pub struct ListPatch as "UpdateList" of List {
        name: Option<String> = Replaced<Name>,
        is_active: Option<bool> = Optional<bool>,
    }
}

body! {
    /// Contacts for a list.
    #[derive(Clone, Debug)]
    pub struct AddContacts as "AddContacts" {
        contact_ids: Vec<ContactId> = Required<Distinct<ContactId, MAX_CONTACTS>>,
    }
}

body! {
    /// Contacts that a list loses.
    #[derive(Clone, Debug)]
    pub struct RemoveContacts as "RemoveContacts" {
        /// Which; those that are not in the list count as such.
        contact_ids: Vec<ContactId> = Required<Distinct<ContactId, MAX_CONTACTS>>,
    }
}

body! {
    /// The contacts that a list then holds, and no other.
    #[derive(Clone, Debug)]
    pub struct ReplaceContacts as "ReplaceContacts" {
        /// Which; none empties the list.
        contact_ids: Vec<ContactId> = Required<Distinct<ContactId, MAX_CONTACTS>>,
    }
}
