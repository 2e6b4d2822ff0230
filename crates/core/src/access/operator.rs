//! Who calls the operator API: roles and reach (R380, R381).

use serde_json::{Map, Value, json};

use super::{Company, OperatorAction, OperatorToken};
use crate::code::Code;
use crate::error::{Rejection, object};
use crate::ids::{CompanyId, MemberId, OperatorTokenId, SessionId};
use crate::words::words;

words! {
    /// The role of an operator. Each may do what those before it may.
    OperatorRole {
        /// Sees contacts, messages, campaigns and settings, without lead memory, keys and webhooks.
        Viewer = "viewer",
        /// Also answers contacts and changes them.
        Agent = "agent",
        /// Also runs campaigns, imports, deletes, and manages members, templates and records.
        Manager = "manager",
        /// Also manages connections, keys, webhooks, tokens and the company.
        Owner = "owner",
    }
}

/// By what an operator is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperatorIdentity {
    /// The token that the server was started with, or the program itself.
    Root,
    /// A token.
    Token(OperatorTokenId),
    /// A member who signed in (R394).
    Member {
        /// The company of the member.
        company: CompanyId,
        /// The member.
        member: MemberId,
        /// The session.
        session: SessionId,
    },
}

/// Who calls the operator API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operator {
    identity: OperatorIdentity,
    role: OperatorRole,
    company: Option<CompanyId>,
}

impl Operator {
    /// The holder of the token that the server was started with, or the program itself: an owner
    /// who reaches every company.
    pub const ROOT: Self =
        Self { identity: OperatorIdentity::Root, role: OperatorRole::Owner, company: None };

    /// The holder of a token.
    pub const fn of(token: &OperatorToken) -> Self {
        let identity = OperatorIdentity::Token(token.id);
        Self { identity, role: token.role, company: token.company }
    }

    /// A member who signed in, who reaches the own company only (R394).
    pub const fn member(
        company: CompanyId,
        member: MemberId,
        session: SessionId,
        role: OperatorRole,
    ) -> Self {
        let identity = OperatorIdentity::Member { company, member, session };
        Self { identity, role, company: Some(company) }
    }

    /// By what the operator is known.
    pub const fn identity(&self) -> OperatorIdentity {
        self.identity
    }

    /// The session, of a member who signed in.
    pub const fn session(&self) -> Option<SessionId> {
        match self.identity {
            OperatorIdentity::Member { session, .. } => Some(session),
            OperatorIdentity::Root | OperatorIdentity::Token(_) => None,
        }
    }

    /// The token; `None` for the one that the server was started with, and for members.
    pub const fn token(&self) -> Option<OperatorTokenId> {
        match self.identity {
            OperatorIdentity::Token(token) => Some(token),
            OperatorIdentity::Root | OperatorIdentity::Member { .. } => None,
        }
    }

    /// The role.
    pub const fn role(&self) -> OperatorRole {
        self.role
    }

    /// The company, if only one is reached.
    pub const fn company(&self) -> Option<CompanyId> {
        self.company
    }

    /// Whether the operator reaches a company. Any other one looks missing (R381).
    pub fn reaches(&self, company: CompanyId) -> bool {
        self.company.is_none_or(|own| own == company)
    }

    /// The companies that the operator reaches (R381).
    pub fn reached(&self, mut companies: Vec<Company>) -> Vec<Company> {
        companies.retain(|company| self.reaches(company.id));
        companies
    }

    /// Refuses what the role, or the reach, does not allow (R380, R381).
    ///
    /// # Errors
    ///
    /// [`OperatorDenied`].
    pub fn require(&self, action: OperatorAction) -> Result<(), OperatorDenied> {
        let required = action.least_role();
        if self.role < required {
            return Err(OperatorDenied::Role { required });
        }
        match self.company {
            Some(_) if action.is_of_installation() => Err(OperatorDenied::Reach),
            Some(_) | None => Ok(()),
        }
    }
}

/// The operator is known but may not do this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OperatorDenied {
    /// The role does not include it; use a token with this role or a higher one.
    #[error("this needs the role {required}")]
    Role {
        /// The least role that may.
        required: OperatorRole,
    },
    /// The token is for one company; use one for the installation.
    #[error("this needs a token that is not limited to a company")]
    Reach,
}

impl Rejection for OperatorDenied {
    fn code(&self) -> Code {
        Code::InsufficientRole
    }

    fn details(&self) -> Option<Map<String, Value>> {
        Some(match self {
            Self::Role { required } => object([("required_role", json!(required))]),
            Self::Reach => object([("required_reach", json!("installation"))]),
        })
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn with(role: OperatorRole, company: Option<CompanyId>) -> Operator {
        Operator { identity: OperatorIdentity::Root, role, company }
    }

    /// R380.
    #[test]
    fn each_role_may_do_its_actions_and_those_of_the_roles_before_it() {
        for action in OperatorAction::ALL {
            for role in OperatorRole::ALL {
                let least = action.least_role();
                let denied = OperatorDenied::Role { required: least };
                let expected = if *role < least { Err(denied) } else { Ok(()) };
                assert_eq!(with(*role, None).require(*action), expected, "{role} {action:?}");
            }
        }
    }

    /// R380.
    #[test]
    fn what_a_role_may_do_stands_in_the_table() {
        let table = include_str!("operator_roles.txt");
        let line = |action: &OperatorAction| {
            let may =
                OperatorRole::ALL.iter().map(|role| match with(*role, None).require(*action) {
                    Ok(()) => " yes",
                    Err(_) => "  - ",
                });
            format!("{:<28}{}", action.as_str(), may.collect::<String>().trim_end())
        };
        let lines: Vec<String> = OperatorAction::ALL.iter().map(line).collect();
        assert_eq!(table.lines().skip(1).collect::<Vec<_>>(), lines, "{}", lines.join("\n"));
    }

    /// R381.
    #[test]
    fn who_reaches_one_company_does_nothing_for_the_installation() {
        let [own, other] = [1, 2].map(|n| CompanyId::new(Uuid::from_u128(n)));
        let of_one = with(OperatorRole::Owner, Some(own));
        assert!(of_one.reaches(own) && !of_one.reaches(other));
        assert_eq!(of_one.require(OperatorAction::CreateCompany), Err(OperatorDenied::Reach));
        assert_eq!(of_one.require(OperatorAction::UpdateCompany), Ok(()));
        assert!(Operator::ROOT.reaches(other));
        assert_eq!(Operator::ROOT.require(OperatorAction::CreateCompany), Ok(()));
    }
}
