//! What the message ids of providers refer to.

use std::sync::LazyLock;

use recado_core::Timestamp;
use recado_core::ids::{CompanyId, ConnectionId, ContactId};
use recado_core::messages::{MessageRef, ProviderMessageId, RefTarget, Referred};
use recado_core::store::CommitError;
use rusqlite::functions::FunctionFlags;
use rusqlite::params_from_iter;

use crate::cell::Cell;
use crate::database::Connection;
use crate::error::{ReadResult, commit_error};
use crate::table::{self};

/// Keeps each id of some messages `m` as forgotten until ?3 (R145): that of the message, and every
/// other one that refers to it, except standing ones, which no gateway reports. If the same id was
/// forgotten before, the row exists already.
pub(crate) fn forget_where(messages: &str) -> String {
    format!(
        "INSERT INTO message_refs \
         (company_id, connection_id, provider_id, status, expires_at, version) \
         SELECT company_id, connection_id, recado_trace(connection_id, provider_id), \
         'forgotten', ?3, 1 FROM (\
         SELECT m.company_id, m.connection_id, m.provider_id FROM messages AS m \
         WHERE {messages} AND m.provider_id IS NOT NULL \
         UNION SELECT r.company_id, r.connection_id, r.provider_id FROM messages AS m \
         CROSS JOIN message_refs AS r INDEXED BY message_refs_by_message \
         ON r.company_id = m.company_id AND r.message_id = m.id \
         WHERE {messages} AND substr(r.provider_id, 1, 1) <> char(9)\
         ) WHERE true \
         ON CONFLICT (company_id, connection_id, provider_id) DO UPDATE SET message_id = NULL, \
         status = excluded.status, error_type = NULL, error_code = NULL, error_message = NULL, \
         early = NULL, expires_at = excluded.expires_at, version = message_refs.version + 1"
    )
}

/// Of all messages of a contact.
static FORGET: LazyLock<String> =
    LazyLock::new(|| forget_where("m.company_id = ?1 AND m.contact_id = ?2"));

/// Registers on a connection the SQL function that [`forget_where`] calls.
pub(crate) fn add_trace(conn: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_DIRECTONLY;
    conn.create_scalar_function("recado_trace", 2, flags, |call| {
        let mut columns = [0; 16];
        let connection = call.get_raw(0).as_blob()?;
        if connection.len() == columns.len() {
            columns.copy_from_slice(connection);
        }
        let connection = ConnectionId::new(uuid::Uuid::from_bytes(columns));
        let id = ProviderMessageId::from_stored(call.get_raw(1).as_str()?.to_owned());
        Ok(id.trace(connection).as_str().to_owned())
    })
}

/// Keeps the ids of a contact's messages as forgotten.
pub(crate) fn forget(
    conn: &Connection,
    company: CompanyId,
    contact: ContactId,
    expires_at: Timestamp,
) -> Result<(), CommitError> {
    let values: [Cell<'_>; 3] = [company.into(), contact.into(), expires_at.into()];
    conn.prepare_cached(&FORGET)
        .and_then(|mut statement| statement.execute(params_from_iter(&values)))
        .map_err(commit_error)?;
    Ok(())
}

/// What these ids refer to on a connection. Unknown ids are left out.
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
            RefTarget::Early { .. } | RefTarget::Forgotten { .. } => None,
        };
        found.push(Referred { reference, message });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans;

    #[test]
    fn what_is_forgotten_is_found_by_its_contact() {
        let conn = plans::database();
        add_trace(&conn).unwrap();
        let steps = plans::steps(&conn, &FORGET);
        for table in ["m", "r"] {
            let search = format!("SEARCH {table} USING");
            assert!(steps.iter().any(|step| step.starts_with(&search)), "{table}: {steps:?}");
        }
        let is_scan = |step: &&String| step.starts_with("SCAN") && !step.contains("subquery");
        assert_eq!(steps.iter().find(is_scan), None, "{steps:?}");
    }
}
