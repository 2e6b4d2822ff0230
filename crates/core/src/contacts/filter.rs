//! The filters of the contact listing (4.1, D7, D24).

use sha2::{Digest, Sha256};

use super::{CrmStatus, InboxStatus, Platform, SearchQuery};
use crate::ids::StageId;
use crate::query::{InvalidParameter, Params};

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
        let mut filter = Self {
            search,
            source_platform: source_platform.and_then(Platform::parse),
            inbox_status,
            pipeline_stage_id,
            crm_status: crm_status.and_then(CrmStatus::parse),
            is_ai_enabled: params.bool("is_ai_enabled")?,
            is_group: params.bool("is_group")?,
            matches_nothing: false,
        };
        filter.matches_nothing = (source_platform.is_some() && filter.source_platform.is_none())
            || (crm_status.is_some() && filter.crm_status.is_none());
        Ok(filter)
    }

    /// Whether any exact filter is set (`search` aside).
    pub fn has_exact(&self) -> bool {
        let without_search = Self { search: None, ..self.clone() };
        without_search != Self::default()
    }

    /// A digest of the filters, to bind export cursors to them (D25).
    pub fn digest(&self) -> [u8; 16] {
        let needles = self.search.as_ref().map(SearchQuery::needles).unwrap_or_default();
        let text = format!(
            "{needles:?}|{:?}|{:?}|{:?}|{:?}|{:?}|{:?}|{}",
            self.source_platform,
            self.inbox_status,
            self.pipeline_stage_id,
            self.crm_status,
            self.is_ai_enabled,
            self.is_group,
            self.matches_nothing,
        );
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

    const EXACT: [(&str, &str); 6] = [
        ("source_platform", "whatsapp"),
        ("inbox_status", "open"),
        ("pipeline_stage_id", "01939b5e-0000-7000-8000-000000000001"),
        ("crm_status", "lead"),
        ("is_ai_enabled", "true"),
        ("is_group", "false"),
    ];

    #[test]
    fn every_filter_but_search_is_exact() {
        assert!(!filter(&[]).has_exact());
        assert!(!filter(&[("search", "Ana")]).has_exact());
        for exact in EXACT {
            assert!(filter(&[exact]).has_exact(), "{exact:?}");
            assert!(filter(&[exact, ("search", "Ana")]).has_exact(), "{exact:?}");
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
        let mut all: Vec<[u8; 16]> =
            EXACT.into_iter().chain(searches).map(|pair| filter(&[pair]).digest()).collect();
        all.push(filter(&[]).digest());
        all.push(filter(&[("crm_status", "friend")]).digest());
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), EXACT.len() + searches.len() + 2);
    }
}
