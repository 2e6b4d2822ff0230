//! Reads of connections, groups, conversations, templates, lead memories, remembered calls and
//! workers.

use std::collections::HashSet;

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::access::Company;
use recado_core::connections::{Connection, ConnectionReads};
use recado_core::contacts::{Alias, ChannelKey, Contact, Platform};
use recado_core::conversations::{ChannelContact, ChannelQuery, Conversation, ConversationReads};
use recado_core::gateway::{KeptEvents, KeptOrder, KeptQuery, UnknownEvent};
use recado_core::groups::{ConnectionGroup, GroupCode, GroupReads};
use recado_core::ids::{CompanyId, ConnectionId, ContactId};
use recado_core::messages::{Direction, Message, SenderType};
use recado_core::store::{Record, RowKey, StoreError, Stored};
use recado_core::templates::{Template, TemplateReads, TemplateTokenHash};

use super::{MemoryStore, State};

impl State {
    /// As [`State::sorted`], with versions.
    pub(super) fn sorted_stored<T: Record, K: Ord>(
        &self,
        wanted: impl Fn(&T) -> bool,
        order: impl Fn(&T) -> K,
    ) -> Vec<Stored<T>> {
        let mut records: Vec<Stored<T>> =
            self.rows.all_stored::<T>().filter(|record| wanted(record)).collect();
        records.sort_by_key(|record| order(record));
        records
    }

    /// All aliases of a contact, in no order.
    pub(super) fn aliases_of(&self, contact: &Contact) -> impl Iterator<Item = &Alias> {
        let (company, id) = (contact.company, contact.id);
        self.rows.all::<Alias>().filter(move |a| a.company == company && a.contact == id)
    }

    /// The conversations of a contact with their connections.
    pub(super) fn conversations_of(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Vec<(Connection, Conversation)> {
        let conversations = self.rows.all::<Conversation>();
        let mut found: Vec<(Connection, Conversation)> = conversations
            .filter(|c| c.company == company && c.contact == contact)
            .filter_map(|c| {
                let key = RowKey::Connection { company, id: c.connection };
                self.rows.get::<Connection>(&key).map(|of| (of.into_value(), c.clone()))
            })
            .collect();
        found.sort_by_key(|(connection, _)| (connection.created_at, connection.id));
        found
    }

    /// The contacts of a company that have one of these aliases, on a channel or on any. They are
    /// found once for all contacts: to look at all aliases for each of them takes minutes where
    /// there are thousands.
    pub(super) fn holders_of(
        &self,
        company: CompanyId,
        platform: Option<&Platform>,
        keys: &[ChannelKey],
    ) -> HashSet<ContactId> {
        if keys.is_empty() {
            return HashSet::new();
        }
        let is_asked_for = |alias: &&Alias| {
            alias.company == company
                && platform.is_none_or(|wanted| *wanted == alias.platform)
                && keys.contains(&alias.key)
        };
        self.rows.all::<Alias>().filter(is_asked_for).map(|alias| alias.contact).collect()
    }

    fn is_named(
        &self,
        contact: &Contact,
        query: &ChannelQuery,
        holders: &HashSet<ContactId>,
    ) -> bool {
        let on_channel = |platform| query.platform.as_ref().is_none_or(|wanted| wanted == platform);
        query.ids.contains(&contact.id)
            || contact.phone.as_ref().is_some_and(|phone| query.phones.contains(phone))
                && query.per_phone.is_none_or(|most| self.is_among(contact, most as usize))
            || query.chats.iter().any(|c| Some(c.as_str()) == contact.external_chat_id.as_deref())
            || on_channel(&contact.source_platform)
                && query.identifiers.contains(&contact.identifier)
            || holders.contains(&contact.id)
    }

    /// Whether a contact is one of the first `most` of its channel that have its phone: those that
    /// asked to stop come first.
    fn is_among(&self, contact: &Contact, most: usize) -> bool {
        let order = |it: &Contact| (it.opted_out_at.is_none(), it.created_at, it.id);
        let before = self.rows.all::<Contact>().filter(|other| {
            other.company == contact.company
                && other.phone == contact.phone
                && other.source_platform == contact.source_platform
                && order(other) < order(contact)
        });
        before.count() < most
    }

    fn channel_contact(&self, contact: Stored<Contact>) -> ChannelContact {
        let mut aliases: Vec<ChannelKey> =
            self.aliases_of(&contact).map(|alias| alias.key.clone()).collect();
        aliases.sort();
        let conversations = self.sorted_stored(
            |c: &Conversation| c.company == contact.company && c.contact == contact.id,
            |c| c.connection,
        );
        ChannelContact { contact, aliases, conversations }
    }

    /// The newest message of a contact in one direction, without messages from a history.
    fn newest(
        &self,
        company: CompanyId,
        contact: ContactId,
        direction: Direction,
    ) -> Option<&Message> {
        let messages = self.rows.all::<Message>().filter(|message| {
            message.company == company
                && message.contact == contact
                && message.direction == direction
                && !message.is_history
        });
        messages.max_by_key(|message| (message.created_at, message.id))
    }
}

#[async_trait]
impl ConnectionReads for MemoryStore {
    async fn connection_anywhere(
        &self,
        id: ConnectionId,
    ) -> Result<Option<Stored<Connection>>, StoreError> {
        let state = self.state();
        Ok(state.rows.all_stored::<Connection>().find(|connection| connection.id == id))
    }

