//! Sets of contacts that a listing can be limited to (D77).
//!
//! A contact is in few sets, a set holds any number of contacts. Stores keep, for each set, the
//! number of its contacts by combination of facets, and its contacts in both orders of the listing:
//! a set is listed as a whole company is, at the same cost.

use uuid::Uuid;

use crate::ids::{CompanyId, ConnectionId, ListId, MemberId, TagId};

/// A set of contacts of one company.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContactSet {
    /// Those in a list.
    List(ListId),
    /// Those with a tag.
    Tag(TagId),
    /// Those assigned to a member.
    Member(MemberId),
    /// Those of this company that asked not to be written to (R427).
    OptedOut(CompanyId),
    /// Those whose last message went through a connection (R422).
    Connection(ConnectionId),
}

impl ContactSet {
    /// The number by which stores distinguish the kinds.
    pub const fn kind(self) -> i64 {
        match self {
            Self::List(_) => 1,
            Self::Tag(_) => 2,
            Self::Member(_) => 3,
            Self::OptedOut(_) => 4,
            Self::Connection(_) => 5,
        }
    }

    /// The id of the list, tag, member, company or connection.
    pub const fn id(self) -> Uuid {
        match self {
            Self::List(id) => id.uuid(),
            Self::Tag(id) => id.uuid(),
            Self::Member(id) => id.uuid(),
            Self::OptedOut(id) => id.uuid(),
            Self::Connection(id) => id.uuid(),
        }
    }
}
