//! Tags and close reasons.

use async_trait::async_trait;
use recado_core::contacts::ContactTag;
use recado_core::ids::{CloseReasonId, CompanyId, ContactId, TagId};
use recado_core::store::{StoreError, Stored};
use recado_core::tags::{CloseReason, Tag, TagReads};

use crate::PostgresStore;
use crate::session::{get, of_company};
use crate::table::{Columns, Fields, Param, Table, params, table_sql};

impl Table for Tag {
    const NAME: &'static str = "tags";
    const KEY: usize = 2;
    const COLUMNS: &'static [&'static str] = &["company_id", "id", "name", "color", "created_at"];
    table_sql!(Tag);

    fn bind(self) -> Vec<Param> {
        params![
            self.company.uuid(),
            self.id.uuid(),
            self.name,
            self.color,
            self.created_at.millis()
        ]
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(TagId::new)?,
            name: columns.get()?,
            color: columns.get()?,
            created_at: columns.time()?,
        })
    }
}

/// Reads a tag that was gathered.
pub(crate) fn gathered_tag(fields: &mut Fields<'_>) -> Result<Tag, StoreError> {
    Ok(Tag {
        company: fields.id(CompanyId::new)?,
        id: fields.id(TagId::new)?,
        name: fields.text()?,
        color: fields.text()?,
        created_at: fields.time()?,
    })
}

impl Table for ContactTag {
    const NAME: &'static str = "contact_tags";
    const KEY: usize = 3;
    const COLUMNS: &'static [&'static str] = &["company_id", "contact_id", "tag_id"];
    const VERSIONED: bool = false;
    table_sql!(ContactTag);

    fn bind(self) -> Vec<Param> {
        params![self.company.uuid(), self.contact.uuid(), self.tag.uuid()]
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            contact: columns.id(ContactId::new)?,
            tag: columns.id(TagId::new)?,
        })
    }
}

impl Table for CloseReason {
    const NAME: &'static str = "close_reasons";
    const KEY: usize = 2;
    const COLUMNS: &'static [&'static str] = &["company_id", "id", "name", "created_at"];
    table_sql!(CloseReason);

    fn bind(self) -> Vec<Param> {
        params![self.company.uuid(), self.id.uuid(), self.name, self.created_at.millis()]
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(CloseReasonId::new)?,
            name: columns.get()?,
            created_at: columns.time()?,
        })
    }
}

#[async_trait]
impl TagReads for PostgresStore {
    async fn tag(&self, company: CompanyId, id: TagId) -> Result<Option<Stored<Tag>>, StoreError> {
        get(&self.pool, params![company.uuid(), id.uuid()]).await
    }

    async fn tags(&self, company: CompanyId) -> Result<Vec<Tag>, StoreError> {
        of_company(&self.pool, company).await
    }

    async fn close_reason(
        &self,
        company: CompanyId,
        id: CloseReasonId,
    ) -> Result<Option<Stored<CloseReason>>, StoreError> {
        get(&self.pool, params![company.uuid(), id.uuid()]).await
    }

    async fn close_reasons(&self, company: CompanyId) -> Result<Vec<CloseReason>, StoreError> {
        of_company(&self.pool, company).await
    }
}
