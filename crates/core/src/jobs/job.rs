//! A piece of background work.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Timestamp;
use crate::ids::{
    CampaignId, CompanyId, ConnectionId, ContactId, DocumentId, JobId, ListId, MessageId,
    OrganizationId, UnknownEventId, UploadId,
};

/// What a job does. At most one job of a kind exists for one subject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum JobKind {
    /// Requests an organization's data from the registry (D22).
    Enrich {
        /// The organization.
        organization: OrganizationId,
    },
    /// Deletes a contact and its documents: the durable record of D26.
    Purge {
        /// The contact.
        contact: ContactId,
        /// Its documents when the purge began.
        documents: Vec<DocumentId>,
        /// Its stage.
        stage: PurgeStage,
    },
    /// Fetches the file of a received message (D31a).
    FetchMedia {
        /// The message.
        message: MessageId,
    },
    /// Reads the groups of a connection from its gateway, every hour (D64).
    SyncGroups {
        /// The connection.
        connection: ConnectionId,
    },
    /// The same once, after the connection was connected (D64).
    SyncGroupsOnce {
        /// The connection.
        connection: ConnectionId,
    },
    /// Asks a gateway whether it reaches its channel, every few minutes.
    CheckConnection {
        /// The connection.
        connection: ConnectionId,
    },
    /// The same once, after a sign that the connection may have failed.
    CheckConnectionOnce {
        /// The connection.
        connection: ConnectionId,
    },
    /// Reads recent messages from a gateway's history, at a long interval.
    PullMissed {
        /// The connection.
        connection: ConnectionId,
        /// Messages from before this time are already stored.
        since: Timestamp,
    },
    /// The same once, after the connection was connected again.
    PullMissedOnce {
        /// The connection.
        connection: ConnectionId,
        /// Messages from before this time are already stored.
        since: Timestamp,
    },
    /// Searches the gateway for a message whose send has an unknown outcome (D28).
    FindSent {
        /// The message.
        message: MessageId,
    },
    /// Asks a gateway for the phone of a message's contact (D15).
    LearnNames {
        /// The message.
        message: MessageId,
    },
    /// Reports a message whose content is late (X5).
    AnnounceLate {
        /// The message.
        message: MessageId,
    },
    /// Erases what is left elsewhere of a message that its sender deleted (X3).
    EraseMessage {
        /// The message.
        message: MessageId,
        /// Its file, if one was stored.
        document: Option<DocumentId>,
        /// The file that it was sent with; jobs of earlier releases have none.
        #[serde(default)]
        upload: Option<UploadId>,
        /// What was kept of it as not understood, if it was `unsupported` (X9).
        kept: Option<UnknownEventId>,
    },
    /// Erases the data of a deleted contact from events (D26).
    EraseEvents {
        /// The contact.
        contact: ContactId,
    },
    /// Removes the files that were sent to a deleted contact (R351).
    FreeUploads {
        /// The contact.
        contact: ContactId,
        /// The files.
        uploads: Vec<UploadId>,
    },
    /// Takes the long list of a campaign that begins (R447).
    TakeList {
        /// The campaign.
        campaign: CampaignId,
        /// Its list.
        list: ListId,
    },
    /// Removes everything of a deleted company (R208).
    RemoveCompany {
        /// The company.
        company: CompanyId,
    },
}

/// The stage of a purge (D26).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PurgeStage {
    /// The contact is not deleted yet. If a process finds the job in this stage, it restores the
    /// contact's files.
    Removing,
    /// The contact is deleted; the copies kept for restoring its files are erased.
    Erasing,
}

impl JobKind {
    /// The purge of a contact, as a key for [`JobReads::job_like`](super::JobReads::job_like).
    pub const fn purge_of(contact: ContactId) -> Self {
        Self::Purge { contact, documents: Vec::new(), stage: PurgeStage::Removing }
    }

    /// The taking of a campaign's list, as a key for
    /// [`JobReads::job_like`](super::JobReads::job_like).
    pub const fn take_list_of(campaign: CampaignId) -> Self {
        Self::TakeList { campaign, list: ListId::new(Uuid::nil()) }
    }

    /// The names of those that call a gateway, the registry, or the server of a file; they stand
    /// still during a hold (D75).
    pub const CALLING: &'static [&'static str] = &[
        "enrich",
        "fetch_media",
        "sync_groups",
        "sync_groups_once",
        "check_connection",
        "check_connection_once",
        "pull_missed",
        "pull_missed_once",
        "find_sent",
        "learn_names",
    ];

    /// The name under which stores keep it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Enrich { .. } => "enrich",
            Self::Purge { .. } => "purge",
            Self::FetchMedia { .. } => "fetch_media",
            Self::SyncGroups { .. } => "sync_groups",
            Self::SyncGroupsOnce { .. } => "sync_groups_once",
            Self::CheckConnection { .. } => "check_connection",
            Self::CheckConnectionOnce { .. } => "check_connection_once",
            Self::PullMissed { .. } => "pull_missed",
            Self::PullMissedOnce { .. } => "pull_missed_once",
            Self::FindSent { .. } => "find_sent",
            Self::LearnNames { .. } => "learn_names",
            Self::AnnounceLate { .. } => "announce_late",
            Self::EraseMessage { .. } => "erase_message",
            Self::EraseEvents { .. } => "erase_events",
            Self::FreeUploads { .. } => "free_uploads",
            Self::TakeList { .. } => "take_list",
            Self::RemoveCompany { .. } => "remove_company",
        }
    }

    /// The record it is about; unique together with the company and the name.
    pub const fn subject(&self) -> Uuid {
        match self {
            Self::Enrich { organization } => organization.uuid(),
            Self::TakeList { campaign, .. } => campaign.uuid(),
            Self::RemoveCompany { company } => company.uuid(),
            Self::Purge { contact, .. }
            | Self::EraseEvents { contact }
            | Self::FreeUploads { contact, .. } => contact.uuid(),
            Self::FetchMedia { message }
            | Self::FindSent { message }
            | Self::LearnNames { message }
            | Self::AnnounceLate { message }
            | Self::EraseMessage { message, .. } => message.uuid(),
            Self::SyncGroups { connection }
            | Self::SyncGroupsOnce { connection }
            | Self::CheckConnection { connection }
            | Self::CheckConnectionOnce { connection }
            | Self::PullMissed { connection, .. }
            | Self::PullMissedOnce { connection, .. } => connection.uuid(),
        }
    }
}

/// A piece of background work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its id.
    pub id: JobId,
    /// The company it works for.
    pub company: CompanyId,
    /// What it does.
    pub kind: JobKind,
    /// How often it was tried and failed.
    pub attempts: u32,
    /// When it is due.
    pub due_at: Timestamp,
    /// Until when a process works on it.
    pub leased_until: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Job {
    /// A job that is due at once.
    pub fn due_now(id: JobId, company: CompanyId, kind: JobKind, now: Timestamp) -> Self {
        Self { id, company, kind, attempts: 0, due_at: now, leased_until: None, created_at: now }
    }

    /// Whether it may be claimed at `now`: due, and not leased beyond it.
    pub fn is_claimable(&self, now: Timestamp) -> bool {
        self.due_at <= now && self.leased_until.is_none_or(|until| until <= now)
    }
}
