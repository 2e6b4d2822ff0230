//! Contacts: how they are stored, and reads of one of them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use async_trait::async_trait;
use recado_core::access::Member;
use recado_core::connections::Connection;
use recado_core::contacts::{
    Address, Birthday, Contact, ContactFilter, ContactReads, ContactRecord, ContactSlice, Cpf,
    CrmStatus, DraftFacts, DraftQuery, Email, ExportPosition, Identifier, InboxStatus, ListBrief,
    Phone, Platform, PostalCode, Priority, Profile,
};
use recado_core::conversations::Conversation;
use recado_core::custom_fields::CustomField;
use recado_core::ids::{
    CloseReasonId, CompanyId, ConnectionId, ContactId, CustomFieldId, ListId, MemberId,
    OrganizationId, StageId,
};
use recado_core::leads::LeadMemory;
use recado_core::page::PageRequest;
use recado_core::store::{StoreError, Stored};
use uuid::Uuid;

use crate::PostgresStore;
use crate::contacts_record::{RECORD_COLUMNS, RECORD_JOINS, read_record};
use crate::custom_fields::gathered_field;
use crate::session::{get, rows, select};
use crate::table::{
    Columns, Fields, Param, Sql, Table, columns_of, gathered, params, scattered, unreadable,
};

impl Table for Contact {
    const NAME: &'static str = "contacts";
    const KEY: usize = 2;
    const COLUMNS: &'static [&'static str] = &[
        "company_id",
        "id",
        "source_platform",
        "identifier",
        "phone",
        "email",
        "shared_email",
        "name",
        "wa_profile_name",
        "wa_push_name",
        "display_name",
        "avatar_url",
        "observation",
        "inbox_status",
        "priority",
        "crm_status",
        "is_ai_enabled",
        "external_ai_enabled",
        "ai_paused_until",
        "opted_out_at",
        "opt_out_backfilled",
        "opted_in_at",
        "is_archived",
        "is_pinned",
        "is_muted",
        "is_blocked",
        "is_group",
        "is_simulated",
        "external_chat_id",
        "first_message_at",
        "last_message_at",
        "last_inbound_at",
        "last_read_at",
        "last_closed_at",
        "last_close_reason_id",
        "street",
        "street_number",
        "complement",
        "neighborhood",
        "city",
        "state",
        "postal_code",
        "country",
        "birthday",
        "cpf",
        "rg",
        "genero",
        "estado_civil",
        "profissao",
        "cargo",
        "organization_id",
        "pipeline_stage_id",
        "assigned_to_member_id",
        "last_connection_id",
        "custom_fields",
        "created_at",
        "updated_at",
        "facet",
    ];

    fn bind(self) -> Vec<Param> {
        let facet = Uuid::from_bytes(*self.facet_key().as_bytes());
        let search_text = self.search_text().as_str().to_owned();
        let custom_fields: serde_json::Map<String, serde_json::Value> = self
            .custom_fields
            .into_iter()
            .map(|(id, text)| (id.to_string(), text.into()))
            .collect();
        let Address {
            street,
            street_number,
            complement,
            neighborhood,
            city,
            state,
            postal_code,
            country,
        } = self.address;
        let Profile { birthday, cpf, rg, genero, estado_civil, profissao, cargo } = self.profile;
        params![
            self.company.uuid(),
            self.id.uuid(),
            self.source_platform.as_str().to_owned(),
            self.identifier.as_str().to_owned(),
            self.phone.map(|phone| phone.as_str().to_owned()),
            self.email.map(|email| email.as_str().to_owned()),
            self.shared_email.map(|email| email.as_str().to_owned()),
            self.name,
            self.wa_profile_name,
            self.wa_push_name,
            self.display_name,
            self.avatar_url,
            self.observation,
            self.inbox_status.as_str(),
            self.priority.as_str(),
            self.crm_status.as_str(),
            self.is_ai_enabled,
            self.external_ai_enabled,
            self.ai_paused_until.map(|at| at.millis()),
            self.opted_out_at.map(|at| at.millis()),
            self.opt_out_backfilled,
            self.opted_in_at.map(|at| at.millis()),
            self.is_archived,
            self.is_pinned,
            self.is_muted,
            self.is_blocked,
            self.is_group,
            self.is_simulated,
            self.external_chat_id,
            self.first_message_at.map(|at| at.millis()),
            self.last_message_at.map(|at| at.millis()),
            self.last_inbound_at.map(|at| at.millis()),
            self.last_read_at.map(|at| at.millis()),
            self.last_closed_at.map(|at| at.millis()),
            self.last_close_reason_id.map(CloseReasonId::uuid),
            street,
            street_number,
            complement,
            neighborhood,
            city,
            state,
            postal_code.map(|code| code.as_str().to_owned()),
            country,
            birthday.map(|date| date.to_string()),
            cpf.map(|cpf| cpf.as_str().to_owned()),
            rg,
            genero,
            estado_civil,
            profissao,
            cargo,
            self.organization_id.map(OrganizationId::uuid),
            self.pipeline_stage_id.map(StageId::uuid),
            self.assigned_to_member_id.map(MemberId::uuid),
            self.last_connection_id.map(ConnectionId::uuid),
            serde_json::Value::Object(custom_fields),
            self.created_at.millis(),
            self.updated_at.millis(),
            facet,
            search_text,
        ]
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        let company = columns.id(CompanyId::new)?;
        let contact = Self {
            company,
            id: columns.id(ContactId::new)?,
            source_platform: columns.word(Platform::parse)?,
            identifier: columns.word(Identifier::parse)?,
            phone: columns.value_or_null(Phone::from_stored)?,
            email: columns.value_or_null(Email::from_stored)?,
            shared_email: columns.value_or_null(Email::from_stored)?,
            name: columns.get()?,
            wa_profile_name: columns.get()?,
            wa_push_name: columns.get()?,
            display_name: columns.get()?,
            avatar_url: columns.get()?,
            observation: columns.get()?,
            inbox_status: columns.word(InboxStatus::parse)?,
            priority: columns.word(Priority::parse)?,
            crm_status: columns.word(CrmStatus::parse)?,
            is_ai_enabled: columns.get()?,
            external_ai_enabled: columns.get()?,
            ai_paused_until: columns.time_or_null()?,
            opted_out_at: columns.time_or_null()?,
            opt_out_backfilled: columns.get()?,
            opted_in_at: columns.time_or_null()?,
            is_archived: columns.get()?,
            is_pinned: columns.get()?,
            is_muted: columns.get()?,
            is_blocked: columns.get()?,
            is_group: columns.get()?,
            is_simulated: columns.get()?,
            external_chat_id: columns.get()?,
            first_message_at: columns.time_or_null()?,
            last_message_at: columns.time_or_null()?,
            last_inbound_at: columns.time_or_null()?,
            last_read_at: columns.time_or_null()?,
            last_closed_at: columns.time_or_null()?,
            last_close_reason_id: columns.id_or_null(CloseReasonId::new)?,
            address: read_address(columns)?,
            profile: read_profile(columns)?,
            organization_id: columns.id_or_null(OrganizationId::new)?,
            pipeline_stage_id: columns.id_or_null(StageId::new)?,
            assigned_to_member_id: columns.id_or_null(MemberId::new)?,
            last_connection_id: columns.id_or_null(ConnectionId::new)?,
            custom_fields: read_values(columns.get()?)?,
            created_at: columns.time()?,
            updated_at: columns.time()?,
        };
        // The facet follows from the others.
        columns.skip(1);
        Ok(contact)
    }

    fn sql() -> &'static Sql {
        static SQL: LazyLock<Sql> = LazyLock::new(contact_sql);
        &SQL
    }
}

