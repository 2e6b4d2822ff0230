//! Companies, keys, members and installation secrets.

use async_trait::async_trait;
use recado_core::access::{
    AccessReads, ApiKey, Company, Features, KeyHash, Member, Plan, Role, Scope, Scopes, Secret,
    SecretName,
};
use recado_core::contacts::Region;
use recado_core::ids::{CompanyId, KeyId, MemberId};
use recado_core::secret::SecretBytes;
use recado_core::store::{StoreError, Stored};

use crate::PostgresStore;
use crate::session::{get, of_company, rows, select};
use crate::table::{Columns, Param, Table, columns_of, params, table_sql, unreadable};

impl Table for Company {
    const NAME: &'static str = "companies";
    const KEY: usize = 1;
    const COLUMNS: &'static [&'static str] = &[
        "id",
        "name",
        "plan",
        "inbound_contacts",
        "template_dispatch",
        "default_region",
        "created_at",
        "updated_at",
    ];
    table_sql!(Company);

    fn bind(self) -> Vec<Param> {
        params![
            self.id.uuid(),
            self.name,
            self.plan.as_str(),
            self.features.inbound_contacts,
            self.features.template_dispatch,
            self.default_region.as_str().to_owned(),
            self.created_at.millis(),
            self.updated_at.millis(),
        ]
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            id: columns.id(CompanyId::new)?,
            name: columns.get()?,
            plan: columns.word(Plan::parse)?,
            features: Features {
                inbound_contacts: columns.get()?,
                template_dispatch: columns.get()?,
            },
            default_region: columns.word(Region::parse)?,
            created_at: columns.time()?,
            updated_at: columns.time()?,
        })
    }
}

impl Table for ApiKey {
    const NAME: &'static str = "api_keys";
    const KEY: usize = 2;
    const COLUMNS: &'static [&'static str] = &[
        "company_id",
        "id",
        "name",
        "hash",
        "scopes",
        "rate_per_minute",
        "export_rate_per_minute",
        "created_at",
    ];
    table_sql!(ApiKey);

    fn bind(self) -> Vec<Param> {
        params![
            self.company.uuid(),
            self.id.uuid(),
            self.name,
            self.hash.as_bytes().to_vec(),
            self.scopes.iter().map(Scope::as_str).collect::<Vec<_>>(),
            i64::from(self.rate_per_minute),
            i64::from(self.export_rate_per_minute),
            self.created_at.millis(),
        ]
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(KeyId::new)?,
            name: columns.get()?,
            hash: KeyHash::from_bytes(
                columns.get::<&[u8]>()?.try_into().map_err(|_| unreadable::<KeyHash>())?,
            ),
            scopes: read_scopes(&columns.get::<Vec<&str>>()?)?,
            rate_per_minute: columns.number()?,
            export_rate_per_minute: columns.number()?,
            created_at: columns.time()?,
        })
    }
}

fn read_scopes(words: &[&str]) -> Result<Scopes, StoreError> {
    let scopes: Option<Vec<Scope>> = words.iter().map(|word| Scope::parse(word)).collect();
    scopes.map(|scopes| Scopes::of(&scopes)).ok_or_else(unreadable::<Scopes>)
}

impl Table for Member {
    const NAME: &'static str = "members";
    const KEY: usize = 2;
    const COLUMNS: &'static [&'static str] =
        &["company_id", "id", "display_name", "role", "created_at"];
    table_sql!(Member);

    fn bind(self) -> Vec<Param> {
        params![
            self.company.uuid(),
            self.id.uuid(),
            self.display_name,
            self.role.as_str(),
            self.created_at.millis(),
        ]
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(MemberId::new)?,
            display_name: columns.get()?,
            role: columns.word(Role::parse)?,
            created_at: columns.time()?,
        })
    }
}

impl Table for Secret {
    const NAME: &'static str = "secrets";
    const KEY: usize = 1;
    const COLUMNS: &'static [&'static str] = &["name", "bytes"];
    table_sql!(Secret);

    fn bind(self) -> Vec<Param> {
        params![self.name.as_str(), self.bytes.expose().to_vec()]
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            name: columns.word(SecretName::parse)?,
            bytes: SecretBytes::new(columns.get::<Vec<u8>>()?),
        })
    }
}

#[async_trait]
impl AccessReads for PostgresStore {
    async fn company(&self, id: CompanyId) -> Result<Option<Stored<Company>>, StoreError> {
        get(&self.pool, params![id.uuid()]).await
    }

    async fn companies(&self) -> Result<Vec<Company>, StoreError> {
        let stored = select(&self.pool, "ORDER BY created_at, id", Vec::new()).await?;
        Ok(stored.into_iter().map(Stored::into_value).collect())
    }

    async fn key_by_hash(&self, hash: &KeyHash) -> Result<Option<(ApiKey, Company)>, StoreError> {
        static SQL: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| {
            format!(
                "SELECT {}, {} FROM api_keys k JOIN companies c ON c.id = k.company_id \
                 WHERE k.hash = $1",
                columns_of::<ApiKey>("k"),
                columns_of::<Company>("c"),
            )
        });
        let found = rows(&self.pool, SQL.as_str(), params![hash.as_bytes().to_vec()]).await?;
        let Some(row) = found.first() else { return Ok(None) };
        let mut columns = Columns::new(row);
        Ok(Some((columns.record()?, columns.record()?)))
    }

    async fn key(
        &self,
        company: CompanyId,
        id: KeyId,
    ) -> Result<Option<Stored<ApiKey>>, StoreError> {
        get(&self.pool, params![company.uuid(), id.uuid()]).await
    }

    async fn keys(&self, company: CompanyId) -> Result<Vec<ApiKey>, StoreError> {
        of_company(&self.pool, company).await
    }

    async fn member(
        &self,
        company: CompanyId,
        id: MemberId,
    ) -> Result<Option<Stored<Member>>, StoreError> {
        get(&self.pool, params![company.uuid(), id.uuid()]).await
    }

    async fn members(&self, company: CompanyId) -> Result<Vec<Member>, StoreError> {
        of_company(&self.pool, company).await
    }

    async fn secret(&self, name: SecretName) -> Result<Option<Secret>, StoreError> {
        Ok(get(&self.pool, params![name.as_str()]).await?.map(Stored::into_value))
    }
}
