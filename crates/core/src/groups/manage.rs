//! Setting, listing and synchronizing the groups of connections (D64).

use async_trait::async_trait;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::body::read_groups;
use super::{Group, GroupContactIds, GroupFacts, GroupList, GroupsMode, apply_groups};
use crate::code::Code;
use crate::connections::Connection;
use crate::contacts::{DraftQuery, Identifier};
use crate::conversations::ChannelQuery;
use crate::error::{Error, Rejection};
use crate::gateway::ProviderError;
use crate::ids::{CompanyId, ConnectionId, ContactId, EventId};
use crate::problems::Problems;
use crate::store::{Decided, Reads, RecordsExt, StoreError, Stored, Version};
use crate::use_case::UseCase;
use crate::{Recado, Timestamp};

/// How many times a gateway is asked for its groups if others write them meanwhile: as many as fit
/// into the lease of the job (R144).
const QUESTIONS: usize = 2;

/// The use cases on groups. Made by [`Recado::groups`].
#[derive(Clone, Copy, Debug)]
pub struct Groups<'a> {
    pub(crate) app: &'a Recado,
}

impl Recado {
    /// Groups of connections.
    pub fn groups(&self) -> Groups<'_> {
        Groups { app: self }
    }
}

/// Why groups were not listed, set or synchronized.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GroupsError {
    /// The body is not acceptable.
    #[error(transparent)]
    Invalid(#[from] Problems),
    /// There is no such connection in the company.
    #[error("no such connection")]
    NotFound,
    /// The gateway failed; the set is unchanged. Try again later.
    #[error("the gateway failed: {0}")]
    Provider(String),
}

impl Rejection for GroupsError {
    fn code(&self) -> Code {
        match self {
            Self::Invalid(problems) => problems.code(),
            Self::NotFound => Code::NotFound,
            Self::Provider(_) => Code::ProviderError,
        }
    }

    fn details(&self) -> Option<Map<String, Value>> {
        match self {
            Self::Invalid(problems) => problems.details(),
            Self::NotFound | Self::Provider(_) => None,
        }
    }
}

/// What a use case on groups answers.
pub type GroupsResult<T> = Result<T, Error<GroupsError>>;

/// A group of one connection, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct GroupView {
    /// The code.
    pub code: String,
    /// Its name.
    pub subject: Option<String>,
    /// Whether it is a community.
    pub is_community: bool,
    /// The community it belongs to.
    pub community_code: Option<String>,
    /// Whether it is its community's announcement group.
    pub is_announcement: bool,
    /// Whether only administrators may write.
    pub announce_only: bool,
    /// Whether the connection's number is in it.
    pub participates: bool,
    /// Whether the connection's number administers it.
    pub is_admin: bool,
}

impl From<&Group> for GroupView {
    fn from(group: &Group) -> Self {
        Self {
            code: group.code.as_str().to_owned(),
            subject: group.subject.clone(),
            is_community: group.is_community,
            community_code: group.community_code.as_ref().map(ToString::to_string),
            is_announcement: group.is_announcement,
            announce_only: group.announce_only,
            participates: group.participates,
            is_admin: group.is_admin,
        }
    }
}

/// Writes groups of a connection with their contacts.
#[derive(Clone, Debug)]
pub struct WriteGroups {
    /// The company.
    pub company: CompanyId,
    /// The connection.
    pub connection: ConnectionId,
    /// The groups, each once.
    pub groups: GroupList,
    /// What happens to the others.
    pub mode: GroupsMode,
    /// The connection's version when its gateway was asked for the groups, if it was. Groups
    /// written since are newer.
    pub asked_at: Option<Version>,
    /// Ids for contacts that may have to be made, one entry for each group.
    pub ids: Vec<GroupContactIds>,
}

/// The outcome of writing groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupsWritten {
    /// They are written.
    Done,
    /// The stored groups may be newer: ask the gateway again.
    Outdated,
}

#[async_trait]
impl UseCase for WriteGroups {
    type Loaded = (Option<Stored<Connection>>, GroupFacts);
    type Output = GroupsWritten;
    type Error = GroupsError;

    async fn load(&self, store: &dyn Reads) -> Result<Self::Loaded, StoreError> {
        let Some(connection) = store.get::<Connection>((self.company, self.connection)).await?
        else {
            return Ok((None, GroupFacts::default()));
        };
        let chats = self.groups.groups.iter().filter(|group| !group.is_community);
        let query = ChannelQuery {
            platform: Some(connection.platform.clone()),
            identifiers: chats.filter_map(|group| Identifier::parse(group.code.as_str())).collect(),
            ..ChannelQuery::default()
        };
        let groups = store.groups(self.company, self.connection).await?;
        let found = match query.identifiers.is_empty() {
            true => Vec::new(),
            false => store.channel_contacts(self.company, &query).await?,
        };
        let facts = store.draft_facts(self.company, &DraftQuery::default()).await?;
        let facts = GroupFacts {
            groups,
            contacts: found.into_iter().map(|found| found.contact).collect(),
            export_frontier: facts.export_frontier,
        };
        Ok((Some(connection), facts))
    }