/// The text of searches is kept in a table of its own and written only when it changes.
fn contact_sql() -> Sql {
    let sql = Sql::of::<Contact>();
    // The facet is the last column; the text follows it.
    let facet = Contact::COLUMNS.len();
    let text = facet + 1;
    let version = text + 1;
    let insert = format!(
        "WITH searched AS (INSERT INTO contact_search (company_id, contact_id, facet, search_text) \
         VALUES ($1, $2, ${facet}, ${text})) {}",
        sql.insert
    );
    let searched = format!(
        "WITH searched AS (UPDATE contact_search SET facet = ${facet}, search_text = ${text} \
         WHERE company_id = $1 AND contact_id = $2 \
         AND (facet, search_text) <> (${facet}, ${text})), "
    );
    let update = sql
        .update
        .replace(&format!("version = ${text}"), &format!("version = ${version}"))
        .replacen("WITH ", &searched, 1);
    Sql { insert, insert_many: Vec::new(), update, ..sql }
}

fn read_address(columns: &mut Columns<'_>) -> Result<Address, StoreError> {
    Ok(Address {
        street: columns.get()?,
        street_number: columns.get()?,
        complement: columns.get()?,
        neighborhood: columns.get()?,
        city: columns.get()?,
        state: columns.get()?,
        postal_code: columns.value_or_null(PostalCode::from_stored)?,
        country: columns.get()?,
    })
}

fn read_profile(columns: &mut Columns<'_>) -> Result<Profile, StoreError> {
    Ok(Profile {
        birthday: columns.value_or_null(Birthday::from_stored)?,
        cpf: columns.value_or_null(Cpf::from_stored)?,
        rg: columns.get()?,
        genero: columns.get()?,
        estado_civil: columns.get()?,
        profissao: columns.get()?,
        cargo: columns.get()?,
    })
}

fn read_values(stored: serde_json::Value) -> Result<BTreeMap<CustomFieldId, String>, StoreError> {
    serde_json::from_value(stored).map_err(|_| unreadable::<BTreeMap<CustomFieldId, String>>())
}

