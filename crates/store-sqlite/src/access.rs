//! Companies, API keys, members and the installation's secrets.

use std::sync::LazyLock;

use async_trait::async_trait;
use recado_core::access::{
    AccessReads, ApiKey, Company, Features, KeyHash, Member, Plan, Role, Scope, Scopes, Secret,
    SecretName,
};
use recado_core::contacts::Region;
use recado_core::ids::{CompanyId, KeyId, MemberId};
use recado_core::secret::SecretBytes;
use recado_core::store::{StoreError, Stored};

use crate::SqliteStore;
use crate::cell::{Cell, Columns};
use crate::error::ReadResult;
use crate::table::{self, Table, statements};

impl Table for Company {
    statements!(
        "companies",
        ["id"],
        [
            "name",
            "plan",
            "inbound_contacts",
            "template_dispatch",
            "default_region",
            "created_at",
            "updated_at"
        ]
    );

    fn values(&self) -> Vec<Cell<'_>> {
        vec![
            self.id.into(),
            (&self.name).into(),
            self.plan.as_str().into(),
            self.features.inbound_contacts.into(),
            self.features.template_dispatch.into(),
            self.default_region.as_str().into(),
            self.created_at.into(),
            self.updated_at.into(),
        ]
    }

    fn read(columns: &mut Columns<'_, '_>) -> ReadResult<Self> {
        Ok(Self {
            id: columns.id(CompanyId::new)?,
            name: columns.text()?,
            plan: columns.word(Plan::parse)?,
            features: Features {
                inbound_contacts: columns.flag()?,
                template_dispatch: columns.flag()?,
            },
            default_region: columns.word(Region::parse)?,
            created_at: columns.time()?,
            updated_at: columns.time()?,
        })
    }
}

impl Table for ApiKey {
    statements!(
        "api_keys",
        ["company_id", "id"],
        ["name", "hash", "scopes", "rate_per_minute", "export_rate_per_minute", "created_at"]
    );

    fn values(&self) -> Vec<Cell<'_>> {
        let scopes: Vec<&str> = self.scopes.iter().map(Scope::as_str).collect();
        vec![
            self.company.into(),
            self.id.into(),
            (&self.name).into(),
            Cell::Bytes(self.hash.as_bytes()),
            Cell::Owned(scopes.join(" ")),
            self.rate_per_minute.into(),
            self.export_rate_per_minute.into(),
            self.created_at.into(),
        ]
    }

    fn read(columns: &mut Columns<'_, '_>) -> ReadResult<Self> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(KeyId::new)?,
            name: columns.text()?,
            hash: KeyHash::from_bytes(columns.bytes()?),
            scopes: columns.word(read_scopes)?,
            rate_per_minute: columns.number()?,
            export_rate_per_minute: columns.number()?,
            created_at: columns.time()?,
        })
    }
}

fn read_scopes(words: &str) -> Option<Scopes> {
    let scopes: Option<Vec<Scope>> = words.split_ascii_whitespace().map(Scope::parse).collect();
    scopes.map(|scopes| Scopes::of(&scopes))
}

impl Table for Member {
    statements!("members", ["company_id", "id"], ["display_name", "role", "created_at"]);

    fn values(&self) -> Vec<Cell<'_>> {
        vec![
            self.company.into(),
            self.id.into(),
            (&self.display_name).into(),
            self.role.as_str().into(),
            self.created_at.into(),
        ]
    }

    fn read(columns: &mut Columns<'_, '_>) -> ReadResult<Self> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(MemberId::new)?,
            display_name: columns.text()?,
            role: columns.word(Role::parse)?,
            created_at: columns.time()?,
        })
    }
}

impl Table for Secret {
    statements!("secrets", ["name"], ["bytes"]);

    fn values(&self) -> Vec<Cell<'_>> {
        vec![self.name.as_str().into(), Cell::Bytes(self.bytes.expose())]
    }

    fn read(columns: &mut Columns<'_, '_>) -> ReadResult<Self> {
        Ok(Self {
            name: columns.word(SecretName::parse)?,
            bytes: SecretBytes::new(columns.blob()?),
        })
    }
}

static KEY_BY_HASH: LazyLock<String> =
    LazyLock::new(|| table::with_company::<ApiKey>("row.hash = ?1"));

#[async_trait]
impl AccessReads for SqliteStore {
    async fn company(&self, id: CompanyId) -> Result<Option<Stored<Company>>, StoreError> {
        self.read(move |conn| table::get(conn, &[id.into()])).await
    }

    async fn companies(&self) -> Result<Vec<Company>, StoreError> {
        self.read(move |conn| {
            let companies = table::list(conn, "true ORDER BY created_at, id", &[])?;
            Ok(companies.into_iter().map(Stored::into_value).collect())
        })
        .await
    }

    async fn key_by_hash(&self, hash: &KeyHash) -> Result<Option<(ApiKey, Company)>, StoreError> {
        let hash = *hash;
        self.read(move |conn| {
            table::find_with_company(conn, &KEY_BY_HASH, Cell::Bytes(hash.as_bytes()))
        })
        .await
    }

    async fn key(
        &self,
        company: CompanyId,
        id: KeyId,
    ) -> Result<Option<Stored<ApiKey>>, StoreError> {
        self.read(move |conn| table::get(conn, &[company.into(), id.into()])).await
    }

    async fn keys(&self, company: CompanyId) -> Result<Vec<ApiKey>, StoreError> {
        self.read(move |conn| table::all(conn, company)).await
    }

    async fn member(
        &self,
        company: CompanyId,
        id: MemberId,
    ) -> Result<Option<Stored<Member>>, StoreError> {
        self.read(move |conn| table::get(conn, &[company.into(), id.into()])).await
    }

    async fn members(&self, company: CompanyId) -> Result<Vec<Member>, StoreError> {
        self.read(move |conn| table::all(conn, company)).await
    }

    async fn secret(&self, name: SecretName) -> Result<Option<Secret>, StoreError> {
        self.read(move |conn| {
            let secret = table::get(conn, &[name.as_str().into()])?;
            Ok(secret.map(Stored::into_value))
        })
        .await
    }
}
