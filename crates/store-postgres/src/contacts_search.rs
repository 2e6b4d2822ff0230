//! Searching contacts: by trigrams, then by the text itself.

use recado_core::contacts::{ContactFilter, SearchQuery};
use recado_core::ids::CompanyId;

use crate::contacts_listing::ListingOrder;
use crate::param::{Param, params};

/// The number of hits from which the contacts are read in the order of the listing. Looking up this
/// many contacts takes about as long as reading up to a page of them in a company of a million
/// contacts.
const MANY_HITS: u32 = 2_000;

/// `hits`: all contacts that a search finds and that pass the exact filters; `total`: their number;
/// `ids`: contacts among which are the first `$8 + $9`. The first parameter of the search selects
/// by trigrams, the next two compare the text.
///
/// With many hits, contacts are read in the order of the listing until there are enough hits, but
/// never more contacts than a small multiple of the hits. Otherwise each hit is looked up and all
/// are sorted. `OFFSET 0` and `IS TRUE` keep the planner from choosing another plan, whatever the
/// statistics are.
pub(crate) fn searched(filter: &ContactFilter, order: ListingOrder) -> String {
    let query = order.search_parameters();
    let (first, last) = (query + 1, query + 2);
    let exact = if filter.has_exact() { "AND t.facet IN (SELECT facet FROM facets)" } else { "" };
    format!(
        "hits AS MATERIALIZED (SELECT t.contact_id FROM (SELECT * FROM contact_search s \
         WHERE recado_trigrams(s.company_id, s.search_text) @@ ${query}::text::tsquery OFFSET 0) \
         AS t WHERE t.company_id = $1 \
         AND (strpos(t.search_text, ${first}) > 0 OR strpos(t.search_text, ${last}) > 0) {exact}), \
         total AS MATERIALIZED (SELECT count(*) AS total FROM hits), \
         walked AS MATERIALIZED (SELECT w.id, w.{column} FROM (\
         SELECT c.id, c.{column} FROM contacts c WHERE c.company_id = $1 {condition} \
         AND (SELECT total FROM total) > {MANY_HITS} ORDER BY {by_c} \
         LIMIT (SELECT 4 * total FROM total)) AS w \
         WHERE (w.id IN (SELECT contact_id FROM hits)) IS TRUE ORDER BY {by_w} \
         LIMIT $8::bigint + $9::bigint), \
         enough AS MATERIALIZED (SELECT count(*) >= $8::bigint + $9::bigint AS enough FROM walked), \
         ids AS (SELECT * FROM walked WHERE (SELECT enough FROM enough) \
         UNION ALL SELECT c.id, c.{column} FROM hits CROSS JOIN LATERAL \
         (SELECT * FROM contacts c WHERE c.company_id = $1 AND c.id = hits.contact_id OFFSET 0) \
         AS c WHERE NOT (SELECT enough FROM enough) {condition})",
        column = order.column(),
        condition = order.condition(),
        by_c = order.by("c"),
        by_w = order.by("w"),
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

/// The values of the parameters of [`searched`].
pub(crate) fn search_params(company: CompanyId, search: &SearchQuery) -> Vec<Param> {
    let needles = search.needles();
    let first = needles.first().cloned().unwrap_or_default();
    let last = needles.last().cloned().unwrap_or_default();
    params![trigram_query(company, search), first, last]
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