    fn decide(
        &self,
        (connection, facts): Self::Loaded,
        now: Timestamp,
    ) -> Result<Decided<GroupsWritten>, GroupsError> {
        let Some(connection) = connection else { return Err(GroupsError::NotFound) };
        if self.asked_at.is_some_and(|asked_at| asked_at != connection.version()) {
            return Ok(Decided::unchanged(GroupsWritten::Outdated));
        }
        let groups = self.groups.with_known_roles(&facts.groups);
        let mut changes = apply_groups(&connection, &facts, &groups, self.mode, &self.ids, now);
        if !changes.is_empty() {
            // The connection is written too, so that two concurrent sets are not mixed, and an
            // older list does not replace a newer one.
            changes = changes.with(connection.update(connection.value().clone()));
        }
        Ok(Decided::new(changes, GroupsWritten::Done))
    }
}

impl Groups<'_> {
    /// The groups of a connection, by code.
    ///
    /// # Errors
    ///
    /// [`GroupsError::NotFound`].
    pub async fn all(&self, company: CompanyId, id: ConnectionId) -> GroupsResult<Vec<GroupView>> {
        self.connection(company, id).await?;
        let groups = self.app.store().groups(company, id).await?;
        Ok(groups.iter().map(|row| (&row.group).into()).collect())
    }

    /// Replaces the groups of a connection by those of a body, makes their contacts, and answers
    /// them. Atomic.
    ///
    /// # Errors
    ///
    /// [`GroupsError`]; nothing was written.
    pub async fn replace(
        &self,
        company: CompanyId,
        id: ConnectionId,
        body: &[Value],
    ) -> GroupsResult<Vec<GroupView>> {
        let groups = read_groups(body, &self.app.settings().group_suffix);
        let groups = groups.map_err(|problems| Error::Rejected(problems.into()))?;
        self.write(company, id, groups.into(), GroupsMode::Replace, None).await?;
        self.all(company, id).await
    }

    /// [`Groups::replace`] for typed groups.
    ///
    /// # Errors
    ///
    /// [`GroupsError`], as for the equivalent body; nothing was written.
    pub async fn set(
        &self,
        company: CompanyId,
        id: ConnectionId,
        groups: &[Group],
    ) -> GroupsResult<Vec<GroupView>> {
        let body: Vec<Value> = groups.iter().map(|group| json!(GroupView::from(group))).collect();
        self.replace(company, id, &body).await
    }

    /// Adds groups to those of a connection, replaces those with the same code, and makes their
    /// contacts. A gateway's `groups` event does this, also with a complete list. Atomic.
    ///
    /// # Errors
    ///
    /// [`GroupsError`]; nothing was written.
    pub async fn merge(
        &self,
        company: CompanyId,
        id: ConnectionId,
        groups: impl Into<GroupList>,
    ) -> GroupsResult<()> {
        self.write(company, id, groups.into().tidied(), GroupsMode::Merge, None).await.map(|_| ())
    }

    /// Replaces the groups of a connection by those that its gateway lists, and answers them all.
    /// An incomplete list is merged, and a gateway that cannot list groups leaves the set as it is.
    /// The list is requested again if other groups were written meanwhile.
    ///
    /// # Errors
    ///
    /// [`GroupsError`]; the set is unchanged. [`Error::Busy`] when others keep writing it.
    pub async fn sync(&self, company: CompanyId, id: ConnectionId) -> GroupsResult<Vec<GroupView>> {
        for _ in 0..QUESTIONS {
            if self.sync_once(company, id).await? == GroupsWritten::Done {
                return self.all(company, id).await;
            }
        }
        Err(Error::Busy)
    }

    async fn sync_once(&self, company: CompanyId, id: ConnectionId) -> GroupsResult<GroupsWritten> {
        let connection = self.connection(company, id).await?;
        let reported = match self.app.provider(&connection.gateway) {
            Some(provider) => provider.groups(self.app.gateway_transport(), &connection).await,
            None => Err(ProviderError::Unsupported),
        };
        match reported {
            Ok(groups) => {
                let groups = groups.tidied();
                let mode = groups.mode();
                self.write(company, id, groups, mode, Some(connection.version())).await
            }
            Err(ProviderError::Unsupported) => Ok(GroupsWritten::Done),
            Err(ProviderError::Failed(reason)) => {
                let reason = self.app.masked(&connection, &reason);
                Err(Error::Rejected(GroupsError::Provider(reason)))
            }
        }
    }

    async fn connection(
        &self,
        company: CompanyId,
        id: ConnectionId,
    ) -> GroupsResult<Stored<Connection>> {
        let connection = self.app.store().get::<Connection>((company, id)).await?;
        connection.ok_or(Error::Rejected(GroupsError::NotFound))
    }

    async fn write(
        &self,
        company: CompanyId,
        connection: ConnectionId,
        groups: GroupList,
        mode: GroupsMode,
        asked_at: Option<Version>,
    ) -> GroupsResult<GroupsWritten> {
        let now = self.app.now();
        let ids = |_: &Group| GroupContactIds {
            contact: ContactId::new(self.app.uuid(now)),
            event: EventId::new(self.app.uuid(now)),
        };
        let ids = groups.groups.iter().map(ids).collect();
        self.app.run(&WriteGroups { company, connection, groups, mode, asked_at, ids }).await
    }
}
