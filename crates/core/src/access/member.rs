//! Members of a company: the people conversations are assigned to.

use serde::Serialize;

use crate::Timestamp;
use crate::body::{Optional, Replaced, Required, body};
use crate::form::Name;
use crate::ids::{CompanyId, MemberId};
use crate::words::words;

words! {
    /// The role of a member.
    Role {
        /// Writes to contacts.
        Agent = "agent",
        /// Also manages the company.
        Admin = "admin",
    }
}

/// A member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Member {
    /// Its id.
    pub id: MemberId,
    /// Its company.
    #[serde(skip)]
    pub company: CompanyId,
    /// The name shown to others.
    pub display_name: String,
    /// The member's role.
    pub role: Role,
    /// When it was made.
    pub created_at: Timestamp,
}

body! {
    /// A new member.
    #[derive(Clone, Debug)]
    pub struct MemberDraft as "CreateMember" {
        display_name: String = Required<Name>,
        /// `agent` by default.
        role: Option<Role> = Optional<Role>,
    }
}

impl MemberDraft {
    pub(crate) fn into_member(self, company: CompanyId, id: MemberId, now: Timestamp) -> Member {
        Member {
            id,
            company,
            display_name: self.display_name,
            role: self.role.unwrap_or(Role::Agent),
            created_at: now,
        }
    }
}

body! {
    /// What changes of a member.
    #[derive(Clone, Debug)]
    pub struct MemberPatch as "UpdateMember" of Member {
        display_name: Option<String> = Replaced<Name>,
        role: Option<Role> = Optional<Role>,
    }
}
