//! Lead memory: what an AI inferred about a contact (2.3, D45).

mod lead;
mod manage;
mod merge;

pub use lead::{
    AUTHORITY_CODES, Bant, Inferred, KEY_FACTS, LeadMemory, LeadMemoryView, OBJECTIONS, PRODUCTS,
    display_authority, group_authority, write,
};
pub use manage::{Leads, WriteMemory};
pub use merge::{BantUpdate, MemoryUpdate, WholeMemory, authority_code, united};
