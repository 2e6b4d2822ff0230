//! Listings of contacts by page and by export.
//!
//! Both first read the matching combinations of filtered values and the number of contacts with
//! each. These are few rows, whatever the number of contacts, and their sum is the total. For a
//! page, the first contacts of each combination are read from an index that has them in order, and
//! are merged. A combination is skipped if its first contact comes after the page. A set of
//! contacts has counts and orders of its own, and is listed in the same way. What has none is found
//! first (`contacts_search`).
//!
//! Limits are written twice: as a parameter, and rounded up as a literal in an inner query. From
//! the literal the planner estimates the number of rows, so that not every page needs a plan of its
//! own.

use recado_core::Timestamp;
use recado_core::contacts::{
    AssigneeFilter, ContactFilter, ContactSet, ContactSlice, CrmStatus, ExportPosition,
    InboxStatus, Platform,
};
use recado_core::ids::{CompanyId, StageId};
use recado_core::page::PageRequest;
use recado_core::store::StoreError;
use recado_store_sql::signed;
use uuid::Uuid;

use crate::PostgresStore;
use crate::commit::company_lock;
use crate::contacts_search::{narrowed, narrows, walked};
use crate::contacts_slice::{read_slice, records};
use crate::error::failed;
use crate::param::{Param, params};
use crate::session::{Session, Statement, TransactionMode, rows};

/// An order of contacts, which has an index.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListingOrder {
    /// By last message. Used for pages.
    Message,
    /// By creation, after the position `$10`, `$11`. Used for exports.
    Creation,
}

impl ListingOrder {
    pub(crate) const fn column(self) -> &'static str {
        match self {
            Self::Message => "last_message_at",
            Self::Creation => "created_at",
        }
    }

    /// What has the contacts of companies in this order.
    pub(crate) const fn contacts(self) -> &'static str {
        match self {
            Self::Message => {
                "(SELECT company_id, contact_id AS id, facet, last_message_at FROM contact_orders)"
            }
            Self::Creation => "contacts",
        }
    }

    /// What has the contacts of each combination of filtered values in this order.
    const fn by_facet(self) -> &'static str {
        match self {
            Self::Message => self.contacts(),
            Self::Creation => {
                "(SELECT company_id, contact_id AS id, facet, created_at FROM contact_listings)"
            }
        }
    }

    /// This order from its end.
    fn back(self, alias: &str) -> String {
        match self {
            Self::Message => format!("{alias}.last_message_at ASC NULLS FIRST, {alias}.id DESC"),
            Self::Creation => format!("{alias}.created_at DESC, {alias}.id DESC"),
        }
    }

    pub(crate) fn by(self, alias: &str) -> String {
        match self {
            Self::Message => format!("{alias}.last_message_at DESC NULLS LAST, {alias}.id"),
            Self::Creation => format!("{alias}.created_at, {alias}.id"),
        }
    }

    /// The condition on contacts in this order.
    pub(crate) const fn condition(self) -> &'static str {
        match self {
            Self::Message => "",
            Self::Creation => "AND (c.created_at, c.id) > ($10::bigint, $11::uuid)",
        }
    }
}

/// A listing whose statement is being written, with the parameters so far. `$1` is the company,
/// `$2` to `$7` are exact filters, `$8` is how many contacts are wanted, `$9` how many are skipped;
/// `$10` and `$11` are the position of an export.
pub(crate) struct Listing<'f> {
    pub(crate) company: CompanyId,
    pub(crate) filter: &'f ContactFilter,
    pub(crate) order: ListingOrder,
    params: Vec<Param>,
}

