//! A lead memory, and the bodies that change one.

use serde::{Deserialize, Serialize};

use crate::Timestamp;
use crate::ids::{CompanyId, ContactId};

/// The most `key_facts` (8).
pub const KEY_FACTS: usize = 20;

/// The most `products_interested` (8).
pub const PRODUCTS: usize = 10;

/// The most `objections` (8).
pub const OBJECTIONS: usize = 10;

/// What `bant.authority` says in new records (D45).
pub const AUTHORITY_CODES: [&str; 4] = ["decision_maker", "influencer", "user", "unknown"];

/// The code for somebody about whose authority nothing is known (D45).
pub(super) const UNKNOWN_AUTHORITY: &str = "unknown";

/// Budget, authority, need and timeline (2.3). Missing ones are empty, but for the authority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Bant {
    /// What they can spend.
    pub budget: String,
    /// A stable code in new records, free text in old ones (2.3.2).
    pub authority: String,
    /// The text behind the code; absent in old records, and while nothing was said about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authority_raw: Option<String>,
    /// What they need.
    pub need: String,
    /// By when.
    pub timeline: String,
}

/// Nothing said: the authority is the code for that, without a text behind it (D45).
impl Default for Bant {
    fn default() -> Self {
        Self {
            budget: String::new(),
            authority: UNKNOWN_AUTHORITY.to_owned(),
            authority_raw: None,
            need: String::new(),
            timeline: String::new(),
        }
    }
}

impl Bant {
    /// Whether nothing is known of the authority.
    pub(super) fn lacks_authority(&self) -> bool {
        self.authority_raw.is_none() && [UNKNOWN_AUTHORITY, ""].contains(&self.authority.as_str())
    }
}

/// What was inferred, as it is stored and shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Inferred {
    /// A summary.
    pub summary: String,
    /// The mood.
    pub sentiment: String,
    /// What they want.
    pub intent: String,
    /// How aware they are of their problem and of the company's offer.
    pub consciousness_level: String,
    /// Budget, authority, need, timeline.
    pub bant: Bant,
    /// At most 20.
    pub key_facts: Vec<String>,
    /// At most 10.
    pub products_interested: Vec<String>,
    /// At most 10.
    pub objections: Vec<String>,
    /// The topic discussed last.
    pub last_topic: String,
}

/// The lead memory of a contact: one row for each contact, deleted with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeadMemory {
    /// The company.
    pub company: CompanyId,
    /// The contact.
    pub contact: ContactId,
    /// How often it was written, from 1.
    pub version: u32,
    /// What was inferred; stores keep it as JSON text.
    pub inferred: Inferred,
    /// How many interactions went into it.
    pub interaction_count: u32,
    /// The first of them.
    pub first_interaction_at: Timestamp,
    /// When it was last written.
    pub last_memory_update_at: Timestamp,
}

/// The authority as people read it: the text behind the code where there is one, else what stands
/// in `authority` (2.3.2).
pub fn display_authority(bant: &Bant) -> &str {
    match bant.authority_raw.as_deref() {
        Some(raw) if !raw.is_empty() => raw,
        Some(_) | None => &bant.authority,
    }
}

/// The authority to group or count by: the code, and nothing for an old record, whose text is no
/// code (2.3.2).
pub fn group_authority(bant: &Bant) -> Option<&str> {
    bant.authority_raw.as_ref().map(|_| bant.authority.as_str())
}

/// The memory after one more write: version and interactions grow by one, the times are those of
/// the write (D45).
pub fn write(
    (company, contact): (CompanyId, ContactId),
    known: Option<&LeadMemory>,
    inferred: Inferred,
    now: Timestamp,
) -> LeadMemory {
    LeadMemory {
        company,
        contact,
        version: known.map_or(0, |known| known.version).saturating_add(1),
        inferred,
        interaction_count: known.map_or(0, |known| known.interaction_count).saturating_add(1),
        first_interaction_at: known.map_or(now, |known| known.first_interaction_at),
        last_memory_update_at: now,
    }
}

/// A lead memory as it is shown (2.3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct LeadMemoryView {
    /// How often it was written, from 1.
    pub version: u32,
    /// What was inferred.
    #[serde(flatten)]
    pub inferred: Inferred,
    /// How many interactions went into it.
    pub interaction_count: u32,
    /// The first of them.
    pub first_interaction_at: Timestamp,
    /// When it was last written.
    pub last_memory_update_at: Timestamp,
}

impl LeadMemoryView {
    /// The memory as it is shown.
    pub fn new(memory: &LeadMemory) -> Self {
        Self {
            version: memory.version,
            inferred: memory.inferred.clone(),
            interaction_count: memory.interaction_count,
            first_interaction_at: memory.first_interaction_at,
            last_memory_update_at: memory.last_memory_update_at,
        }
    }
}
