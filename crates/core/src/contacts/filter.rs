//! The filters of the contact listing (4.1, D7, D24, D77).

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use super::{ContactSet, CrmStatus, InboxStatus, Platform, SearchQuery};
use crate::Timestamp;
use crate::ids::{CompanyId, ConnectionId, ListId, MemberId, StageId, TagId};
use crate::query::{InvalidParameter, Params, since_bound};

/// To whom a contact is assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssigneeFilter {
    /// To nobody: `none`.
    Nobody,
    /// To this member.
    Member(MemberId),
}

impl AssigneeFilter {
    /// Reads `assigned_to`: a member's id, or `none` (D77).
    fn parse(text: &str) -> Option<Self> {
        match text {
            "none" => Some(Self::Nobody),
            id => MemberId::parse(id).map(Self::Member),
        }
    }
}

/// Which contacts a listing contains; a field that is `None` does not filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContactFilter {
    /// A substring of name, display name, e-mail, identifier or phone (D24).
    pub search: Option<SearchQuery>,
    /// The channel.
    pub source_platform: Option<Platform>,
    /// Open or resolved.
    pub inbox_status: Option<InboxStatus>,
    /// The focus stage (2.5.1).
    pub pipeline_stage_id: Option<StageId>,
    /// Standing in the CRM.
    pub crm_status: Option<CrmStatus>,
    /// Whether the service's AI is on.
    pub is_ai_enabled: Option<bool>,
    /// Groups only, or people only.
    pub is_group: Option<bool>,
    /// In this list.
    pub list: Option<ListId>,
    /// With this tag.
    pub tag: Option<TagId>,
    /// Assigned to this member, or to nobody.
    pub assigned_to: Option<AssigneeFilter>,
    /// With unread messages, or without any (R270).
    pub unread: Option<bool>,
    /// Asked not to be written to; the company is that of the listing. It is not read from a query
    /// string.
    pub opted_out_of: Option<CompanyId>,
    /// Whose last message went through this connection. It is not read from a query string.
    pub connection: Option<ConnectionId>,
    /// Not changed before this time.
    pub updated_since: Option<Timestamp>,
    /// Without a message before this time being the last one: a contact without messages never
    /// passes.
    pub active_since: Option<Timestamp>,
    /// A filter has a value that no contact can have: nothing matches (D7).
    pub matches_nothing: bool,
}

impl ContactFilter {
    /// Reads the filters of a query string.
    ///
    /// # Errors
    ///
    /// The first parameter that cannot be read (D7). Values of `crm_status` and `source_platform`
    /// that no contact has are no error: they match nothing.
    pub fn parse(params: &Params) -> Result<Self, InvalidParameter> {
        let search = match params.text("search")? {
            Some(text) => SearchQuery::parse(text)
                .map_err(|error| InvalidParameter::new("search", error.to_string()))?,
            None => None,
        };
        let source_platform = params.text("source_platform")?;
        let inbox_status = params.read("inbox_status", "open or resolved", InboxStatus::parse)?;
        let pipeline_stage_id = params.read("pipeline_stage_id", "a UUID", StageId::parse)?;
        let crm_status = params.text("crm_status")?;
        let a_member = "a member's UUID, or none";
        let mut filter = Self {
            search,
            source_platform: source_platform.and_then(Platform::parse),
            inbox_status,
            pipeline_stage_id,
            crm_status: crm_status.and_then(CrmStatus::parse),
            is_ai_enabled: params.bool("is_ai_enabled")?,
            is_group: params.bool("is_group")?,
            list: params.read("list_id", "a UUID", ListId::parse)?,
            tag: params.read("tag_id", "a UUID", TagId::parse)?,
            assigned_to: params.read("assigned_to", a_member, AssigneeFilter::parse)?,
            unread: params.bool("unread")?,
            opted_out_of: None,
            connection: None,
            updated_since: since_bound(params, "updated_since")?,
            active_since: since_bound(params, "active_since")?,
            matches_nothing: false,
        };
        filter.matches_nothing = (source_platform.is_some() && filter.source_platform.is_none())
            || (crm_status.is_some() && filter.crm_status.is_none());
        Ok(filter)
    }

    /// Whether a filter is set that compares facets ([`super::Facets::pass`]).
    pub fn has_exact(&self) -> bool {
        self.source_platform.is_some()
            || self.inbox_status.is_some()
            || self.pipeline_stage_id.is_some()
            || self.crm_status.is_some()
            || self.is_ai_enabled.is_some()
            || self.is_group.is_some()
            || self.assigned_to.is_some()
            || self.unread.is_some()
            || self.matches_nothing
    }

    /// The sets that a contact must be in, all of them (D77). A set of another company is empty.
    pub fn sets(&self) -> Vec<ContactSet> {
        let member = match self.assigned_to {
            Some(AssigneeFilter::Member(member)) => Some(ContactSet::Member(member)),
            Some(AssigneeFilter::Nobody) | None => None,
        };
        let list = self.list.map(ContactSet::List);
        let opted_out = self.opted_out_of.map(ContactSet::OptedOut);
        let tag = self.tag.map(ContactSet::Tag);
        let connection = self.connection.map(ContactSet::Connection);
        [list, tag, member, opted_out, connection].into_iter().flatten().collect()
    }

