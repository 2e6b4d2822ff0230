//! A database with one company.

use std::sync::Arc;

use recado_core::Timestamp;
use recado_core::access::{Company, Features, Plan, TimeZone};
use recado_core::contacts::{Contact, Identifier, Platform, Region};
use recado_core::ids::{CompanyId, ContactId};
use recado_core::store::{ChangeSet, Commit};
use recado_store_sqlite::SqliteStore;
use tempfile::TempDir;
use uuid::Uuid;

pub(crate) struct Scene {
    pub(crate) folder: TempDir,
    pub(crate) store: Arc<SqliteStore>,
    pub(crate) company: CompanyId,
}

pub(crate) fn company(n: u128) -> Company {
    Company {
        id: CompanyId::new(Uuid::from_u128(n)),
        name: format!("Company {n}"),
        plan: Plan::Enterprise,
        features: Features::default(),
        default_region: Region::br(),
        time_zone: TimeZone::default(),
        erase_deleted_messages: false,
        created_at: Timestamp::from_millis(0),
        updated_at: Timestamp::from_millis(0),
        deleted_at: None,
    }
}

pub(crate) fn contact(company: CompanyId, n: u32, name: &str) -> Contact {
    let mut contact = Contact::new(
        ContactId::new(Uuid::from_u128(n.into())),
        company,
        Platform::whatsapp(),
        Identifier::parse(&format!("id-{n}")).expect("an identifier"),
        None,
        Timestamp::from_millis(n.into()),
    );
    contact.name = name.to_owned();
    contact.derive();
    contact
}

impl Scene {
    pub(crate) async fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let store = SqliteStore::open(folder.path().join("recado.db")).expect("a database");
        store.migrate().expect("a new database");
        let company = company(1);
        let id = company.id;
        store.commit(ChangeSet::new().insert(company)).await.expect("a new company");
        Self { folder, store: Arc::new(store), company: id }
    }
}
