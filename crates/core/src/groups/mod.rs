//! Groups and communities as the connections' gateways know them (4.8, D64).

mod apply;
mod body;
mod list;
mod manage;
mod route;
mod sync;

use std::fmt;

use async_trait::async_trait;

pub use apply::{GroupContactIds, GroupFacts, GroupsMode, apply_groups, group_contact};
pub use body::{MAX_GROUPS, parse_groups, read_groups};
pub use list::GroupList;
pub use manage::{GroupView, Groups, GroupsError, GroupsResult, GroupsWritten, WriteGroups};
pub use route::{ConnectionNeeded, GroupRefusal, GroupUnknown, choose_connection, resolve_group};
pub use sync::SWEEP;
pub(crate) use sync::sync_groups_job;

use crate::ids::{CompanyId, ConnectionId};
use crate::store::{StoreError, Stored};

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

/// A group or community as one connection sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its code.
    pub code: GroupCode,
    /// Its name; `None` while only a message named it.
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
    /// What a message in an unknown group tells of it: that the number is in it.
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
    /// What it sees.
    pub group: Group,
}

/// Reads of groups.
#[async_trait]
pub trait GroupReads: Send + Sync {
    /// The groups of a connection, by code (bytewise).
    async fn groups(
        &self,
        company: CompanyId,
        connection: ConnectionId,
    ) -> Result<Vec<Stored<ConnectionGroup>>, StoreError>;

    /// Every connection's view of these groups, and of the groups of a community among these
    /// codes, by code, then connection id.
    async fn groups_by_code(
        &self,
        company: CompanyId,
        codes: &[GroupCode],
    ) -> Result<Vec<Stored<ConnectionGroup>>, StoreError>;
}
