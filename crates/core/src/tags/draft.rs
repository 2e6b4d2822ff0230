//! The bodies that make and change tags and close reasons.

use super::Tag;
use crate::body::{Optional, Replaced, Required, body};
use crate::form::{Name, Text};

/// The longest colour that is accepted.
const COLOR_CHARS: usize = 32;

body! {
    /// A new tag.
    #[derive(Clone, Debug)]
    pub struct TagDraft as "CreateTag" {
        name: String = Required<Name>,
        color: String = Required<Text<COLOR_CHARS>>,
    }
}

body! {
    /// What changes of a tag.
    #[derive(Clone, Debug)]
    pub struct TagPatch as "UpdateTag" of Tag {
        name: Option<String> = Replaced<Name>,
        color: Option<String> = Optional<Text<COLOR_CHARS>>,
    }
}

body! {
    /// A new close reason, or its new name.
    #[derive(Clone, Debug)]
    pub struct CloseReasonDraft as "NameBody" {
        /// The name that agents choose it by.
        name: String = Required<Name>,
    }
}
