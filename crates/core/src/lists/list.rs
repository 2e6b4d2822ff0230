//! A list of contacts, and the bodies that make and change one.

use serde::Serialize;

use crate::Timestamp;
use crate::ids::{CompanyId, ContactId, ListId};

/// A list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// Its id.
    pub id: ListId,
    /// Its company.
    pub company: CompanyId,
    /// Its name.
    pub name: String,
    /// Whether contacts may be added to it by the public API.
    pub is_active: bool,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A contact's membership of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListMember {
    /// The company of both.
    pub company: CompanyId,
    /// The list.
    pub list: ListId,
    /// The contact.
    pub contact: ContactId,
}

/// A list as it is shown (D58).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct ListView {
    /// Its id.
    pub id: ListId,
    /// Its name.
    pub name: String,
    /// Whether contacts may be added to it by the public API.
    pub is_active: bool,
    /// How many contacts it holds.
    pub contacts_count: u64,
    /// When it was made.
    pub created_at: Timestamp,
}

impl ListView {
    /// The view of a list that holds `contacts_count` contacts.
    pub fn new(list: &List, contacts_count: u64) -> Self {
        Self {
            id: list.id,
            name: list.name.clone(),
            is_active: list.is_active,
            contacts_count,
            created_at: list.created_at,
        }
    }
}

/// What is known of the contacts that a change of a list names, and of its members.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListCandidates {
    /// Those that exist in the company.
    pub existing: Vec<ContactId>,
    /// Those that are in the list already.
    pub members: Vec<ContactId>,
    /// The first members of the list by id, as many as were asked for, whether they are named or
    /// not.
    pub first: Vec<ContactId>,
}