    /// Whether a contact's times pass `updated_since` and `active_since`, both inclusive (D77).
    pub fn since(&self, updated_at: Timestamp, last_message_at: Option<Timestamp>) -> bool {
        self.updated_since.is_none_or(|since| updated_at >= since)
            && self.active_since.is_none_or(|since| last_message_at >= Some(since))
    }

    /// A digest of the filters, to bind export cursors to them (D25).
    pub fn digest(&self) -> [u8; 16] {
        let needles = self.search.as_ref().map(SearchQuery::needles).unwrap_or_default();
        let mut text = format!(
            "{needles:?}|{:?}|{:?}|{:?}|{:?}|{:?}|{:?}|{}",
            self.source_platform,
            self.inbox_status,
            self.pipeline_stage_id,
            self.crm_status,
            self.is_ai_enabled,
            self.is_group,
            self.matches_nothing,
        );
        // What was added later is named only where it is given, so that cursors stay valid.
        for set in self.sets() {
            let _ = write!(text, "|{set:?}");
        }
        if self.assigned_to == Some(AssigneeFilter::Nobody) {
            text.push_str("|unassigned");
        }
        if let Some(unread) = self.unread {
            let _ = write!(text, "|unread={unread}");
        }
        for (name, since) in [("updated", self.updated_since), ("active", self.active_since)] {
            if let Some(since) = since {
                let _ = write!(text, "|{name}>={}", since.millis());
            }
        }
        let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
        let mut short = [0; 16];
        short.copy_from_slice(&digest[..16]);
        short
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(pairs: &[(&str, &str)]) -> ContactFilter {
        let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        ContactFilter::parse(&Params::new(pairs.collect())).expect("acceptable filters")
    }

    const EXACT: [(&str, &str); 9] = [
        ("source_platform", "whatsapp"),
        ("inbox_status", "open"),
        ("pipeline_stage_id", "01939b5e-0000-7000-8000-000000000001"),
        ("crm_status", "lead"),
        ("is_ai_enabled", "true"),
        ("is_group", "false"),
        ("assigned_to", "none"),
        ("assigned_to", "01939b5e-0000-7000-8000-000000000001"),
        ("unread", "true"),
    ];

    const OTHERS: [(&str, &str); 5] = [
        ("list_id", "01939b5e-0000-7000-8000-000000000001"),
        ("tag_id", "01939b5e-0000-7000-8000-000000000001"),
        ("updated_since", "2026-11-20T10:00:00Z"),
        ("active_since", "2026-11-20T10:00:00Z"),
        ("active_since", "2026-11-20"),
    ];

    #[test]
    fn exact_filters_are_those_that_compare_facets() {
        assert!(!filter(&[]).has_exact());
        assert!(!filter(&[("search", "Ana")]).has_exact());
        for exact in EXACT {
            assert!(filter(&[exact]).has_exact(), "{exact:?}");
            assert!(filter(&[exact, ("search", "Ana")]).has_exact(), "{exact:?}");
        }
        for other in OTHERS {
            assert!(!filter(&[other]).has_exact(), "{other:?}");
        }
    }

    /// D7.
    #[test]
    fn a_value_that_no_contact_has_matches_nothing() {
        for exact in EXACT {
            assert!(!filter(&[exact]).matches_nothing, "{exact:?}");
        }
        for unknown in [("source_platform", "?!"), ("crm_status", "friend")] {
            assert!(filter(&[unknown]).matches_nothing, "{unknown:?}");
            assert!(filter(&[unknown, ("inbox_status", "open")]).matches_nothing, "{unknown:?}");
        }
    }

    /// D25.
    #[test]
    fn filters_that_differ_have_different_digests() {
        let searches = [("search", "Ana"), ("search", "Bia"), ("search", "98765-4321")];
        let mut all: Vec<[u8; 16]> = EXACT
            .into_iter()
            .chain(OTHERS)
            .chain(searches)
            .map(|pair| filter(&[pair]).digest())
            .collect();
        all.push(filter(&[("unread", "false")]).digest());
        all.push(filter(&[]).digest());
        all.push(filter(&[("crm_status", "friend")]).digest());
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), EXACT.len() + OTHERS.len() + searches.len() + 3);
    }

    /// D25: a cursor of an earlier release, which knew fewer filters, is still valid.
    #[test]
    fn the_digest_of_earlier_filters_stays() {
        let text = "[]|None|Some(Open)|None|None|None|None|false";
        let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
        assert_eq!(filter(&[("inbox_status", "open")]).digest(), digest[..16]);
    }

    /// D77.
    #[test]
    fn both_times_are_inclusive_and_no_message_is_never_recent() {
        let at = Timestamp::from_millis;
        let updated =
            |since| ContactFilter { updated_since: Some(at(since)), ..Default::default() };
        let active = |since| ContactFilter { active_since: Some(at(since)), ..Default::default() };
        assert!(updated(1_000).since(at(1_000), None) && !updated(1_001).since(at(1_000), None));
        assert!(!active(i64::MIN).since(at(1_000), None));
        assert!(active(2_000).since(at(1_000), Some(at(2_000))));
        assert!(!active(2_001).since(at(1_000), Some(at(2_000))));
        let both = ContactFilter { updated_since: Some(at(1_001)), ..active(2_000) };
        assert!(!both.since(at(1_000), Some(at(2_000))));
    }
}