impl<'f> Listing<'f> {
    fn new(
        company: CompanyId,
        filter: &'f ContactFilter,
        order: ListingOrder,
        limit: u32,
        offset: u64,
    ) -> Self {
        let text = |text: Option<String>| text.map_or(Param::Null, |text| Param::Text(text.into()));
        let flag = |flag: Option<bool>| flag.map_or(Param::Null, Param::Bool);
        let platform = filter.source_platform.as_ref().map(Platform::as_str);
        let params = vec![
            Param::Id(company.uuid()),
            text(platform.map(str::to_owned)),
            text(filter.inbox_status.map(InboxStatus::as_str).map(str::to_owned)),
            filter.pipeline_stage_id.map(StageId::uuid).map_or(Param::Null, Param::Id),
            text(filter.crm_status.map(CrmStatus::as_str).map(str::to_owned)),
            flag(filter.is_ai_enabled),
            flag(filter.is_group),
            Param::Int(i64::from(limit)),
            Param::Int(signed(offset)),
        ];
        Self { company, filter, order, params }
    }

    /// Adds a parameter; how the statement names it.
    pub(crate) fn bind(&mut self, param: Param) -> String {
        self.params.push(param);
        format!("${}", self.params.len())
    }

    /// Where the contacts of a set are, and their counts.
    pub(crate) fn set(&mut self, set: ContactSet, order: ListingOrder) -> SetRows {
        let id = self.bind(Param::Id(set.id()));
        let in_set = format!("kind = {} AND set_id = {id}::uuid", set.kind());
        let in_order = match order {
            ListingOrder::Message => "contact_orders",
            ListingOrder::Creation => "contact_listings",
        };
        let (table, condition, has) = match set {
            ContactSet::Connection(_) => (
                in_order,
                format!("connection_id = {id}::uuid"),
                format!(
                    "contacts m WHERE m.company_id = $1 AND m.id = t.contact_id \
                     AND m.last_connection_id = {id}::uuid"
                ),
            ),
            _ => (
                "contact_sets",
                in_set.clone(),
                format!(
                    "contact_sets m WHERE m.company_id = $1 AND m.contact_id = t.contact_id \
                     AND {in_set}"
                ),
            ),
        };
        let counts = format!(
            "(SELECT facet, n FROM contact_set_counts WHERE company_id = $1 AND {in_set} \
             UNION ALL \
             SELECT facet, n FROM contact_set_count_deltas WHERE company_id = $1 AND {in_set})"
        );
        SetRows { table, condition, counts, has }
    }
}

/// Where the contacts of a set are. Those of a connection are not copied as those of other sets
/// are: each contact is in one at most, and every message would move the copy (R451).
pub(crate) struct SetRows {
    /// The table that has them in order.
    pub(crate) table: &'static str,
    /// The condition on it besides that of the company.
    pub(crate) condition: String,
    /// The counts of the set by combination.
    pub(crate) counts: String,
    /// What has a row if the contact `t.contact_id` is in the set.
    pub(crate) has: String,
}

/// The combinations that pass the exact filters, and how many contacts of the company have each.
fn facets(name: &str, filter: &ContactFilter) -> String {
    let assigned = match filter.assigned_to {
        None => "",
        Some(AssigneeFilter::Nobody) => "AND NOT f.is_assigned ",
        Some(AssigneeFilter::Member(_)) => "AND f.is_assigned ",
    };
    let unread = match filter.unread {
        None => "",
        Some(true) => "AND f.has_unread ",
        Some(false) => "AND NOT f.has_unread ",
    };
    format!(
        "{name} AS MATERIALIZED (SELECT f.facet, sum(f.n)::bigint AS n FROM (\
         SELECT * FROM contact_facets WHERE company_id = $1 \
         UNION ALL SELECT * FROM contact_facet_deltas WHERE company_id = $1) AS f \
         WHERE ($2::text IS NULL OR f.source_platform = $2) \
         AND ($3::text IS NULL OR f.inbox_status = $3) \
         AND ($4::uuid IS NULL OR f.pipeline_stage_id = $4) \
         AND ($5::text IS NULL OR f.crm_status = $5) \
         AND ($6::boolean IS NULL OR f.is_ai_enabled = $6) \
         AND ($7::boolean IS NULL OR f.is_group = $7) \
         {assigned}{unread}GROUP BY f.facet HAVING sum(f.n) > 0)"
    )
}

