//! Lead memories.

use recado_core::leads::{Inferred, LeadMemory};

use crate::field::json;
use crate::record::record;

record! {
    LeadMemory in "lead_memories" key(company_id, contact_id) {
        company("company_id"),
        contact("contact_id"),
        version("memory_version"),
        inferred,
        interaction_count,
        first_interaction_at,
        last_memory_update_at,
    }
}

json! { Inferred }
