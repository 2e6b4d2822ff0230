//! What has to hold of an offer as a whole (X12).

use std::collections::HashSet;

use super::offer_parts::{MAX_ROWS, SectionDraft};
use crate::messages::Offer;
use crate::problems::Problems;

/// Whether a text is the address of a page: https with a host, without spaces.
pub(super) fn is_page(url: &str) -> bool {
    let rest = url.strip_prefix("https://");
    let host = rest.and_then(|rest| rest.split(['/', '?', '#', '\\']).next());
    let host = host.map(|host| host.rsplit('@').next().unwrap_or_default());
    host.is_some_and(|host| !host.is_empty() && !host.starts_with(':'))
        && !url.chars().any(|c| c.is_whitespace() || c.is_control())
}

pub(super) fn check_sections(sections: &[SectionDraft], problems: &mut Problems) {
    let rows: usize = sections.iter().map(|section| section.rows.len()).sum();
    if rows > MAX_ROWS {
        problems.add("sections", format!("may hold at most {MAX_ROWS} rows in all"));
    }
    if sections.len() > 1 && sections.iter().any(|section| section.title.is_none()) {
        problems.add("sections", "need a title each, where there are several");
    }
}

pub(super) fn check_unique(offer: &Offer, problems: &mut Problems) {
    let buttons = offer.buttons.as_deref().unwrap_or_default();
    if has_twice(buttons.iter().map(|button| &button.id)) {
        problems.add("buttons", "may hold each id once only");
    }
    if has_twice(buttons.iter().map(|button| &button.title)) {
        problems.add("buttons", "may hold each title once only");
    }
    let rows = offer.sections.iter().flatten().flat_map(|section| &section.rows);
    if has_twice(rows.map(|row| &row.id)) {
        problems.add("sections", "may hold each id once only");
    }
}

fn has_twice<'a>(all: impl Iterator<Item = &'a Option<String>>) -> bool {
    let mut seen = HashSet::new();
    let mut all = all;
    all.any(|one| !seen.insert(one))
}
