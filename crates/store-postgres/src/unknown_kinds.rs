//! Kinds of events that gateways told and their adapters did not know.

use recado_core::gateway::UnknownKind;
use recado_core::ids::{CompanyId, ConnectionId};
use recado_core::store::StoreError;

use crate::table::{Columns, Param, Table, params, signed, table_sql};

impl Table for UnknownKind {
    const NAME: &'static str = "unknown_kinds";
    const KEY: usize = 3;
    const COLUMNS: &'static [&'static str] =
        &["company_id", "connection_id", "kind", "shape", "seen", "first_at", "last_at"];
    table_sql!(UnknownKind);

    fn bind(self) -> Vec<Param> {
        params![
            self.company.uuid(),
            self.connection.uuid(),
            self.kind,
            self.shape,
            signed(self.seen),
            self.first_at.millis(),
            self.last_at.millis(),
        ]
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            connection: columns.id(ConnectionId::new)?,
            kind: columns.get()?,
            shape: columns.get()?,
            seen: columns.number()?,
            first_at: columns.time()?,
            last_at: columns.time()?,
        })
    }
}

/// Those of a connection, as the read of them promises.
pub(crate) const OF_CONNECTION: &str =
    "WHERE company_id = $1 AND connection_id = $2 ORDER BY last_at DESC, kind LIMIT 200";

/// Forgets kinds that were not met for long.
pub(crate) const FORGET: &str = "\
DELETE FROM unknown_kinds WHERE ctid = ANY(ARRAY(SELECT ctid FROM unknown_kinds \
WHERE last_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED))";
