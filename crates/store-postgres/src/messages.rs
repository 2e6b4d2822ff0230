//! Messages: how they are stored, and reads of single ones.

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::ids::{
    CompanyId, ConnectionId, ContactId, DocumentId, LedgerLineId, MessageId, WorkerId,
};
use recado_core::messages::{
    Direction, Media, Message, MessageFilter, MessageReads, MessageRecord, MessageStatus,
    MessageType, ProviderMessageId, Quoted, Referred, SenderType,
};
use recado_core::page::{Page, PageRequest};
use recado_core::prosas::{Brl, Prosa, ProsaScope, Prosas};
use recado_core::store::{StoreError, Stored};
use recado_core::templates::TemplateCategory;
use uuid::Uuid;

use crate::PostgresStore;
use crate::message_refs::{failure_params, read_failure};
use crate::session::{rows, select};
use crate::table::{Columns, Param, Table, params, table_sql};

impl Table for Message {
    const NAME: &'static str = "messages";
    const KEY: usize = 2;
    const COLUMNS: &'static [&'static str] = &[
        "company_id",
        "id",
        "contact_id",
        "connection_id",
        "direction",
        "message_type",
        "sender_type",
        "status",
        "error_type",
        "error_code",
        "error_message",
        "content",
        "media_url",
        "media_source",
        "media_document_id",
        "media_mimetype",
        "media_filename",
        "media_caption",
        "provider_id",
        "external_id",
        "quoted_message_id",
        "quoted_content",
        "quoted_type",
        "participant",
        "template_category",
        "consumption_id",
        "prosas",
        "cost",
        "prosa_scope",
        "is_history",
        "edited_at",
        "sender_id",
        "created_at",
        "stamped_at",
    ];
    table_sql!(Message);

    fn bind(self) -> Vec<Param> {
        let Media { url, source, document, mimetype, filename, caption } = self.media;
        let Quoted { message: quoted, content: quoted_content, message_type: quoted_type } =
            self.quoted;
        let mut params = params![
            self.company.uuid(),
            self.id.uuid(),
            self.contact.uuid(),
            self.connection.uuid(),
            self.direction.as_str(),
            self.message_type.as_str(),
            self.sender_type.as_str(),
            self.status.as_str(),
        ];
        params.extend(failure_params(self.failure));
        params.extend(params![
            self.content,
            url,
            source,
            document.map(DocumentId::uuid),
            mimetype,
            filename,
            caption,
            self.provider_id.map(|id| id.as_str().to_owned()),
            self.external_id,
            quoted.map(MessageId::uuid),
            quoted_content,
            quoted_type.map(MessageType::as_str),
            self.participant,
            self.template_category.map(TemplateCategory::as_str),
            self.prosa.map(|prosa| prosa.consumption_id.uuid()),
            self.prosa.map(|prosa| prosa.prosas.units()),
            self.prosa.map(|prosa| prosa.cost.units()),
            self.prosa.map(|prosa| prosa.scope.as_str()),
            self.is_history,
            self.edited_at.map(Timestamp::millis),
            self.sender.map(WorkerId::uuid),
            self.created_at.millis(),
            self.timestamp.millis(),
        ]);
        params
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(MessageId::new)?,
            contact: columns.id(ContactId::new)?,
            connection: columns.id(ConnectionId::new)?,
            direction: columns.word(Direction::parse)?,
            message_type: columns.word(MessageType::parse)?,
            sender_type: columns.word(SenderType::parse)?,
            status: columns.word(MessageStatus::parse)?,
            failure: read_failure(columns)?,
            content: columns.get()?,
            media: Media {
                url: columns.get()?,
                source: columns.get()?,
                document: columns.id_or_null(DocumentId::new)?,
                mimetype: columns.get()?,
                filename: columns.get()?,
                caption: columns.get()?,
            },
            provider_id: columns.get::<Option<String>>()?.map(ProviderMessageId::from_stored),
            external_id: columns.get()?,
            quoted: Quoted {
                message: columns.id_or_null(MessageId::new)?,
                content: columns.get()?,
                message_type: columns.word_or_null(MessageType::parse)?,
            },
            participant: columns.get()?,
            template_category: columns.word_or_null(TemplateCategory::parse)?,
            prosa: read_prosa(columns)?,
            is_history: columns.get()?,
            edited_at: columns.time_or_null()?,
            sender: columns.id_or_null(WorkerId::new)?,
            created_at: columns.time()?,
            timestamp: columns.time()?,
        })
    }
}