/// The number of contacts of the company: the folded one, and what came since (R417).
pub(crate) const OF_ALL: &str = "(coalesce((SELECT k.n FROM contact_totals k WHERE k.company_id = $1), 0) \
     + coalesce((SELECT sum(d.n) FROM contact_facet_deltas d WHERE d.company_id = $1), 0)::bigint)";

/// `total`: the number of contacts of the company. The filters are null. They are mentioned because
/// every listing has the same parameters.
fn total_of_all() -> String {
    format!(
        "total AS (SELECT {OF_ALL} AS total \
         WHERE ROW($2::text, $3::text, $4::uuid, $5::text, $6::boolean, $7::boolean) IS NULL)"
    )
}

/// `total`: the number of contacts that pass.
const TOTAL: &str = "total AS (SELECT coalesce(sum(n), 0)::bigint AS total FROM facets)";

/// `ids`: the contacts of the company in order, at least as many as `bound`.
fn unfiltered(order: ListingOrder, bound: u64) -> String {
    format!(
        "ids AS (SELECT c.id, c.{column} FROM {contacts} c WHERE c.company_id = $1 {condition} \
         ORDER BY {by} LIMIT {bound})",
        contacts = order.contacts(),
        column = order.column(),
        condition = order.condition(),
        by = order.by("c"),
    )
}

/// The number of skipped contacts from which a page is looked for from the nearer end (R417).
const FAR: u64 = 1_000;

/// `ids`: the contacts of the page, and no others. They are counted from the nearer end of the
/// listing, of which `total` is the length.
fn unfiltered_far(order: ListingOrder) -> String {
    let part = |far: &str, by: String, limit: &str, offset: &str| {
        format!(
            "(SELECT c.id, c.{column} FROM {contacts} c WHERE c.company_id = $1 \
             AND (SELECT 2 * $9::bigint > total FROM total) IS {far} \
             ORDER BY {by} LIMIT {limit} OFFSET {offset})",
            contacts = order.contacts(),
            column = order.column(),
        )
    };
    let left = "(SELECT least($8::bigint, greatest(total - $9::bigint, 0)) FROM total)";
    let behind = "(SELECT greatest(total - $9::bigint - $8::bigint, 0) FROM total)";
    format!(
        "ids AS ({} UNION ALL {})",
        part("FALSE", order.by("c"), "$8::bigint", "$9::bigint"),
        part("TRUE", order.back("c"), left, behind),
    )
}

/// What beginning one more range of an index costs, in steps of a walk through all contacts.
const RANGE_STEPS: u32 = 8;

/// `enough`: whether the first `$8 + $9` contacts were found among the first ones of the whole
/// listing. Where many contacts pass, they are found sooner so than in a range of an index for each
/// combination. It is tried only if it should cost less than the ranges, and is given up after
/// twice the steps that it should take, so that it never costs much more than they do (R417).
fn walked_first(listing: &Listing<'_>) -> String {
    let walk = walked(
        listing,
        "(SELECT steps FROM steps)",
        "(w.facet IN (SELECT facet FROM facets)) IS TRUE",
    );
    format!(
        "steps AS MATERIALIZED (SELECT CASE WHEN k.steps <= {RANGE_STEPS} * k.ranges \
         + least(k.total, k.wanted * least(k.ranges, k.wanted)) / 2 \
         THEN 2 * k.steps + 100 ELSE 0 END AS steps FROM (SELECT f.ranges, f.total, f.wanted, \
         f.wanted * greatest({OF_ALL}, f.total) / greatest(f.total, 1) AS steps FROM (\
         SELECT count(*) AS ranges, coalesce(sum(n), 0)::bigint AS total, \
         $8::bigint + $9::bigint AS wanted FROM facets) AS f) AS k), {walk}, \
         enough AS MATERIALIZED (SELECT count(*) >= $8::bigint + $9::bigint AS enough FROM walked)"
    )
}

