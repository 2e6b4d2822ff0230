//! Tracked links and their clicks.

use async_trait::async_trait;
use recado_core::ids::{ClickId, CompanyId, ContactId, LinkId};
use recado_core::links::{Click, Link, LinkCode, LinkReads};
use recado_core::store::{StoreError, Stored};

use crate::PostgresStore;
use crate::session::{get, of_company, select};
use crate::table::{Columns, Param, Table, params, table_sql};

impl Table for Link {
    const NAME: &'static str = "links";
    const KEY: usize = 2;
    const COLUMNS: &'static [&'static str] =
        &["company_id", "id", "contact_id", "code", "url", "created_at"];
    table_sql!(Link);

    fn bind(self) -> Vec<Param> {
        params![
            self.company.uuid(),
            self.id.uuid(),
            self.contact.uuid(),
            self.code.as_str().to_owned(),
            self.url,
            self.created_at.millis(),
        ]
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(LinkId::new)?,
            contact: columns.id(ContactId::new)?,
            code: columns.word(LinkCode::parse)?,
            url: columns.get()?,
            created_at: columns.time()?,
        })
    }
}

impl Table for Click {
    const NAME: &'static str = "clicks";
    const KEY: usize = 2;
    const COLUMNS: &'static [&'static str] =
        &["company_id", "id", "link_id", "contact_id", "at", "human"];
    const VERSIONED: bool = false;
    table_sql!(Click);

    fn bind(self) -> Vec<Param> {
        params![
            self.company.uuid(),
            self.id.uuid(),
            self.link.uuid(),
            self.contact.uuid(),
            self.at.millis(),
            self.human,
        ]
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(ClickId::new)?,
            link: columns.id(LinkId::new)?,
            contact: columns.id(ContactId::new)?,
            at: columns.time()?,
            human: columns.get()?,
        })
    }
}

#[async_trait]
impl LinkReads for PostgresStore {
    async fn link_by_code(&self, code: &LinkCode) -> Result<Option<Link>, StoreError> {
        let found =
            select(&self.pool, "WHERE code = $1", params![code.as_str().to_owned()]).await?;
        Ok(found.into_iter().next().map(Stored::into_value))
    }

    async fn link(
        &self,
        company: CompanyId,
        id: LinkId,
    ) -> Result<Option<Stored<Link>>, StoreError> {
        get(&self.pool, params![company.uuid(), id.uuid()]).await
    }

    async fn links(&self, company: CompanyId) -> Result<Vec<Link>, StoreError> {
        of_company(&self.pool, company).await
    }
}
