//! Kinds of events that gateways sent and their adapters do not know.

use std::sync::LazyLock;

use recado_core::gateway::MAX_UNKNOWN_KINDS;

/// Those of a connection, as the read of them promises.
pub(crate) static OF_CONNECTION: LazyLock<String> = LazyLock::new(|| {
    format!(
        "WHERE company_id = $1 AND connection_id = $2 ORDER BY last_at DESC, kind \
         LIMIT {MAX_UNKNOWN_KINDS}"
    )
});

/// Removes kinds that were not reported for long.
pub(crate) const FORGET: &str = "\
DELETE FROM unknown_kinds WHERE ctid = ANY(ARRAY(SELECT ctid FROM unknown_kinds \
WHERE last_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED))";
