//! Conversations, and contacts with the data known of them on their channel.

use std::collections::BTreeSet;

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::connections;
use recado_core::contacts::Contact;
use recado_core::conversations::{ChannelContact, ChannelQuery, Conversation, ConversationReads};
use recado_core::ids::{CompanyId, ContactId};
use recado_core::messages::{Direction, SenderType};
use recado_core::store::{StoreError, Stored};
use rusqlite::{OptionalExtension, params_from_iter};

use crate::SqliteStore;
use crate::aliases;
use crate::cell::{Cell, Columns};
use crate::database::Connection;
use crate::error::ReadResult;
use crate::table::{self};

/// The conversations of a contact, by connection id.
fn of_contact(
    conn: &Connection,
    company: CompanyId,
    contact: ContactId,
) -> ReadResult<Vec<Stored<Conversation>>> {
    let condition = "company_id = ?1 AND contact_id = ?2 ORDER BY connection_id";
    table::list(conn, condition, &[company.into(), contact.into()])
}

/// The conversations of a contact with their connections, by the connections' `created_at`, then
/// `id`.
pub(crate) fn with_connections(
    conn: &Connection,
    company: CompanyId,
    contact: ContactId,
) -> ReadResult<Vec<(connections::Connection, Conversation)>> {
    let mut found = Vec::new();
    for conversation in of_contact(conn, company, contact)? {
        let key = [company.into(), conversation.connection.into()];
        if let Some(connection) = table::get::<connections::Connection>(conn, &key)? {
            found.push((connection.into_value(), conversation.into_value()));
        }
    }
    found.sort_by_key(|(connection, _)| (connection.created_at, connection.id));
    Ok(found)
}

/// The contacts that have a phone, up to a number of them for each channel: those that asked to
/// stop first.
const BY_PHONE_BOUND: &str = "SELECT id FROM (SELECT id, row_number() OVER ( \
     PARTITION BY source_platform ORDER BY opted_out_at IS NULL, created_at, id) AS number \
     FROM contacts WHERE company_id = ?1 AND phone = ?2) WHERE number <= ?3";
const BY_PHONE: &str = "phone = ?2";
const BY_CHAT: &str = "external_chat_id = ?2";
const BY_IDENTIFIER: &str = "identifier = ?2";

fn named_query(condition: &str) -> String {
    format!("SELECT id FROM contacts WHERE company_id = ?1 AND {condition}")
}

/// The ids of the contacts that a query names.
fn named(
    conn: &Connection,
    company: CompanyId,
    query: &ChannelQuery,
) -> ReadResult<BTreeSet<ContactId>> {
    let mut found: BTreeSet<ContactId> = query.ids.iter().copied().collect();
    let mut add = |sql: &str, values: &[Cell<'_>]| -> ReadResult<()> {
        let mut statement = conn.prepare_cached(sql)?;
        let ids = statement.query_map(params_from_iter(values), |row| Columns::new(row).get())?;
        for id in ids {
            found.insert(id?);
        }
        Ok(())
    };
    for phone in &query.phones {
        let phone = phone.as_str().into();
        match query.per_phone {
            None => add(&named_query(BY_PHONE), &[company.into(), phone])?,
            Some(most) => add(BY_PHONE_BOUND, &[company.into(), phone, i64::from(most).into()])?,
        }
    }
    for chat in &query.chats {
        add(&named_query(BY_CHAT), &[company.into(), chat.as_str().into()])?;
    }
    let Some(platform) = &query.platform else {
        for identifier in &query.identifiers {
            add(&named_query(BY_IDENTIFIER), &[company.into(), identifier.as_str().into()])?;
        }
        for key in &query.keys {
            found.extend(aliases::holders(conn, company, None, key)?);
        }
        return Ok(found);
    };
    for identifier in &query.identifiers {
        let condition = "company_id = ?1 AND identifier = ?2 AND source_platform = ?3";
        let values = [company.into(), identifier.as_str().into(), platform.as_str().into()];
        found.extend(table::find::<Contact>(conn, condition, &values)?.map(|contact| contact.id));
    }
    for key in &query.keys {
        found.extend(aliases::holders(conn, company, Some(platform), key)?);
    }
    Ok(found)
}

fn channel_contacts(
    conn: &Connection,
    company: CompanyId,
    query: &ChannelQuery,
) -> ReadResult<Vec<ChannelContact>> {
    let mut found = Vec::new();
    for id in named(conn, company, query)? {
        let contact = table::get::<Contact>(conn, &[company.into(), id.into()])?;
        let Some(contact) = contact else { continue };
        found.push(ChannelContact {
            contact,
            aliases: aliases::of_contact(conn, company, id)?,
            conversations: of_contact(conn, company, id)?,
        });
    }
    found.sort_by_key(|found| (found.contact.created_at, found.contact.id));
    Ok(found)
}

/// A value of the newest message of a contact in one direction, without messages from a history:
/// the end of one range of the index.
fn newest<T>(
    conn: &Connection,
    company: CompanyId,
    contact: ContactId,
    (direction, column): (Direction, &str),
    read: impl FnOnce(&mut Columns<'_, '_>) -> ReadResult<T>,
) -> ReadResult<Option<T>> {
    let values: [Cell<'_>; 3] = [company.into(), contact.into(), direction.as_str().into()];
    conn.prepare_cached(&newest_query(column))?
        .query_row(params_from_iter(values), |row| read(&mut Columns::new(row)))
        .optional()
}

fn newest_query(column: &str) -> String {
    format!(
        "SELECT {column} FROM messages INDEXED BY messages_by_contact \
         WHERE company_id = ?1 AND contact_id = ?2 AND direction = ?3 AND is_history = 0 \
         ORDER BY created_at DESC, id DESC LIMIT 1"
    )
}

#[async_trait]
impl ConversationReads for SqliteStore {
    async fn channel_contacts(
        &self,
        company: CompanyId,
        query: &ChannelQuery,
    ) -> Result<Vec<ChannelContact>, StoreError> {
        let query = query.clone();
        self.read_of(company, move |conn| channel_contacts(conn, company, &query)).await
    }

    async fn newest_inbound_at(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Option<Timestamp>, StoreError> {
        let wanted = (Direction::Inbound, "timestamp");
        self.read_of(company, move |conn| {
            newest(conn, company, contact, wanted, |columns| columns.get())
        })
        .await
    }

    async fn newest_outbound_sender(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Option<SenderType>, StoreError> {
        let wanted = (Direction::Outbound, "sender_type");
        let read = |columns: &mut Columns<'_, '_>| columns.get();
        self.read_of(company, move |conn| newest(conn, company, contact, wanted, read)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans;

    #[test]
    fn the_newest_message_is_the_end_of_a_range() {
        let step = plans::step(&plans::database(), &newest_query("sender_type"));
        let range = "(company_id=? AND contact_id=? AND direction=? AND is_history=?)";
        let index = "SEARCH messages USING INDEX messages_by_contact";
        assert_eq!(step, format!("{index} {range}"));
    }

    #[test]
    fn names_are_found_by_their_indexes() {
        let conn = plans::database();
        for (condition, index) in [
            (BY_PHONE, "contacts_by_phone (company_id=? AND phone=?)"),
            (BY_CHAT, "contacts_by_chat (company_id=? AND external_chat_id=?)"),
            (BY_IDENTIFIER, "contacts_by_identifier (company_id=? AND identifier=?)"),
        ] {
            let step = plans::step(&conn, &named_query(condition));
            assert_eq!(step, format!("SEARCH contacts USING INDEX {index}"));
        }
    }
}
