//! The listing of messages that a search finds (X17).
//!
//! Where few messages can be meant, as those of a contact, they are read one by one. Otherwise the
//! texts of the company are searched, and what is found is checked by its row if there are other
//! filters.

use recado_core::ids::CompanyId;
use recado_core::messages::{MessageFilter, MessageSearch};
use recado_core::page::PageRequest;

use crate::database::Connection;
use crate::error::ReadResult;
use crate::merge::Merged;
use crate::message_texts::{self, each_found};
use crate::messages_facets::Passing;
use crate::messages_listing::{Check, Picked, ranges};
use crate::newest_first::{IndexRange, SortKey, Span};

/// How many texts are searched in the time in which one message is read and folded.
const READING: u64 = 24;

/// One page of what a search finds, with the total of all pages.
pub(crate) fn page(
    conn: &Connection,
    company: CompanyId,
    (filter, search): (&MessageFilter, &MessageSearch),
    passing: &Passing,
    page: PageRequest,
) -> ReadResult<(Vec<SortKey>, u64)> {
    let span = Span::new(filter.from, filter.to);
    let ranges = ranges(company, filter, passing, span);
    let mut check = Check::new(conn, filter, passing)?;
    let mut picked = Picked::new(page);
    let are_few =
        meant(conn, filter, passing, &ranges)?.saturating_mul(READING) < passing.of_company;
    if are_few || !message_texts::are_complete(conn)? {
        let mut merged = Merged::new(ranges, None, u64::MAX);
        while let Some(key) = merged.next(conn)? {
            if check.passes(key)? && search.matches(&message_texts::text_of(conn, key.seq)?) {
                picked.add(key);
            }
        }
    } else {
        each_found(conn, company, span, search, |key| {
            if check.passes(key)? {
                picked.add(key);
            }
            Ok(())
        })?;
    }
    Ok(picked.into_page())
}

/// How many messages are to be read if they are read one by one: at most those of the combinations
/// that pass, or, of one contact and of quotes, those of the ranges.
fn meant(
    conn: &Connection,
    filter: &MessageFilter,
    passing: &Passing,
    ranges: &[IndexRange],
) -> ReadResult<u64> {
    if filter.contact.is_none() && filter.quoting.is_none() {
        return Ok(passing.total);
    }
    ranges.iter().map(|range| range.count(conn)).sum()
}

#[cfg(test)]
mod tests {
    use crate::plans;

    /// X17, R199: a search reads the texts of one company and one span of time, in order.
    #[test]
    fn texts_are_read_by_company_and_time_in_the_order_of_the_listing() {
        let conn = plans::database();
        assert_eq!(
            plans::step(&conn, crate::message_texts::FOUND),
            "SEARCH message_texts USING PRIMARY KEY (company_id=? AND created_at>? AND created_at<?)"
        );
    }
}