fn list_brief(fields: &mut Fields<'_>) -> Result<ListBrief, StoreError> {
    Ok(ListBrief { id: fields.id(ListId::new)?, name: fields.text()? })
}

/// A conversation with its connection.
fn conversation(
    columns: &mut Columns<'_>,
) -> Result<Option<(Connection, Conversation)>, StoreError> {
    let connection = columns.joined()?;
    Ok(connection.zip(columns.joined()?))
}

/// A contact with all that it refers to, a row for each of its conversations.
static RECORD: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {}, {}, {}, {}, {}, \
         (SELECT json_agg(json_build_array(l.id, l.name) ORDER BY l.created_at, l.id) \
         FROM list_members m JOIN lists l ON l.company_id = m.company_id AND l.id = m.list_id \
         WHERE m.company_id = $1 AND m.contact_id = $2), \
         (SELECT {} FROM custom_fields f WHERE f.company_id = $1) \
         FROM contacts c {} \
         LEFT JOIN members m ON m.company_id = $1 AND m.id = c.assigned_to_member_id \
         LEFT JOIN lead_memories y ON y.company_id = $1 AND y.contact_id = c.id \
         LEFT JOIN conversations v ON v.company_id = $1 AND v.contact_id = c.id \
         LEFT JOIN connections n ON n.company_id = $1 AND n.id = v.connection_id \
         WHERE c.company_id = $1 AND c.id = $2 ORDER BY n.created_at, n.id",
        columns_of::<Connection>("n"),
        columns_of::<Conversation>("v"),
        RECORD_COLUMNS.as_str(),
        columns_of::<Member>("m"),
        columns_of::<LeadMemory>("y"),
        gathered::<CustomField>("f"),
        RECORD_JOINS.replace("$clicks", "false"),
    )
});

#[async_trait]
impl ContactReads for PostgresStore {
    async fn contact(
        &self,
        company: CompanyId,
        id: ContactId,
    ) -> Result<Option<Stored<Contact>>, StoreError> {
        get(&self.pool, params![company.uuid(), id.uuid()]).await
    }

    async fn contact_record(
        &self,
        company: CompanyId,
        id: ContactId,
    ) -> Result<Option<(ContactRecord, Vec<CustomField>)>, StoreError> {
        let found = rows(&self.pool, RECORD.as_str(), params![company.uuid(), id.uuid()]).await?;
        let Some(row) = found.first() else { return Ok(None) };
        let conversations = found.iter().map(|row| conversation(&mut Columns::new(row)));
        let conversations =
            conversations.filter_map(Result::transpose).collect::<Result<Vec<_>, _>>()?;
        let mut columns = Columns::new(row);
        conversation(&mut columns)?;
        let mut record = read_record(&mut columns, false)?;
        record.related.conversations = conversations;
        record.related.assigned_to = columns.joined()?;
        record.related.lead_memory = columns.joined()?;
        record.related.lists = scattered(columns.get()?, list_brief)?;
        Ok(Some((record, scattered(columns.get()?, gathered_field)?)))
    }

    async fn contact_by_identifier(
        &self,
        company: CompanyId,
        platform: &Platform,
        identifier: &Identifier,
    ) -> Result<Option<Stored<Contact>>, StoreError> {
        let condition = "WHERE company_id = $1 AND identifier = $2 AND source_platform = $3";
        let params =
            params![company.uuid(), identifier.as_str().to_owned(), platform.as_str().to_owned()];
        Ok(select(&self.pool, condition, params).await?.into_iter().next())
    }

    async fn contact_page(
        &self,
        company: CompanyId,
        filter: &ContactFilter,
        page: PageRequest,
        clicks: bool,
    ) -> Result<ContactSlice, StoreError> {
        self.page(company, filter, page, clicks).await
    }

    async fn contact_export(
        &self,
        company: CompanyId,
        filter: &ContactFilter,
        after: Option<ExportPosition>,
        limit: u32,
        clicks: bool,
    ) -> Result<ContactSlice, StoreError> {
        self.export(company, filter, after, limit, clicks).await
    }

    async fn draft_facts(
        &self,
        company: CompanyId,
        query: &DraftQuery,
    ) -> Result<DraftFacts, StoreError> {
        self.facts(company, query).await
    }

    async fn member_in_use(&self, company: CompanyId, id: MemberId) -> Result<bool, StoreError> {
        let sql = "SELECT FROM contacts WHERE company_id = $1 AND assigned_to_member_id = $2 \
                   LIMIT 1";
        Ok(!rows(&self.pool, sql, params![company.uuid(), id.uuid()]).await?.is_empty())
    }

    async fn close_reason_in_use(
        &self,
        company: CompanyId,
        id: CloseReasonId,
    ) -> Result<bool, StoreError> {
        let sql = "SELECT FROM contacts WHERE company_id = $1 AND last_close_reason_id = $2 \
                   LIMIT 1";
        Ok(!rows(&self.pool, sql, params![company.uuid(), id.uuid()]).await?.is_empty())
    }
}