/// `ids`: the contacts of matching combinations, including the first `$8 + $9` of the listing.
/// `contacts` is what they are read from. With `walked`, they are those if they are enough.
fn filtered(contacts: &str, order: ListingOrder, bound: u64, is_walked: bool) -> String {
    let (walked, unless) = match is_walked {
        true => (
            "SELECT * FROM walked WHERE (SELECT enough FROM enough) UNION ALL ",
            "WHERE NOT (SELECT enough FROM enough)",
        ),
        false => ("", ""),
    };
    let of_facet = |limit: &str| {
        format!(
            "SELECT c.id, c.{column} FROM {contacts} c \
             WHERE c.company_id = $1 AND c.facet = f.facet {condition} ORDER BY {by} LIMIT {limit}",
            column = order.column(),
            condition = order.condition(),
            by = order.by("c"),
        )
    };
    format!(
        "heads AS MATERIALIZED (SELECT f.facet FROM facets f \
         CROSS JOIN LATERAL ({first}) AS head {unless} ORDER BY {by_head} LIMIT $8::bigint + $9::bigint), \
         ids AS ({walked}SELECT early.id, early.{column} FROM heads f CROSS JOIN LATERAL (\
         SELECT * FROM ({upto}) AS these LIMIT $8::bigint + $9::bigint) AS early)",
        first = of_facet("1"),
        by_head = order.by("head"),
        column = order.column(),
        upto = of_facet(&bound.to_string()),
    )
}

/// `facets`, `total` and `ids` of a set: as those of the company, from the rows of the set.
fn of_set(listing: &mut Listing<'_>, set: ContactSet, bound: u64) -> String {
    let SetRows { table, condition, counts, .. } = listing.set(set, listing.order);
    let contacts = format!(
        "(SELECT company_id, contact_id AS id, facet, {} FROM {table} WHERE {condition})",
        listing.order.column(),
    );
    format!(
        "{passing}, facets AS MATERIALIZED (SELECT k.facet, sum(k.n)::bigint AS n FROM {counts} AS k \
         WHERE k.facet IN (SELECT facet FROM passing) GROUP BY k.facet HAVING sum(k.n) > 0), \
         {TOTAL}, {ids}",
        passing = facets("passing", listing.filter),
        ids = filtered(&contacts, listing.order, bound, false),
    )
}

/// The parts of a listing's statement up to `page`: one row, with the ids of the page in order.
fn page_of(listing: &mut Listing<'_>, offset: u64, limit: u32) -> String {
    let bound = offset.saturating_add(u64::from(limit)).next_power_of_two().max(1024);
    let (filter, order) = (listing.filter, listing.order);
    let is_all = !narrows(filter) && !filter.has_exact() && filter.sets().is_empty();
    let is_far = is_all && offset >= FAR;
    let of_company = facets("facets", filter);
    let ids = match filter.sets().pop() {
        _ if narrows(filter) => format!("{of_company}, {}", narrowed(listing)),
        Some(set) => of_set(listing, set, bound),
        None if filter.has_exact() => {
            let walk = walked_first(listing);
            format!(
                "{of_company}, {TOTAL}, {walk}, {}",
                filtered(order.by_facet(), order, bound, true)
            )
        }
        None if is_far => format!("{}, {}", total_of_all(), unfiltered_far(order)),
        None => format!("{}, {}", total_of_all(), unfiltered(order, bound)),
    };
    let skipped = if is_far { "0" } else { "$9::bigint" };
    format!(
        "{ids}, page AS MATERIALIZED (SELECT ARRAY(\
         SELECT ids.id FROM ids WHERE (SELECT total FROM total) > $9::bigint \
         ORDER BY {by_ids} LIMIT $8::bigint OFFSET {skipped}) AS ids)",
        by_ids = order.by("ids"),
    )
}

/// The statement of one page. `$8` is its size, `$9` the number of contacts to skip.
pub(crate) fn page_statement(
    company: CompanyId,
    filter: &ContactFilter,
    page: PageRequest,
    clicks: bool,
) -> (String, Vec<Param>) {
    let order = ListingOrder::Message;
    let mut listing = Listing::new(company, filter, order, page.limit, page.offset());
    let sql = format!(
        "WITH {}{}",
        page_of(&mut listing, page.offset(), page.limit),
        records("true", "false, false", clicks),
    );
    (sql, listing.params)
}

