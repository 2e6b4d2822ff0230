//! Filters of the listing that no index has in order together: a search, times, a second set.
//!
//! One of them is the source of the contacts that are found, and the others are checked for each of
//! these. The source is the search (by trigrams, then by the text itself). Without a search it is
//! the smallest set, or the contacts of a time if these are fewer.

use recado_core::contacts::{ContactFilter, ContactSet, SearchQuery};
use recado_core::ids::CompanyId;

use crate::contacts_listing::{Listing, ListingOrder, OF_ALL, SetRows};
use crate::param::Param;

/// The number of hits from which the contacts are read in the order of the listing. Looking up this
/// many contacts takes about as long as reading up to a page of them in a company of a million
/// contacts.
const MANY_HITS: u32 = 2_000;

/// Whether a filter has to be applied by finding contacts. Otherwise the listing is read in order.
pub(crate) fn narrows(filter: &ContactFilter) -> bool {
    filter.search.is_some()
        || filter.updated_since.is_some()
        || filter.active_since.is_some()
        || filter.sets().len() > 1
}

/// A filter that contacts are found by.
struct Source {
    /// The contacts `t` that it finds. `OFFSET 0` keeps the planner from joining them in another
    /// order.
    found: String,
    /// The condition on `t` that this one is fulfilled, where another one or the search is the
    /// source.
    check: String,
    /// How many contacts it finds, if that is counted.
    count: Option<String>,
}

fn set_source(listing: &mut Listing<'_>, set: ContactSet) -> Source {
    let SetRows { table, condition, counts, has } = listing.set(set, ListingOrder::Creation);
    Source {
        found: format!(
            "(SELECT contact_id, facet FROM {table} WHERE company_id = $1 \
             AND {condition} OFFSET 0) AS t WHERE true"
        ),
        check: format!("AND EXISTS (SELECT FROM {has} OFFSET 0)"),
        count: Some(format!("(SELECT coalesce(sum(n), 0)::bigint FROM {counts} AS k)")),
    }
}

/// The contacts of a time: the table that has an index of it, its column with their ids, and the
/// column with the time, which contacts have, too.
fn time_source(listing: &mut Listing<'_>, table: (&str, &str, &str), since: i64) -> Source {
    let since = listing.bind(Param::Int(since));
    let (table, id, column) = table;
    Source {
        found: format!(
            "(SELECT {id} AS contact_id, facet FROM {table} WHERE company_id = $1 \
             AND {column} >= {since}::bigint OFFSET 0) AS t WHERE true"
        ),
        check: format!(
            "AND EXISTS (SELECT FROM contacts w WHERE w.company_id = $1 AND w.id = t.contact_id \
             AND w.{column} >= {since}::bigint OFFSET 0)"
        ),
        count: None,
    }
}

/// What the contacts `t` of a search fulfil: `found` by the index, `matching` by their text.
struct SearchTerms {
    found: String,
    matching: String,
}

/// `IS TRUE` keeps the planner from finding all contacts of the company by their key.
fn search_terms(listing: &mut Listing<'_>, search: &SearchQuery) -> SearchTerms {
    let needles = search.needles();
    let query = listing.bind(Param::Text(trigram_query(listing.company, search).into()));
    let mut needle =
        |text: Option<&String>| listing.bind(Param::Text(text.cloned().unwrap_or_default().into()));
    let (first, last) = (needle(needles.first()), needle(needles.last()));
    SearchTerms {
        found: format!(
            "recado_trigrams(t.company_id, t.search_text) @@ {query}::text::tsquery \
             AND (t.company_id = $1) IS TRUE"
        ),
        matching: format!(
            "(strpos(t.search_text, {first}) > 0 OR strpos(t.search_text, {last}) > 0)"
        ),
    }
}

/// `choice`: the number of the source that finds fewest contacts. The sets come first and know how
/// many they have. The contacts of a time are counted only as far as there are fewer of them. Of
/// two times, the first one is taken.
fn choice(sources: &[Source]) -> String {
    let counts = sources
        .iter()
        .enumerate()
        .filter_map(|(at, source)| source.count.as_ref().map(|count| format!("({at}, {count})")));
    let counts: Vec<String> = counts.collect();
    let sets = counts.len();
    if sets == 0 {
        return "choice AS MATERIALIZED (SELECT 0 AS source)".to_owned();
    }
    let least = format!(
        "least AS MATERIALIZED (SELECT k.source, k.n FROM (VALUES {}) AS k (source, n) \
         ORDER BY k.n, k.source LIMIT 1)",
        counts.join(", "),
    );
    let of_set = "(SELECT source FROM least)";
    let source = match sources.get(sets) {
        None => of_set.to_owned(),
        Some(time) => format!(
            "CASE WHEN (SELECT count(*) FROM (SELECT FROM {} LIMIT (SELECT n FROM least)) AS few) \
             < (SELECT n FROM least) THEN {sets} ELSE {of_set} END",
            time.found,
        ),
    };
    format!("{least}, choice AS MATERIALIZED (SELECT {source} AS source)")
}

