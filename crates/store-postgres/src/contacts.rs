//! Contacts: how they are stored, and reads of a single contact.

use std::sync::LazyLock;

use async_trait::async_trait;
use recado_core::access::Member;
use recado_core::connections::Connection;
use recado_core::contacts::{
    Contact, ContactFilter, ContactReads, ContactRecord, ContactSlice, DraftFacts, DraftQuery,
    ExportPosition, Identifier, ListBrief, Platform,
};
use recado_core::conversations::Conversation;
use recado_core::custom_fields::CustomField;
use recado_core::ids::{CloseReasonId, CompanyId, ContactId, MemberId};
use recado_core::leads::LeadMemory;
use recado_core::page::PageRequest;
use recado_core::store::{StoreError, Stored};

use crate::PostgresStore;
use recado_store_sql::Sealer;

use crate::columns::Columns;
use crate::contacts_record::{read_record, record_columns, record_joins, tags_of_one};
use crate::gathered::{GatheredFields, gathered, scattered};
use crate::param::params;
use crate::session::{rows, select};
use crate::table::columns_of;

fn list_brief(fields: &mut GatheredFields<'_>) -> Result<ListBrief, StoreError> {
    Ok(ListBrief { id: fields.get()?, name: fields.get()? })
}

/// A conversation with its connection.
fn conversation(
    columns: &mut Columns<'_>,
    sealer: &Sealer,
) -> Result<Option<(Connection, Conversation)>, StoreError> {
    let connection = columns.joined_sealed(sealer)?;
    Ok(connection.zip(columns.joined()?))
}

/// A contact with all records it refers to: one row for each of its conversations.
static RECORD: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {}, {}, {}, {}, {}, {}, \
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
        record_columns(),
        tags_of_one(),
        columns_of::<Member>("m"),
        columns_of::<LeadMemory>("y"),
        gathered::<CustomField>("f"),
        record_joins(false),
    )
});

#[async_trait]
impl ContactReads for PostgresStore {
    async fn contact_record(
        &self,
        company: CompanyId,
        id: ContactId,
    ) -> Result<Option<(ContactRecord, Vec<CustomField>)>, StoreError> {
        let found = rows(&self.pool, RECORD.as_str(), params![company.uuid(), id.uuid()]).await?;
        let Some(row) = found.first() else { return Ok(None) };
        let conversations =
            found.iter().map(|row| conversation(&mut Columns::new(row), self.pool.sealer()));
        let conversations =
            conversations.filter_map(Result::transpose).collect::<Result<Vec<_>, _>>()?;
        let mut columns = Columns::new(row);
        conversation(&mut columns, self.pool.sealer())?;
        let mut record = read_record(&mut columns, false)?;
        record.related.tags = scattered(columns.get()?, |fields| fields.record())?;
        record.related.conversations = conversations;
        record.related.assigned_to = columns.joined()?;
        record.related.lead_memory = columns.joined()?;
        record.related.lists = scattered(columns.get()?, list_brief)?;
        Ok(Some((record, scattered(columns.get()?, |fields| fields.record())?)))
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
}

impl PostgresStore {
    pub(crate) async fn member_in_use(
        &self,
        company: CompanyId,
        id: MemberId,
    ) -> Result<bool, StoreError> {
        let sql = "SELECT FROM contacts WHERE company_id = $1 AND assigned_to_member_id = $2 \
                   LIMIT 1";
        Ok(!rows(&self.pool, sql, params![company.uuid(), id.uuid()]).await?.is_empty())
    }

    pub(crate) async fn close_reason_in_use(
        &self,
        company: CompanyId,
        id: CloseReasonId,
    ) -> Result<bool, StoreError> {
        let sql = "SELECT FROM contacts WHERE company_id = $1 AND last_close_reason_id = $2 \
                   LIMIT 1";
        Ok(!rows(&self.pool, sql, params![company.uuid(), id.uuid()]).await?.is_empty())
    }
}
