//! Who acts, in which operation, and from where (R384).

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;

use serde::Serialize;
use uuid::Uuid;

use crate::access::{Caller, Operator, OperatorIdentity};
use crate::ids::{CompanyId, KeyId, MemberId, OperatorTokenId};
use crate::words::words;

words! {
    /// The kind of who acts.
    ActorKind {
        /// The holder of the token that the server was started with.
        Root = "root",
        /// The holder of an operator token.
        OperatorToken = "token",
        /// A member of a company.
        Member = "member",
        /// The holder of an API key.
        Key = "key",
        /// The host program, or who runs the command line.
        Program = "program",
        /// A gateway, or another system that calls a hook or follows a link.
        Outside = "outside",
        /// The process itself.
        System = "system",
    }
}

/// Who acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Actor {
    /// The holder of the token that the server was started with.
    Root,
    /// The holder of an operator token.
    OperatorToken(OperatorTokenId),
    /// A member of a company.
    Member(CompanyId, MemberId),
    /// The holder of an API key of a company.
    Key(CompanyId, KeyId),
    /// The host program, or who runs the command line.
    Program,
    /// A gateway, or another system that calls a hook or follows a link.
    Outside,
    /// The process itself.
    System,
}

impl Actor {
    /// An operator who has come in.
    pub const fn of_operator(operator: &Operator) -> Self {
        match operator.identity() {
            OperatorIdentity::Root => Self::Root,
            OperatorIdentity::Token(token) => Self::OperatorToken(token),
            OperatorIdentity::Member { company, member, .. } => Self::Member(company, member),
        }
    }

    /// A caller who has come in.
    pub const fn of_caller(caller: &Caller) -> Self {
        match caller.key() {
            Some(key) => Self::Key(caller.company(), key),
            None => Self::Program,
        }
    }

    /// The kind.
    pub const fn kind(&self) -> ActorKind {
        match self {
            Self::Root => ActorKind::Root,
            Self::OperatorToken(_) => ActorKind::OperatorToken,
            Self::Member(..) => ActorKind::Member,
            Self::Key(..) => ActorKind::Key,
            Self::Program => ActorKind::Program,
            Self::Outside => ActorKind::Outside,
            Self::System => ActorKind::System,
        }
    }

    /// The id of the token, member or key.
    pub const fn id(&self) -> Option<Uuid> {
        match self {
            Self::OperatorToken(id) => Some(id.uuid()),
            Self::Member(_, id) => Some(id.uuid()),
            Self::Key(_, id) => Some(id.uuid()),
            Self::Root | Self::Program | Self::Outside | Self::System => None,
        }
    }

    /// The only company that the actor belongs to.
    pub const fn company(&self) -> Option<CompanyId> {
        match self {
            Self::Member(company, _) | Self::Key(company, _) => Some(*company),
            Self::Root | Self::OperatorToken(_) | Self::Program | Self::Outside | Self::System => {
                None
            }
        }
    }
}

/// The longest name of an operation, in bytes; the rest is cut off.
const OPERATION: usize = 64;

/// The name of an operation: the `operationId` of the OpenAPI document, such as `createContact`,
/// the words of a command line, such as `company create`, or one that the host program gives. ASCII
/// of at most 64 bytes, so that nothing personal of any length is in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(value_type = String, example = "createContact"))]
pub struct OperationName(Cow<'static, str>);

impl OperationName {
    /// A name that the program was written with.
    pub fn of(name: &'static str) -> Self {
        match name.len() <= OPERATION && name.is_ascii() {
            true => Self(Cow::Borrowed(name)),
            false => Self::new(name),
        }
    }

    /// A name that was made when the program runs, or that was stored.
    pub fn new(name: &str) -> Self {
        Self(Cow::Owned(name.chars().filter(char::is_ascii).take(OPERATION).collect()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for OperationName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Who acts, in which operation, and from where: what a handle is made for
/// ([`Installation::by`](crate::Installation::by)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acting {
    actor: Actor,
    operation: OperationName,
    from: Option<IpAddr>,
    about: Option<CompanyId>,
}

impl Acting {
    /// An actor in an operation, from an address.
    pub const fn new(actor: Actor, operation: OperationName, from: Option<IpAddr>) -> Self {
        Self { actor, operation, from, about: None }
    }

    /// The host program itself. For its own code; never for an external request.
    pub fn program(operation: &'static str) -> Self {
        Self::new(Actor::Program, OperationName::of(operation), None)
    }

    /// The holder of a key, in an operation of the host program.
    pub fn caller(caller: &Caller, operation: &'static str) -> Self {
        Self::new(Actor::of_caller(caller), OperationName::of(operation), None)
    }

    /// The work that a process does by itself.
    pub fn system(operation: &'static str) -> Self {
        Self::new(Actor::System, OperationName::of(operation), None)
    }

    /// The process itself, in the same operation.
    pub(crate) fn followed(&self) -> Self {
        Self { about: self.about, ..Self::new(Actor::System, self.operation.clone(), None) }
    }

    /// The same for a company, whose log has what is changed without a company being named
    /// (R388).
    pub(crate) fn on(&self, company: CompanyId) -> Self {
        Self { about: Some(company), ..self.clone() }
    }

    /// Another actor in the same operation, from the same address.
    pub(crate) fn named(&self, actor: Actor) -> Self {
        Self { actor, ..self.clone() }
    }

    /// Who acts.
    pub const fn actor(&self) -> Actor {
        self.actor
    }

    /// In which operation.
    pub const fn operation(&self) -> &OperationName {
        &self.operation
    }

    /// For which company, where what is changed names none.
    pub(super) const fn about(&self) -> Option<CompanyId> {
        self.about
    }

    /// From which address.
    pub const fn from(&self) -> Option<IpAddr> {
        self.from
    }
}
