//! Kinds of events that gateways sent and that no adapter recognizes.

use recado_core::gateway::UnknownKind;

use crate::record::record;

record! {
    UnknownKind in "unknown_kinds" key(company_id, connection_id, kind) {
        company("company_id"),
        connection("connection_id"),
        kind,
        shape,
        seen,
        first_at,
        last_at,
    }
}
