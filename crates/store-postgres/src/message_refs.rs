//! What the message ids of providers refer to.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use recado_core::Timestamp;
use recado_core::ids::{CompanyId, ConnectionId, ContactId};
use recado_core::messages::{Message, MessageRef, ProviderMessageId, Referred};
use recado_core::store::StoreError;

use crate::PostgresStore;
use crate::columns::Columns;
use crate::commit::CommitStep;
use crate::param::params;
use crate::recipients::TAKE_LONG;
use crate::session::rows;
use crate::table::columns_of;

/// Keeps each id of the messages `m` of a table as forgotten until `$3` (R145). The stored value is
/// computed as in the core. Every id that refers to a message counts, except standing ones, which
/// no gateway reports. If the same id was forgotten before, the row exists already.
pub(crate) fn forget_of(table: &str, condition: &str) -> String {
    format!(
        "INSERT INTO message_refs AS r \
         (company_id, connection_id, provider_id, report_status, expires_at, version) \
         SELECT company_id, connection_id, chr(9) || \
         encode(sha256(convert_to(connection_id::text || provider_id, 'UTF8')), 'hex') AS trace, \
         'forgotten', $3::bigint, 1 FROM (\
         SELECT m.company_id, m.connection_id, m.provider_id FROM {table} m \
         WHERE {condition} AND m.provider_id IS NOT NULL \
         UNION SELECT m.company_id, x.connection_id, x.provider_id FROM {table} m \
         CROSS JOIN LATERAL (SELECT connection_id, provider_id FROM message_refs \
         WHERE company_id = m.company_id AND message_id = m.id OFFSET 0) AS x \
         WHERE {condition} AND left(x.provider_id, 1) <> chr(9)) AS ids \
         ORDER BY connection_id, trace \
         ON CONFLICT (company_id, connection_id, provider_id) DO UPDATE SET message_id = NULL, \
         report_status = excluded.report_status, error_type = NULL, error_code = NULL, \
         error_message = NULL, early = NULL, expires_at = excluded.expires_at, \
         version = r.version + 1"
    )
}

/// Of all messages of a contact.
pub(crate) static FORGET: LazyLock<String> =
    LazyLock::new(|| forget_of("messages", "m.company_id = $1 AND m.contact_id = $2"));

/// The steps that keep the ids of a contact's messages as forgotten. The contact must be locked
/// before, so that no message can be inserted for it.
pub(crate) fn forget(
    company: CompanyId,
    contact: ContactId,
    expires_at: Timestamp,
) -> [CommitStep; 2] {
    let params = params![company.uuid(), contact.uuid(), expires_at.millis()];
    [CommitStep::new(TAKE_LONG, Vec::new(), None), CommitStep::new(&FORGET, params, None)]
}

/// What these ids refer to, with the messages. Each id is looked up separately: the planner might
/// otherwise read all messages of a connection that it estimates to be small.
pub(crate) static REFERRED: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {}, {} FROM unnest($3::text[]) AS wanted (provider_id) \
         CROSS JOIN LATERAL (SELECT * FROM message_refs WHERE company_id = $1 \
         AND connection_id = $2 AND provider_id = wanted.provider_id OFFSET 0) AS r \
         LEFT JOIN LATERAL (SELECT * FROM messages WHERE company_id = $1 \
         AND id = r.message_id OFFSET 0) AS m ON true",
        columns_of::<MessageRef>("r"),
        columns_of::<Message>("m"),
    )
});

impl PostgresStore {
    pub(crate) async fn references(
        &self,
        company: CompanyId,
        connection: ConnectionId,
        ids: &[ProviderMessageId],
    ) -> Result<Vec<Referred>, StoreError> {
        let ids: BTreeSet<&str> = ids.iter().map(ProviderMessageId::as_str).collect();
        let ids: Vec<String> = ids.into_iter().map(str::to_owned).collect();
        let params = params![company.uuid(), connection.uuid(), ids];
        let found = rows(&self.pool, REFERRED.as_str(), params).await?;
        let read = |row| {
            let mut columns = Columns::new(row);
            let reference = columns.stored()?;
            let message = match columns.is_present()? {
                true => Some(columns.stored_sealed(self.pool.sealer())?),
                false => None,
            };
            Ok(Referred { reference, message })
        };
        found.iter().map(read).collect()
    }
}