/// The condition on `t` that its combination passes the exact filters.
fn exact(filter: &ContactFilter) -> &'static str {
    match filter.has_exact() {
        true => "AND (t.facet IN (SELECT facet FROM facets)) IS TRUE",
        false => "",
    }
}

/// The sources of a filter but its search.
fn sources(listing: &mut Listing<'_>) -> Vec<Source> {
    let filter = listing.filter;
    let sets = filter.sets().into_iter().map(|set| set_source(listing, set));
    let mut sources: Vec<Source> = sets.collect();
    let times = [
        (("contact_listings", "contact_id", "updated_at"), filter.updated_since),
        (("contact_orders", "contact_id", "last_message_at"), filter.active_since),
    ];
    for (table, since) in times {
        sources.extend(since.map(|since| time_source(listing, table, since.millis())));
    }
    sources
}

/// `hits`: all contacts that are found and pass the exact filters.
fn hits(listing: &mut Listing<'_>) -> String {
    let sources = sources(listing);
    let exact = exact(listing.filter);
    let of = |at: usize| {
        let others = sources.iter().enumerate().filter(|(other, _)| *other != at);
        let checks: Vec<&str> = others.map(|(_, source)| source.check.as_str()).collect();
        format!("SELECT t.contact_id FROM {} {exact} {}", sources[at].found, checks.join(" "))
    };
    if sources.len() == 1 {
        return format!("hits AS MATERIALIZED ({})", of(0));
    }
    let all =
        (0..sources.len()).map(|at| format!("{} AND (SELECT source FROM choice) = {at}", of(at)));
    let all: Vec<String> = all.collect();
    format!("{}, hits AS MATERIALIZED ({})", choice(&sources), all.join(" UNION ALL "))
}

/// `enough`: whether `walked` has all that is wanted. `ids`: contacts among which are the first
/// `$8 + $9`: those, or else every one of `hits`, looked up.
fn walked_or_looked_up(listing: &Listing<'_>) -> String {
    format!(
        "enough AS MATERIALIZED \
         (SELECT count(*) >= $8::bigint + $9::bigint AS enough FROM walked), ids AS (SELECT * FROM walked WHERE (SELECT enough FROM enough) \
         UNION ALL SELECT c.id, c.{column} FROM hits CROSS JOIN LATERAL \
         (SELECT * FROM contacts c WHERE c.company_id = $1 AND c.id = hits.contact_id OFFSET 0) \
         AS c WHERE NOT (SELECT enough FROM enough) {condition})",
        column = listing.order.column(),
        condition = listing.order.condition(),
    )
}

/// `walked`: the first contacts, at most `$8 + $9`, of the first `steps` of the listing that fulfil
/// `test`, which is about `w`.
pub(crate) fn walked(listing: &Listing<'_>, steps: &str, test: &str) -> String {
    let order = listing.order;
    format!(
        "walked AS MATERIALIZED (SELECT w.id, w.{column} FROM (\
         SELECT c.id, c.{column}, c.facet FROM {contacts} c WHERE c.company_id = $1 {condition} \
         ORDER BY {by_c} LIMIT {steps}) AS w \
         WHERE {test} ORDER BY {by_w} LIMIT $8::bigint + $9::bigint)",
        contacts = order.contacts(),
        column = order.column(),
        condition = order.condition(),
        by_c = order.by("c"),
        by_w = order.by("w"),
    )
}

/// `hits`; `total`: the number of contacts that pass; `ids`: contacts among which are the first
/// `$8 + $9`.
///
/// With many hits, contacts are read in the order of the listing until there are enough hits, but
/// never more contacts than a small multiple of the hits. Otherwise each hit is looked up and all
/// are sorted. `OFFSET 0` and `IS TRUE` keep the planner from choosing another plan, whatever the
/// statistics are.
pub(crate) fn narrowed(listing: &mut Listing<'_>) -> String {
    if let Some(search) = &listing.filter.search {
        return searched(listing, search);
    }
    let hits = hits(listing);
    let steps =
        format!("(SELECT CASE WHEN total > {MANY_HITS} THEN 4 * total ELSE 0 END FROM total)");
    let test = "(w.id IN (SELECT contact_id FROM hits)) IS TRUE";
    format!(
        "{hits}, total AS MATERIALIZED (SELECT count(*) AS total FROM hits), {}, {}",
        walked(listing, &steps, test),
        walked_or_looked_up(listing),
    )
}

