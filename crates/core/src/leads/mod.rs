//! Lead memory: what an AI inferred about a contact (2.3, D45).

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::Timestamp;
use crate::ids::{CompanyId, ContactId};
use crate::store::{StoreError, Stored};

/// Budget, authority, need and timeline (2.3). Missing ones are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Bant {
    /// What they can spend.
    pub budget: String,
    /// A stable code in new records, free text in old ones (2.3.2).
    pub authority: String,
    /// The text behind the code; absent in old records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authority_raw: Option<String>,
    /// What they need.
    pub need: String,
    /// By when.
    pub timeline: String,
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
    /// How aware they are of their problem and of us.
    pub consciousness_level: String,
    /// Budget, authority, need, timeline.
    pub bant: Bant,
    /// At most 20.
    pub key_facts: Vec<String>,
    /// At most 10.
    pub products_interested: Vec<String>,
    /// At most 10.
    pub objections: Vec<String>,
    /// What was spoken of last.
    pub last_topic: String,
}

/// The lead memory of a contact; one row each, goes with the contact.
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

/// Reads of lead memories.
#[async_trait]
pub trait LeadReads: Send + Sync {
    /// The memory of a contact.
    async fn lead_memory(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Option<Stored<LeadMemory>>, StoreError>;
}
