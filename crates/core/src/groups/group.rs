//! A group or community, as its gateway reports it (4.8, D64).

use std::fmt;

use crate::ids::{CompanyId, ConnectionId};

/// The code of a group or community: `<id>@<group_suffix>` (D2).
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupCode(String);

impl GroupCode {
    /// Reads `<id>@<suffix>` with an id of 1 to 100 letters, digits, `-`, `_` and `.`; `None` for
    /// anything else. White space around it is ignored.
    pub fn parse(text: &str, suffix: &str) -> Option<Self> {
        let code = text.trim();
        let id = code.strip_suffix(suffix)?.strip_suffix('@')?;
        let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
        let well_formed = (1..=100).contains(&id.len()) && id.bytes().all(allowed);
        well_formed.then(|| Self(code.to_owned()))
    }

    /// Whether `text` is meant as a group code, well-formed or not (D34).
    pub fn is_meant(text: &str, suffix: &str) -> bool {
        text.trim().strip_suffix(suffix).is_some_and(|rest| rest.ends_with('@'))
    }

    /// Takes a stored code back.
    pub const fn from_stored(code: String) -> Self {
        Self(code)
    }

    /// The code itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for GroupCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for GroupCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A group or community, as one connection reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its code.
    pub code: GroupCode,
    /// Its name; `None` if it is known only from a message.
    pub subject: Option<String>,
    /// Whether it is a community, which messages reach through its announcement group.
    pub is_community: bool,
    /// The community it belongs to.
    pub community_code: Option<GroupCode>,
    /// Whether it is its community's announcement group.
    pub is_announcement: bool,
    /// Whether only administrators may write.
    pub announce_only: bool,
    /// Whether the connection's number is in it.
    pub participates: bool,
    /// Whether the connection's number administers it.
    pub is_admin: bool,
}

impl Group {
    /// A group that is known only from a message in it: the number participates, and nothing else
    /// is known.
    pub const fn seen(code: GroupCode) -> Self {
        Self {
            code,
            subject: None,
            is_community: false,
            community_code: None,
            is_announcement: false,
            announce_only: false,
            participates: true,
            is_admin: false,
        }
    }
}

/// A [`Group`] of one connection, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionGroup {
    /// The company.
    pub company: CompanyId,
    /// The connection.
    pub connection: ConnectionId,
    /// The group as this connection reports it.
    pub group: Group,
}

/// Groups as a gateway reports them (R135).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupList {
    /// The groups.
    pub groups: Vec<Group>,
    /// Whether the list is complete: the number is in no other groups. If it is not, stored groups
    /// that it does not name stay.
    pub is_whole: bool,
    /// The codes of groups for which it does not report whether the number is an administrator: the
    /// stored value stays.
    pub without_role: Vec<GroupCode>,
}

impl From<Vec<Group>> for GroupList {
    /// A complete list, with all roles.
    fn from(groups: Vec<Group>) -> Self {
        Self { groups, is_whole: true, without_role: Vec::new() }
    }
}