/// [`narrowed`] with a search (R417).
///
/// If it finds many contacts, their texts are tested in the order of the listing, three times as
/// many as should hold what is wanted if the hits are anywhere. This is not tried if each hit can
/// be looked up for less. What a needle of up to three characters finds by the index needs no look
/// at the text, and is counted without being kept.
fn searched(listing: &mut Listing<'_>, search: &SearchQuery) -> String {
    let SearchTerms { found, matching } = search_terms(listing, search);
    let checks: Vec<String> = sources(listing).into_iter().map(|source| source.check).collect();
    let checks = format!("{} {}", exact(listing.filter), checks.join(" "));
    let is_known = search.needles().iter().all(|needle| needle.chars().nth(3).is_none());
    let (total, recheck) = match is_known {
        true if checks.trim().is_empty() => {
            (format!("(SELECT count(*) FROM contact_search AS t WHERE {found})"), "true")
        }
        true => ("(SELECT count(*) FROM hits)".to_owned(), "true"),
        false => ("(SELECT count(*) FROM hits)".to_owned(), matching.as_str()),
    };
    let steps = format!(
        "(SELECT CASE WHEN k.n > {MANY_HITS} AND 2 * k.steps <= k.n THEN 3 * k.steps ELSE 0 END \
         FROM (SELECT total AS n, ($8::bigint + $9::bigint) * {OF_ALL} / greatest(total, 1) AS steps \
         FROM total) AS k)"
    );
    let test = format!(
        "EXISTS (SELECT FROM contact_search t WHERE t.company_id = $1 AND t.contact_id = w.id \
         AND {matching} {checks} OFFSET 0)"
    );
    format!(
        "hits AS MATERIALIZED (SELECT t.contact_id FROM contact_search AS t \
         WHERE {found} AND {recheck} {checks}), \
         total AS MATERIALIZED (SELECT {total} AS total), {}, {}",
        walked(listing, &steps, &test),
        walked_or_looked_up(listing),
    )
}

/// Quotes a lexeme for a text search query.
fn quoted(lexeme: &str) -> String {
    format!("'{}'", lexeme.replace('\\', "\\\\").replace('\'', "''"))
}

/// The query that matches every text that contains one of the needles. It asks for all trigrams of
/// a needle, or, for a needle that is shorter, for trigrams that begin with it. The function
/// `recado_trigrams` of the schema has the same rules.
pub(crate) fn trigram_query(company: CompanyId, search: &SearchQuery) -> String {
    let company = company.to_string();
    let prefix = &company[company.len() - 8..];
    let all_of = |needle: &String| {
        let chars: Vec<char> = needle.chars().collect();
        if chars.len() < 3 {
            return format!("{}:*", quoted(&format!("{prefix}{needle}")));
        }
        let lexeme = |three: &[char]| quoted(&format!("{prefix}{}", String::from_iter(three)));
        let mut lexemes: Vec<String> = chars.windows(3).map(lexeme).collect();
        lexemes.sort_unstable();
        lexemes.dedup();
        format!("({})", lexemes.join(" & "))
    };
    search.needles().iter().map(all_of).collect::<Vec<_>>().join(" | ")
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn query(search: &str) -> String {
        let company = CompanyId::new(Uuid::from_u128(0xc1));
        trigram_query(company, &SearchQuery::parse(search).unwrap().unwrap())
    }

    #[test]
    fn a_needle_is_all_its_trigrams_of_the_company() {
        assert_eq!(query("Ana L"), "('000000c1a l' & '000000c1ana' & '000000c1na ')");
        assert_eq!(query("aaaa"), "('000000c1aaa')");
    }

    #[test]
    fn a_short_needle_begins_a_trigram() {
        assert_eq!(query("é"), "'000000c1e':*");
        assert_eq!(query("an"), "'000000c1an':*");
    }

    #[test]
    fn quotes_and_backslashes_mean_themselves() {
        // The needle o'\ and its one trigram.
        assert_eq!(query("o'\\"), r"('000000c1o''\\')");
    }
}
