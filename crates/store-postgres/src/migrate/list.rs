//! The list of migrations.

use sha2::{Digest, Sha256};

/// One migration. Never change one that was released: add another one.
pub(super) struct Migration {
    pub(super) version: i32,
    pub(super) name: &'static str,
    pub(super) sql: &'static str,
}

/// All migrations, by their version.
pub(super) const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, name: "base", sql: include_str!("../migrations/0001_base.sql") },
    Migration {
        version: 2,
        name: "contacts",
        sql: include_str!("../migrations/0002_contacts.sql"),
    },
    Migration {
        version: 3,
        name: "conversations",
        sql: include_str!("../migrations/0003_conversations.sql"),
    },
    Migration {
        version: 4,
        name: "webhooks",
        sql: include_str!("../migrations/0004_webhooks.sql"),
    },
    Migration {
        version: 5,
        name: "campaigns",
        sql: include_str!("../migrations/0005_campaigns.sql"),
    },
    Migration {
        version: 6,
        name: "gateways",
        sql: include_str!("../migrations/0006_gateways.sql"),
    },
    Migration { version: 7, name: "rates", sql: include_str!("../migrations/0007_rates.sql") },
    Migration {
        version: 8,
        name: "template_needs",
        sql: include_str!("../migrations/0008_template_needs.sql"),
    },
    Migration {
        version: 9,
        name: "participants",
        sql: include_str!("../migrations/0009_participants.sql"),
    },
    Migration { version: 10, name: "reports", sql: include_str!("../migrations/0010_reports.sql") },
    Migration {
        version: 11,
        name: "participants_of_groups",
        sql: include_str!("../migrations/0011_participants_of_groups.sql"),
    },
    Migration { version: 12, name: "blocks", sql: include_str!("../migrations/0012_blocks.sql") },
    Migration {
        version: 13,
        name: "unknown_events",
        sql: include_str!("../migrations/0013_unknown_events.sql"),
    },
    Migration {
        version: 14,
        name: "changes_of_messages",
        sql: include_str!("../migrations/0014_changes_of_messages.sql"),
    },
    Migration {
        version: 15,
        name: "sealed_secrets",
        sql: include_str!("../migrations/0015_sealed_secrets.sql"),
    },
    Migration { version: 16, name: "erasure", sql: include_str!("../migrations/0016_erasure.sql") },
    Migration {
        version: 17,
        name: "keys_and_hashes",
        sql: include_str!("../migrations/0017_keys_and_hashes.sql"),
    },
    Migration {
        version: 18,
        name: "clicks_and_removal",
        sql: include_str!("../migrations/0018_clicks_and_removal.sql"),
    },
    Migration {
        version: 19,
        name: "sealed_media",
        sql: include_str!("../migrations/0019_sealed_media.sql"),
    },
    Migration { version: 20, name: "halts", sql: include_str!("../migrations/0020_halts.sql") },
    Migration {
        version: 21,
        name: "sets_of_contacts",
        sql: include_str!("../migrations/0021_sets_of_contacts.sql"),
    },
    Migration { version: 22, name: "uploads", sql: include_str!("../migrations/0022_uploads.sql") },
    Migration {
        version: 23,
        name: "template_parts",
        sql: include_str!("../migrations/0023_template_parts.sql"),
    },
    Migration {
        version: 24,
        name: "message_search",
        sql: include_str!("../migrations/0024_message_search.sql"),
    },
    Migration {
        version: 25,
        name: "campaign_plan",
        sql: include_str!("../migrations/0025_campaign_plan.sql"),
    },
    Migration {
        version: 26,
        name: "operator_tokens",
        sql: include_str!("../migrations/0026_operator_tokens.sql"),
    },
    Migration {
        version: 27,
        name: "audit_entries",
        sql: include_str!("../migrations/0027_audit_entries.sql"),
    },
    Migration { version: 28, name: "logins", sql: include_str!("../migrations/0028_logins.sql") },
    Migration {
        version: 29,
        name: "remembered_opt_outs",
        sql: include_str!("../migrations/0029_remembered_opt_outs.sql"),
    },
    Migration {
        version: 30,
        name: "opted_out_contacts",
        sql: include_str!("../migrations/0030_opted_out_contacts.sql"),
    },
    Migration {
        version: 31,
        name: "statuses_and_outcomes",
        sql: include_str!("../migrations/0031_statuses_and_outcomes.sql"),
    },
    Migration {
        version: 32,
        name: "login_subjects",
        sql: include_str!("../migrations/0032_login_subjects.sql"),
    },
    Migration {
        version: 33,
        name: "messages_by_statement",
        sql: include_str!("../migrations/0033_messages_by_statement.sql"),
    },
    Migration {
        version: 34,
        name: "order_of_contacts",
        sql: include_str!("../migrations/0034_order_of_contacts.sql"),
    },
    Migration {
        version: 35,
        name: "charges_together",
        sql: include_str!("../migrations/0035_charges_together.sql"),
    },
    Migration {
        version: 36,
        name: "totals_of_contacts",
        sql: include_str!("../migrations/0036_totals_of_contacts.sql"),
    },
    Migration {
        version: 37,
        name: "listings_of_contacts",
        sql: include_str!("../migrations/0037_listings_of_contacts.sql"),
    },
    Migration {
        version: 38,
        name: "messages_in_flight_by_sender",
        sql: include_str!("../migrations/0038_messages_in_flight_by_sender.sql"),
    },
    Migration {
        version: 39,
        name: "aliases_by_contact",
        sql: include_str!("../migrations/0039_aliases_by_contact.sql"),
    },
    Migration {
        version: 40,
        name: "totals_of_campaigns",
        sql: include_str!("../migrations/0040_totals_of_campaigns.sql"),
    },
    Migration { version: 41, name: "shards", sql: include_str!("../migrations/0041_shards.sql") },
    Migration {
        version: 42,
        name: "references_by_statement",
        sql: include_str!("../migrations/0042_references_by_statement.sql"),
    },
    Migration {
        version: 43,
        name: "moved_to_cells",
        sql: include_str!("../migrations/0043_moved_to_cells.sql"),
    },
    Migration {
        version: 44,
        name: "number_of_shards",
        sql: include_str!("../migrations/0044_number_of_shards.sql"),
    },
    Migration {
        version: 45,
        name: "flags_of_messages",
        sql: include_str!("../migrations/0045_flags_of_messages.sql"),
    },
];

impl Migration {
    /// What tells it from another one of the same number.
    pub(super) fn checksum(&self) -> String {
        Sha256::digest(self.sql).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