fn read_prosa(columns: &mut Columns<'_>) -> Result<Option<Prosa>, StoreError> {
    let Some(consumption_id) = columns.id_or_null(LedgerLineId::new)? else {
        columns.skip(3);
        return Ok(None);
    };
    Ok(Some(Prosa {
        consumption_id,
        prosas: columns.get().map(Prosas::from_units)?,
        cost: columns.get().map(Brl::from_units)?,
        scope: columns.word(ProsaScope::parse)?,
    }))
}

/// Messages that are sent and no further, of people, through paired connections that work. Each is
/// looked up by itself, whatever the planner thinks of the tables.
pub(crate) const LEFT_SENT: &str = "\
SELECT count(*) FROM messages_left_sent s \
CROSS JOIN LATERAL (SELECT contact_id, connection_id FROM messages \
WHERE company_id = s.company_id AND id = s.message_id OFFSET 0) AS m \
CROSS JOIN LATERAL (SELECT FROM connections WHERE company_id = s.company_id \
AND id = m.connection_id AND kind = 'qr' AND is_active AND status = 'connected' OFFSET 0) AS n \
CROSS JOIN LATERAL (SELECT FROM contacts WHERE company_id = s.company_id \
AND id = m.contact_id AND NOT is_group OFFSET 0) AS c \
WHERE s.created_at BETWEEN $1 AND $2";

#[async_trait]
impl MessageReads for PostgresStore {
    async fn messages(
        &self,
        company: CompanyId,
        ids: &[MessageId],
    ) -> Result<Vec<Stored<Message>>, StoreError> {
        let ids: Vec<Uuid> = ids.iter().map(|id| id.uuid()).collect();
        let condition = "WHERE company_id = $1 AND id = ANY($2)";
        select(&self.pool, condition, params![company.uuid(), ids]).await
    }

    async fn referred(
        &self,
        company: CompanyId,
        connection: ConnectionId,
        ids: &[ProviderMessageId],
    ) -> Result<Vec<Referred>, StoreError> {
        self.references(company, connection, ids).await
    }

    async fn message_page(
        &self,
        company: CompanyId,
        filter: &MessageFilter,
        page: PageRequest,
    ) -> Result<Page<MessageRecord>, StoreError> {
        self.listing(company, filter, page).await
    }

    async fn abandoned_messages(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<Stored<Message>>, StoreError> {
        let condition = "WHERE sender_id IS NOT NULL AND status = 'pending' \
                         AND NOT EXISTS (SELECT FROM workers \
                         WHERE workers.id = messages.sender_id AND workers.leased_until > $1) \
                         LIMIT $2";
        select(&self.pool, condition, params![now.millis(), i64::from(limit)]).await
    }

    async fn messages_left_sent(&self, from: Timestamp, to: Timestamp) -> Result<u64, StoreError> {
        let found = rows(&self.pool, LEFT_SENT, params![from.millis(), to.millis()]).await?;
        found.first().map_or(Ok(0), |row| Columns::new(row).number())
    }

    async fn messages_in_flight(
        &self,
        sender: WorkerId,
        limit: u32,
    ) -> Result<Vec<Stored<Message>>, StoreError> {
        let condition = "WHERE sender_id = $1 AND status = 'pending' LIMIT $2";
        select(&self.pool, condition, params![sender.uuid(), i64::from(limit)]).await
    }
}
