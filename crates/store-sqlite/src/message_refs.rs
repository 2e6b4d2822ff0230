//! What providers' message ids stand for.

use recado_core::ids::{CompanyId, ConnectionId, MessageId};
use recado_core::messages::{
    MessageRef, MessageStatus, ProviderMessageId, RefTarget, Referred, StatusReport,
};
use rusqlite::Connection;

use crate::cell::{Cell, Columns};
use crate::error::ReadResult;
use crate::messages::{failure_cells, read_failure};
use crate::table::{self, Table, statements};

impl Table for MessageRef {
    statements!(
        "message_refs",
        ["company_id", "connection_id", "provider_id"],
        ["message_id", "status", "error_type", "error_code", "error_message", "expires_at"]
    );

    fn values(&self) -> Vec<Cell<'_>> {
        let (message, report, expires_at) = match &self.target {
            RefTarget::Message(id) => (Some(*id), None, None),
            RefTarget::Report { report, expires_at } => (None, Some(report), Some(*expires_at)),
        };
        let [error_type, error_code, error_message] =
            failure_cells(report.and_then(|report| report.failure.as_ref()));
        vec![
            self.company.into(),
            self.connection.into(),
            self.provider_id.as_str().into(),
            message.into(),
            report.map(|report| report.status.as_str()).into(),
            error_type,
            error_code,
            error_message,
            expires_at.into(),
        ]
    }

    fn read(columns: &mut Columns<'_, '_>) -> ReadResult<Self> {
        let company = columns.id(CompanyId::new)?;
        let connection = columns.id(ConnectionId::new)?;
        let provider_id = ProviderMessageId::from_stored(columns.text()?);
        let target = match columns.opt_id(MessageId::new)? {
            Some(message) => {
                (0..5).for_each(|_| columns.skip());
                RefTarget::Message(message)
            }
            None => {
                let status = columns.word(MessageStatus::parse)?;
                let report = StatusReport { status, failure: read_failure(columns)? };
                RefTarget::Report { report, expires_at: columns.time()? }
            }
        };
        Ok(Self { company, connection, provider_id, target })
    }
}

/// What these ids stand for on a connection; unknown ones are left out.
pub(crate) fn referred(
    conn: &Connection,
    company: CompanyId,
    connection: ConnectionId,
    mut ids: Vec<ProviderMessageId>,
) -> ReadResult<Vec<Referred>> {
    ids.sort_unstable();
    ids.dedup();
    let mut found = Vec::with_capacity(ids.len());
    for id in &ids {
        let key = [company.into(), connection.into(), id.as_str().into()];
        let Some(reference) = table::get::<MessageRef>(conn, &key)? else { continue };
        let message = match reference.target {
            RefTarget::Message(id) => table::get(conn, &[company.into(), id.into()])?,
            RefTarget::Report { .. } => None,
        };
        found.push(Referred { reference, message });
    }
    Ok(found)
}
