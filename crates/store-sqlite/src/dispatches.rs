//! The windows of template dispatch.

use async_trait::async_trait;
use recado_core::dispatches::{DispatchReads, DispatchWindow, WindowKey, WindowState};
use recado_core::ids::{CompanyId, ContactId, MessageId};
use recado_core::store::{StoreError, Stored};

use crate::SqliteStore;
use crate::cell::{Cell, Columns};
use crate::error::ReadResult;
use crate::table::{self, Table, statements};

impl Table for DispatchWindow {
    statements!(
        "dispatch_windows",
        ["company_id", "contact_id", "key"],
        ["message_id", "sent_at", "state", "ends_at"]
    );

    fn values(&self) -> Vec<Cell<'_>> {
        vec![
            self.company.into(),
            self.contact.into(),
            Cell::Bytes(self.key.as_bytes()),
            self.message.into(),
            self.sent_at.into(),
            self.state.as_str().into(),
            self.ends_at.into(),
        ]
    }

    fn read(columns: &mut Columns<'_, '_>) -> ReadResult<Self> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            contact: columns.id(ContactId::new)?,
            key: WindowKey::from_bytes(columns.bytes()?),
            message: columns.id(MessageId::new)?,
            sent_at: columns.time()?,
            state: columns.word(WindowState::parse)?,
            ends_at: columns.time()?,
        })
    }
}

#[async_trait]
impl DispatchReads for SqliteStore {
    async fn dispatch_window(
        &self,
        company: CompanyId,
        contact: ContactId,
        key: WindowKey,
    ) -> Result<Option<Stored<DispatchWindow>>, StoreError> {
        self.read(move |conn| {
            let key = [company.into(), contact.into(), Cell::Bytes(key.as_bytes())];
            table::get(conn, &key)
        })
        .await
    }

    async fn reserved_windows(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Vec<Stored<DispatchWindow>>, StoreError> {
        let condition = "company_id = ?1 AND contact_id = ?2 AND state = 'reserved' ORDER BY key";
        self.read(move |conn| table::list(conn, condition, &[company.into(), contact.into()])).await
    }
}