    async fn unknown_events(
        &self,
        company: CompanyId,
        query: &KeptQuery,
    ) -> Result<KeptEvents, StoreError> {
        let mut events = self.state().sorted_stored(
            |event: &UnknownEvent| {
                event.company == company
                    && query.connection.is_none_or(|wanted| event.connection == wanted)
                    && query.kind.as_ref().is_none_or(|wanted| event.kind == *wanted)
            },
            |event| (event.received_at, event.id),
        );
        let total = events.len() as u64;
        match query.order {
            KeptOrder::NewestFirst => events.reverse(),
            KeptOrder::OldestFirst { after } => {
                events.retain(|event| after.is_none_or(|at| (event.received_at, event.id) > at));
            }
        }
        events.truncate(query.limit as usize);
        Ok(KeptEvents { total, events })
    }
}

#[async_trait]
impl ConversationReads for MemoryStore {
    async fn channel_contacts(
        &self,
        company: CompanyId,
        query: &ChannelQuery,
    ) -> Result<Vec<ChannelContact>, StoreError> {
        let state = self.state();
        let holders = state.holders_of(company, query.platform.as_ref(), &query.keys);
        let is_named = |contact: &Contact| state.is_named(contact, query, &holders);
        let contacts = state.sorted_stored(
            |contact: &Contact| contact.company == company && is_named(contact),
            |contact| (contact.created_at, contact.id),
        );
        Ok(contacts.into_iter().map(|contact| state.channel_contact(contact)).collect())
    }

    async fn newest_inbound_at(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Option<Timestamp>, StoreError> {
        let state = self.state();
        let newest = state.newest(company, contact, Direction::Inbound);
        Ok(newest.map(|message| message.timestamp))
    }

    async fn newest_outbound_sender(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Option<SenderType>, StoreError> {
        let state = self.state();
        let newest = state.newest(company, contact, Direction::Outbound);
        Ok(newest.map(|message| message.sender_type))
    }
}

#[async_trait]
impl GroupReads for MemoryStore {
    async fn groups(
        &self,
        company: CompanyId,
        connection: ConnectionId,
    ) -> Result<Vec<Stored<ConnectionGroup>>, StoreError> {
        Ok(self.state().sorted_stored(
            |row: &ConnectionGroup| row.company == company && row.connection == connection,
            |row| row.group.code.clone(),
        ))
    }

    async fn groups_by_code(
        &self,
        company: CompanyId,
        codes: &[GroupCode],
    ) -> Result<Vec<Stored<ConnectionGroup>>, StoreError> {
        let named = |row: &ConnectionGroup| {
            codes.contains(&row.group.code)
                || row.group.community_code.as_ref().is_some_and(|code| codes.contains(code))
        };
        Ok(self.state().sorted_stored(
            |row: &ConnectionGroup| row.company == company && named(row),
            |row| (row.group.code.clone(), row.connection),
        ))
    }
}

#[async_trait]
impl TemplateReads for MemoryStore {
    async fn template_by_token(
        &self,
        token: &TemplateTokenHash,
    ) -> Result<Option<(Template, Company)>, StoreError> {
        let state = self.state();
        let found = state.rows.all::<Template>().find(|template| template.token_hash == *token);
        Ok(found.and_then(|template| Some((template.clone(), state.company(template.company)?))))
    }
}
