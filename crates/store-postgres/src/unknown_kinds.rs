//! Kinds of events that gateways sent and that their adapters do not recognize.

use std::sync::LazyLock;

use recado_core::gateway::MAX_UNKNOWN_KINDS;

/// The unknown kinds of a connection, in the order that the contract states.
pub(crate) static OF_CONNECTION: LazyLock<String> = LazyLock::new(|| {
    format!(
        "WHERE company_id = $1 AND connection_id = $2 ORDER BY last_at DESC, kind \
         LIMIT {MAX_UNKNOWN_KINDS}"
    )
});

/// Deletes kinds that were last reported long ago.
pub(crate) const FORGET: &str = "\
DELETE FROM unknown_kinds WHERE ctid = ANY(ARRAY(SELECT ctid FROM unknown_kinds \
WHERE last_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED))";