/// Whether another contact follows those of the answer: `$8` is one more than the answer may have.
const MORE: &str = "(SELECT cardinality(ids) >= $8::bigint FROM page)";

/// Whether the frontier of exports is before the last contact of the answer.
const BEYOND: &str = "EXISTS (SELECT FROM contacts q WHERE q.company_id = $1 \
AND q.id = (SELECT ids[$8::bigint::int - 1] FROM page) AND NOT EXISTS (SELECT FROM export_frontiers e \
WHERE e.company_id = $1 AND e.created_at >= q.created_at))";

/// The statement of one part of an export.
pub(crate) fn export_statement(
    company: CompanyId,
    filter: &ContactFilter,
    after: Option<ExportPosition>,
    limit: u32,
    clicks: bool,
) -> (String, Vec<Param>) {
    let wanted = limit.saturating_add(1);
    let columns = format!("{MORE}, {MORE} AND {BEYOND}");
    let (created_at, id) = match after {
        Some(position) => (position.created_at.millis(), position.id.uuid()),
        None => (i64::MIN, Uuid::nil()),
    };
    let mut listing = Listing::new(company, filter, ListingOrder::Creation, wanted, 0);
    listing.bind(Param::Int(created_at));
    listing.bind(Param::Id(id));
    let sql = format!(
        "WITH {}{}",
        page_of(&mut listing, 0, wanted),
        records("place.n < $8::bigint", &columns, clicks),
    );
    (sql, listing.params)
}

/// Moves the frontier to `$2`, but never back.
const RAISE: &str = "INSERT INTO export_frontiers AS f (company_id, created_at) VALUES ($1, $2) \
ON CONFLICT (company_id) DO UPDATE SET created_at = greatest(f.created_at, excluded.created_at)";

/// How often a part of an export is read again because contacts were deleted from it.
const READS: usize = 10;

impl PostgresStore {
    pub(crate) async fn page(
        &self,
        company: CompanyId,
        filter: &ContactFilter,
        page: PageRequest,
        clicks: bool,
    ) -> Result<ContactSlice, StoreError> {
        let (sql, params) = page_statement(company, filter, page, clicks);
        Ok(read_slice(&rows(&self.pool, sql, params).await?, clicks)?.0)
    }

    /// Reads a part of an export. If its last position is beyond the frontier, moves the frontier
    /// there and reads again. A part is answered only if the frontier had reached its end before
    /// the part was read. A contact created before that end was then either committed, and is in
    /// the part, or its creation is refused. The second part ends where the first one did or
    /// earlier, unless contacts were deleted.
    pub(crate) async fn export(
        &self,
        company: CompanyId,
        filter: &ContactFilter,
        after: Option<ExportPosition>,
        limit: u32,
        clicks: bool,
    ) -> Result<ContactSlice, StoreError> {
        for _ in 0..READS {
            let (sql, params) = export_statement(company, filter, after, limit, clicks);
            let (slice, beyond) = read_slice(&rows(&self.pool, sql, params).await?, clicks)?;
            match slice.records.last() {
                Some(last) if beyond => self.raise(company, last.contact.created_at).await?,
                _ => return Ok(slice),
            }
        }
        Err(StoreError::unavailable("the contacts of an export are being deleted too fast"))
    }

    /// Moves the frontier while no contact is being created, so that every later creation sees it.
    async fn raise(&self, company: CompanyId, frontier: Timestamp) -> Result<(), StoreError> {
        let lock = "SELECT pg_advisory_xact_lock($1)";
        let statements = vec![
            Statement::new(lock, params![company_lock(company)]),
            Statement::new(RAISE, params![company.uuid(), frontier.millis()]),
        ];
        let session = Session::take(&self.pool).await?;
        let outcome = session.run(TransactionMode::Transaction, statements).await?;
        outcome.into_rows().map_err(|(_, error)| failed(error))?;
        Ok(())
    }
}
