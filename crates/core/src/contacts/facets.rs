//! Facets: the combination of values that the exact filters of the listing compare (4.1).
//!
//! A company has few combinations however many contacts it has. Stores count contacts by
//! combination, so that totals never scan, and index contacts by it, so that a page under any
//! combination of filters is a merge of a few index ranges.

use std::fmt;

use sha2::{Digest, Sha256};

use super::{AssigneeFilter, ContactFilter, CrmStatus, InboxStatus, Platform};
use crate::ids::StageId;

/// One combination.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Facets {
    /// The channel.
    pub source_platform: Platform,
    /// Open or resolved.
    pub inbox_status: InboxStatus,
    /// The focus stage.
    pub pipeline_stage_id: Option<StageId>,
    /// Standing in the CRM.
    pub crm_status: CrmStatus,
    /// Whether the service's AI is on.
    pub is_ai_enabled: bool,
    /// Whether it is a group chat.
    pub is_group: bool,
    /// Whether it is assigned to a member; to which one is a [`super::ContactSet`].
    pub is_assigned: bool,
    /// Whether it has unread messages.
    pub has_unread: bool,
}

/// Names a combination in 16 bytes: a truncated SHA-256 of its canonical text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FacetKey([u8; 16]);

impl FacetKey {
    /// The bytes, for stores.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Debug for FacetKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FacetKey({:032x})", u128::from_be_bytes(self.0))
    }
}

impl Facets {
    /// The key of this combination: equal combinations have equal keys, in every version. What was
    /// added later is named only where it is true, so that stored keys stay valid.
    pub fn key(&self) -> FacetKey {
        let stage = self.pipeline_stage_id.map(|stage| stage.to_string()).unwrap_or_default();
        let later = |flag: bool, name: &'static str| if flag { name } else { "" };
        let text = format!(
            "{}|{}|{stage}|{}|{}|{}{}{}",
            self.source_platform.as_str(),
            self.inbox_status,
            self.crm_status,
            self.is_ai_enabled,
            self.is_group,
            later(self.is_assigned, "|assigned"),
            later(self.has_unread, "|unread"),
        );
        let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
        let mut key = [0; 16];
        key.copy_from_slice(&digest[..16]);
        FacetKey(key)
    }

    /// Whether contacts of this combination pass the exact filters (4.1, D77, R270): all but
    /// `search`, the sets of [`ContactFilter::sets`] and the times of [`ContactFilter::since`].
    pub fn pass(&self, filter: &ContactFilter) -> bool {
        fn same<T: PartialEq>(wanted: Option<&T>, value: &T) -> bool {
            wanted.is_none_or(|wanted| wanted == value)
        }
        same(filter.source_platform.as_ref(), &self.source_platform)
            && same(filter.inbox_status.as_ref(), &self.inbox_status)
            && (filter.pipeline_stage_id.is_none()
                || filter.pipeline_stage_id == self.pipeline_stage_id)
            && same(filter.crm_status.as_ref(), &self.crm_status)
            && same(filter.is_ai_enabled.as_ref(), &self.is_ai_enabled)
            && same(filter.is_group.as_ref(), &self.is_group)
            && same(
                filter.assigned_to.map(|to| to != AssigneeFilter::Nobody).as_ref(),
                &self.is_assigned,
            )
            && same(filter.unread.as_ref(), &self.has_unread)
    }
}
