//! Remembered calls.

use async_trait::async_trait;
use recado_core::idempotency::{CallKey, CallState, IdempotencyReads, RememberedCall};
use recado_core::ids::{CompanyId, ContactId, WorkerId};
use recado_core::store::{StoreError, Stored};

use crate::PostgresStore;
use crate::session::get;
use crate::table::{Columns, Param, Table, params, table_sql, unreadable};

impl Table for RememberedCall {
    const NAME: &'static str = "remembered_calls";
    const KEY: usize = 3;
    const COLUMNS: &'static [&'static str] = &[
        "company_id",
        "operation",
        "key",
        "body_hash",
        "worker_id",
        "answer",
        "contact_id",
        "expires_at",
    ];
    table_sql!(RememberedCall);

    fn bind(self) -> Vec<Param> {
        let (worker, answer) = match self.state {
            CallState::InFlight { worker } => (Some(worker.uuid()), None),
            CallState::Answered { answer } => (None, Some(answer)),
        };
        params![
            self.company.uuid(),
            self.key.operation,
            self.key.key,
            self.body_hash.to_vec(),
            worker,
            answer,
            self.contact.map(ContactId::uuid),
            self.expires_at.millis(),
        ]
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            key: CallKey { operation: columns.get()?, key: columns.get()? },
            body_hash: columns
                .get::<&[u8]>()?
                .try_into()
                .map_err(|_| unreadable::<RememberedCall>())?,
            state: read_state(columns)?,
            contact: columns.id_or_null(ContactId::new)?,
            expires_at: columns.time()?,
        })
    }
}

fn read_state(columns: &mut Columns<'_>) -> Result<CallState, StoreError> {
    let worker = columns.id_or_null(WorkerId::new)?;
    let answer: Option<String> = columns.get()?;
    match (worker, answer) {
        (Some(worker), None) => Ok(CallState::InFlight { worker }),
        (None, Some(answer)) => Ok(CallState::Answered { answer }),
        _ => Err(unreadable::<CallState>()),
    }
}

#[async_trait]
impl IdempotencyReads for PostgresStore {
    async fn remembered_call(
        &self,
        company: CompanyId,
        key: &CallKey,
    ) -> Result<Option<Stored<RememberedCall>>, StoreError> {
        let params = params![company.uuid(), key.operation.clone(), key.key.clone()];
        get(&self.pool, params).await
    }
}
