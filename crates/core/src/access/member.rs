//! Members of a company: the people conversations are assigned to.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::Timestamp;
use crate::ids::{CompanyId, MemberId};
use crate::input::{Input, read_word};
use crate::problems::Problems;
use crate::text;
use crate::words::words;

words! {
    /// What a member is.
    Role {
        /// Talks to contacts.
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
    /// What the member is.
    pub role: Role,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A body that makes or changes a member.
#[derive(Clone, Debug)]
pub struct MemberDraft {
    display_name: Option<String>,
    role: Option<Role>,
}

impl MemberDraft {
    /// Reads `display_name`, `role?` (default `agent`).
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the body.
    pub fn parse(body: &Map<String, Value>) -> Result<Self, Problems> {
        let mut input = Input::new(body);
        let display_name = input.required_text("display_name", text::NAME);
        let role = input.given("role", read_word(Role::parse, Role::WORDS)).value();
        input.finish().into_result()?;
        Ok(Self { display_name, role })
    }

    /// Reads any of `display_name`, `role`.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the body.
    pub fn parse_patch(body: &Map<String, Value>) -> Result<Self, Problems> {
        let mut input = Input::new(body);
        let display_name = super::company::patched_name(&mut input, "display_name").value();
        let role = input.given("role", read_word(Role::parse, Role::WORDS)).value();
        input.finish().into_result()?;
        Ok(Self { display_name, role })
    }

    pub(crate) fn into_member(self, company: CompanyId, id: MemberId, now: Timestamp) -> Member {
        Member {
            id,
            company,
            display_name: self.display_name.unwrap_or_default(),
            role: self.role.unwrap_or(Role::Agent),
            created_at: now,
        }
    }

    pub(crate) fn apply(&self, member: &Member) -> Member {
        Member {
            display_name: self.display_name.clone().unwrap_or_else(|| member.display_name.clone()),
            role: self.role.unwrap_or(member.role),
            ..member.clone()
        }
    }
}
