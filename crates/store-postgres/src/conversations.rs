//! Conversations, and contacts with the data known of them on their channel.

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::contacts::{ChannelKey, Contact};
use recado_core::conversations::{ChannelContact, ChannelQuery, Conversation, ConversationReads};
use recado_core::ids::{CompanyId, ContactId};
use recado_core::messages::{Direction, SenderType};
use recado_core::store::StoreError;
use recado_store_sql::Layout;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::PostgresStore;
use crate::columns::Columns;
use crate::param::{Param, params};
use crate::session::rows;
use crate::table::columns_of;

/// The look-ups of a query. Each value is looked up separately, so that an index is used whatever
/// the planner's estimate of the company is. Parts without values are left out. Few kinds of query
/// occur, so each is planned once.
fn named(company: CompanyId, query: &ChannelQuery) -> (String, Vec<Param>) {
    let mut params = params![company.uuid()];
    let by_channel = !query.identifiers.is_empty() || !query.keys.is_empty();
    let on_channel = match query.platform.as_ref().filter(|_| by_channel) {
        Some(platform) => {
            params.extend(params![platform.as_str().to_owned()]);
            " AND source_platform = $2"
        }
        None => "",
    };
    let by_phone = match query.per_phone.filter(|_| !query.phones.is_empty()) {
        Some(most) => {
            params.extend(params![i64::from(most)]);
            bound_by_phone(params.len())
        }
        None => by_column("id", "contacts.phone", ""),
    };
    let mut parts = Vec::new();
    let mut part = |of_value: &str, kind: &str, values: Option<Param>| {
        if let Some(values) = values {
            params.push(values);
            parts.push(format!(
                "SELECT named.id FROM unnest(${}::{kind}[]) AS wanted (value) \
                 CROSS JOIN LATERAL ({of_value}) AS named",
                params.len()
            ));
        }
    };
    part(&by_column("id", "contacts.id", ""), "uuid", list(&query.ids, |id| id.uuid()));
    part(
        &by_column("id", "contacts.identifier", on_channel),
        "text",
        list(&query.identifiers, |name| name.as_str().to_owned()),
    );
    part(
        &by_column("contact_id", "aliases.key", on_channel),
        "text",
        list(&query.keys, |key| key.as_str().to_owned()),
    );
    part(&by_phone, "text", list(&query.phones, |phone| phone.as_str().to_owned()));
    part(
        &by_column("id", "contacts.external_chat_id", ""),
        "text",
        list(&query.chats, |code| code.as_str().to_owned()),
    );
    (parts.join(" UNION "), params)
}

/// The contacts that have the wanted value in a column of a table.
fn by_column(id: &str, of: &str, and: &str) -> String {
    let (table, column) = of.split_once('.').unwrap_or_default();
    format!(
        "SELECT {id} AS id FROM {table} \
         WHERE company_id = $1 AND {column} = wanted.value{and} OFFSET 0"
    )
}

/// The contacts that have the wanted phone, of each channel as many as a parameter says: those that
/// asked to stop first.
fn bound_by_phone(parameter: usize) -> String {
    format!(
        "SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY source_platform \
         ORDER BY opted_out_at IS NULL, created_at, id) AS number \
         FROM contacts WHERE company_id = $1 AND phone = wanted.value) AS numbered \
         WHERE number <= ${parameter}"
    )
}

/// A parameter that holds these values; `None` if there are none.
fn list<T, V>(values: &[T], value: impl Fn(&T) -> V) -> Option<Param>
where
    Vec<V>: tokio_postgres::types::ToSql + Send + Sync + 'static,
{
    (!values.is_empty()).then(|| Param::of(values.iter().map(value).collect::<Vec<V>>()))
}

/// The contacts that `named` selects: one row for each of their conversations.
fn channel_contacts(named: &str) -> String {
    format!(
        "WITH named AS MATERIALIZED ({named}) SELECT {contact}, \
         ARRAY(SELECT a.key FROM aliases a WHERE a.company_id = $1 AND a.contact_id = c.id \
         ORDER BY a.key), {conversation} \
         FROM named JOIN contacts c ON c.company_id = $1 AND c.id = named.id \
         LEFT JOIN conversations v ON v.company_id = $1 AND v.contact_id = c.id \
         ORDER BY c.created_at, c.id, v.connection_id",
        contact = columns_of::<Contact>("c"),
        conversation = columns_of::<Conversation>("v"),
    )
}

/// The number of columns before those of a conversation.
const BEFORE: usize = Contact::TABLE.columns.len() + 2;

fn read_contacts(found: &[Row]) -> Result<Vec<ChannelContact>, StoreError> {
    let mut contacts: Vec<ChannelContact> = Vec::new();
    for row in found {
        let id: Uuid = row.try_get(1).map_err(StoreError::corrupt)?;
        let mut columns = Columns::new(row);
        if contacts.last().is_none_or(|last| last.contact.id.uuid() != id) {
            let contact = columns.stored()?;
            let keys: Vec<String> = columns.raw()?;
            contacts.push(ChannelContact {
                contact,
                aliases: keys.into_iter().map(ChannelKey::from_stored).collect(),
                conversations: Vec::new(),
            });
        } else {
            columns.skip(BEFORE);
        }
        if let (true, Some(last)) = (columns.is_present()?, contacts.last_mut()) {
            last.conversations.push(columns.stored()?);
        }
    }
    Ok(contacts)
}

/// A column of the newest message of a contact in one direction, without messages from a history.
fn newest(column: &str) -> String {
    format!(
        "SELECT {column} FROM messages WHERE company_id = $1 AND contact_id = $2 \
         AND direction = $3 AND NOT is_history ORDER BY created_at DESC, id DESC LIMIT 1"
    )
}

#[async_trait]
impl ConversationReads for PostgresStore {
    async fn channel_contacts(
        &self,
        company: CompanyId,
        query: &ChannelQuery,
    ) -> Result<Vec<ChannelContact>, StoreError> {
        let (named, params) = named(company, query);
        if named.is_empty() {
            return Ok(Vec::new());
        }
        read_contacts(&rows(&self.pool, channel_contacts(&named), params).await?)
    }

    async fn newest_inbound_at(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Option<Timestamp>, StoreError> {
        let params = params![company.uuid(), contact.uuid(), Direction::Inbound.as_str()];
        let found = rows(&self.pool, newest("stamped_at"), params).await?;
        found.first().map(|row| Columns::new(row).get()).transpose()
    }

    async fn newest_outbound_sender(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Option<SenderType>, StoreError> {
        let params = params![company.uuid(), contact.uuid(), Direction::Outbound.as_str()];
        let found = rows(&self.pool, newest("sender_type"), params).await?;
        found.first().map(|row| Columns::new(row).get()).transpose()
    }
}
