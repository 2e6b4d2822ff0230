//! The promises of the store contract. Each runs on a database of its own.

mod harness;

use harness::fresh;

recado_testkit::conformance_suite!(fresh);

/// What reads and writes secrets, with secrets sealed.
mod sealed {
    use crate::harness::fresh_sealed;

    recado_testkit::conformance_suite!(fresh_sealed, topics: [
        commits, access, accounts, rows, contacts_draft, connections, conversations, channel_rows,
        unknown_events, outbound_rows, deliveries_due, reassign, upkeep
    ]);
}
