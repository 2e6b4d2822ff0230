//! The windows in which a template is not dispatched to a contact a second time.

use async_trait::async_trait;
use recado_core::dispatches::{DispatchReads, DispatchWindow, WindowKey, WindowState};
use recado_core::ids::{CompanyId, ContactId, MessageId};
use recado_core::store::{StoreError, Stored};

use crate::PostgresStore;
use crate::session::{get, select};
use crate::table::{Columns, Param, Table, params, table_sql, unreadable};

impl Table for DispatchWindow {
    const NAME: &'static str = "dispatch_windows";
    const KEY: usize = 3;
    const COLUMNS: &'static [&'static str] =
        &["company_id", "contact_id", "key", "message_id", "sent_at", "state", "ends_at"];
    table_sql!(DispatchWindow);

    fn bind(self) -> Vec<Param> {
        params![
            self.company.uuid(),
            self.contact.uuid(),
            self.key.as_bytes().to_vec(),
            self.message.uuid(),
            self.sent_at.millis(),
            self.state.as_str(),
            self.ends_at.millis(),
        ]
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            contact: columns.id(ContactId::new)?,
            key: read_key(columns.get()?)?,
            message: columns.id(MessageId::new)?,
            sent_at: columns.time()?,
            state: columns.word(WindowState::parse)?,
            ends_at: columns.time()?,
        })
    }
}

fn read_key(bytes: &[u8]) -> Result<WindowKey, StoreError> {
    bytes.try_into().map(WindowKey::from_bytes).map_err(|_| unreadable::<WindowKey>())
}

#[async_trait]
impl DispatchReads for PostgresStore {
    async fn dispatch_window(
        &self,
        company: CompanyId,
        contact: ContactId,
        key: WindowKey,
    ) -> Result<Option<Stored<DispatchWindow>>, StoreError> {
        get(&self.pool, params![company.uuid(), contact.uuid(), key.as_bytes().to_vec()]).await
    }

    async fn reserved_windows(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Vec<Stored<DispatchWindow>>, StoreError> {
        let condition =
            "WHERE company_id = $1 AND contact_id = $2 AND state = 'reserved' ORDER BY key";
        select(&self.pool, condition, params![company.uuid(), contact.uuid()]).await
    }
}
