//! The messages that a batch of events is about, and what is read for them.

use std::collections::BTreeSet;

use super::facts::Batch;
use super::people::Names;
use super::standing::standing_id;
use crate::gateway::{GatewayEvent, GatewayMessage};
use crate::groups::GroupCode;
use crate::ids::MessageId;
use crate::jobs::{Job, JobKind};
use crate::messages::{
    Direction, MessageFilter, MessageType, ProviderMessageId, RefTarget, Referred,
};
use crate::page::{MAX_LIMIT, PageRequest};
use crate::store::{Reads, StoreError, Stored};

impl Batch {
    /// The providers' ids of the messages that events are about, with the traces that these would
    /// have left (R145), and of those that they quote.
    pub(super) fn provider_ids(&self) -> Vec<ProviderMessageId> {
        let mut ids = BTreeSet::new();
        for event in self.readable() {
            let about = match event {
                GatewayEvent::Message(message) => {
                    ids.extend(self.named_ids(message, Direction::Inbound));
                    &message.provider_id
                }
                GatewayEvent::Echo(message) => {
                    ids.extend(self.named_ids(message, Direction::Outbound));
                    &message.provider_id
                }
                GatewayEvent::Edit { provider_id, .. }
                | GatewayEvent::Deleted { provider_id, .. } => provider_id,
                GatewayEvent::Status(status) => &status.provider_id,
                GatewayEvent::OwnSend(sent) => &sent.provider_id,
                GatewayEvent::Connection(_)
                | GatewayEvent::Groups(_)
                | GatewayEvent::GroupsChanged
                | GatewayEvent::StateDoubtful
                | GatewayEvent::Preference(_)
                | GatewayEvent::Names(_)
                | GatewayEvent::Template(_)
                | GatewayEvent::Unknown(_)
                | GatewayEvent::NotOurs(_) => continue,
            };
            ids.insert(about.trace(self.connection));
            ids.insert(about.clone());
        }
        ids.into_iter().collect()
    }

    /// The ids of what a message answers, reacts to, or votes in.
    fn named_ids(
        &self,
        message: &GatewayMessage,
        direction: Direction,
    ) -> impl Iterator<Item = ProviderMessageId> {
        let is_group = || GroupCode::parse(&message.peer, &self.group_suffix).is_some();
        let standing = standing_id(self.connection, message, direction, is_group());
        message.target().into_iter().chain(standing)
    }

    /// The messages that named messages of these events before those were known (X5).
    pub(super) fn named_before<'a>(
        &'a self,
        referred: &'a [Referred],
    ) -> impl Iterator<Item = MessageId> + 'a {
        let is_about = |id: &ProviderMessageId| {
            self.readable().any(|event| match event {
                GatewayEvent::Message(message) | GatewayEvent::Echo(message) => {
                    message.provider_id == *id
                }
                GatewayEvent::Status(status) => status.provider_id == *id,
                GatewayEvent::OwnSend(sent) => sent.provider_id == *id,
                _ => false,
            })
        };
        let early = referred.iter().filter_map(move |referred| match &referred.reference.target {
            RefTarget::Early { early, .. } if is_about(&referred.reference.provider_id) => {
                Some(early.named_by.iter().copied())
            }
            _ => None,
        });
        early.flatten()
    }

    /// The messages that name one whose content comes now (X5), the newest hundred.
    pub(super) async fn naming_late(
        &self,
        store: &dyn Reads,
        referred: &[Referred],
    ) -> Result<Vec<MessageId>, StoreError> {
        let mut naming = Vec::new();
        let messages = referred.iter().filter_map(|referred| referred.message.as_ref());
        for message in messages.filter(|message| message.awaits_content()) {
            let comes = self.reported().any(|event| {
                Some(&event.provider_id) == message.provider_id.as_ref() && event.has_content()
            });
            if comes {
                let filter =
                    MessageFilter { quoting: Some(message.id), ..MessageFilter::default() };
                let page = PageRequest::first(MAX_LIMIT);
                let page = store.message_page(self.company, &filter, page).await?;
                naming.extend(page.items.iter().map(|record| record.message.id));
            }
        }
        Ok(naming)
    }

    /// Whether an event is about a message that was deleted, or deletes one (X3).
    pub(super) fn deletes(&self, referred: &[Referred]) -> bool {
        let is_deletion = |event: &GatewayEvent| match event {
            GatewayEvent::Message(message) | GatewayEvent::Echo(message) => {
                message.blocks.deleted_by_sender_at.is_some()
            }
            event => matches!(event, GatewayEvent::Deleted { .. }),
        };
        self.readable().any(is_deletion)
            || referred.iter().any(|referred| match &referred.reference.target {
                RefTarget::Early { early, .. } => early.deleted_at.is_some(),
                _ => referred.message.as_ref().is_some_and(|message| message.is_deleted()),
            })
    }

    /// The jobs that report those of these messages whose content is late (X5).
    pub(super) async fn announcements(
        &self,
        store: &dyn Reads,
        referred: &[Referred],
    ) -> Result<Vec<Stored<Job>>, StoreError> {
        let mut found = Vec::new();
        let messages = referred.iter().filter_map(|referred| referred.message.as_ref());
        for message in messages.filter(|m| m.message_type == MessageType::Unsupported) {
            let kind = JobKind::AnnounceLate { message: message.id };
            found.extend(store.job_like(self.company, &kind).await?);
        }
        Ok(found)
    }

    /// The names of a status's recipient.
    pub(super) fn recipient_names(&self, names: &[String]) -> Option<Names> {
        let (peer, aliases) = names.split_first()?;
        Names::new(peer, aliases, &self.group_suffix)
    }

    pub(super) fn references(&self) -> Vec<MessageId> {
        let references = self.readable().filter_map(|event| match event {
            GatewayEvent::Status(status) => status.reference,
            GatewayEvent::OwnSend(sent) => sent.reference,
            _ => None,
        });
        references.collect::<BTreeSet<_>>().into_iter().collect()
    }
}
