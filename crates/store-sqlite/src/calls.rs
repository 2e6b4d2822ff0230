//! Remembered calls.

use async_trait::async_trait;
use recado_core::idempotency::{CallKey, CallState, IdempotencyReads, RememberedCall};
use recado_core::ids::{CompanyId, ContactId, WorkerId};
use recado_core::store::{StoreError, Stored};

use crate::SqliteStore;
use crate::cell::{Cell, Columns};
use crate::error::ReadResult;
use crate::table::{self, Table, statements};

impl Table for RememberedCall {
    statements!(
        "remembered_calls",
        ["company_id", "operation", "key"],
        ["body_hash", "worker_id", "answer", "contact_id", "expires_at"]
    );

    fn values(&self) -> Vec<Cell<'_>> {
        let (worker, answer) = match &self.state {
            CallState::InFlight { worker } => (Some(*worker), None),
            CallState::Answered { answer } => (None, Some(answer)),
        };
        vec![
            self.company.into(),
            (&self.key.operation).into(),
            (&self.key.key).into(),
            Cell::Bytes(&self.body_hash),
            worker.into(),
            answer.into(),
            self.contact.into(),
            self.expires_at.into(),
        ]
    }

    fn read(columns: &mut Columns<'_, '_>) -> ReadResult<Self> {
        let company = columns.id(CompanyId::new)?;
        let key = CallKey { operation: columns.text()?, key: columns.text()? };
        let body_hash = columns.bytes()?;
        let (worker, answer) = (columns.opt_id(WorkerId::new)?, columns.opt_text()?);
        let state = match worker {
            Some(worker) => CallState::InFlight { worker },
            None => CallState::Answered { answer: answer.unwrap_or_default() },
        };
        let contact = columns.opt_id(ContactId::new)?;
        Ok(Self { company, key, body_hash, state, contact, expires_at: columns.time()? })
    }
}

#[async_trait]
impl IdempotencyReads for SqliteStore {
    async fn remembered_call(
        &self,
        company: CompanyId,
        key: &CallKey,
    ) -> Result<Option<Stored<RememberedCall>>, StoreError> {
        let key = key.clone();
        self.read(move |conn| {
            table::get(conn, &[company.into(), (&key.operation).into(), (&key.key).into()])
        })
        .await
    }
}
