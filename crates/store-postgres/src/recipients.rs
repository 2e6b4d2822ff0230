//! Recipients of campaigns: how they are stored, enrolled, counted and found.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use recado_core::campaigns::{
    Recipient, RecipientCounts, RecipientEntry, RecipientStatus, RecipientsFrom,
};
use recado_core::contacts::{Identifier, Phone};
use recado_core::ids::{CampaignId, CompanyId, ListId, MessageId};
use recado_core::page::{Page, PageRequest};
use recado_core::store::{StoreError, Stored};
use recado_store_sql::signed;
use uuid::Uuid;

use crate::PostgresStore;
use crate::columns::Columns;
use crate::commit::CommitStep;
use crate::param::params;
use crate::session::{all_stored, rows};
use crate::table::columns_of;

/// Enrolls the contacts of the list `$3`. Each contact is looked up separately. Contacts that are
/// deleted meanwhile are left out; the others are locked against deletion until the commit. If the
/// campaign is missing, the statement inserts a row that violates a foreign key, so that it fails
/// even if the list is empty.
pub(crate) const ENROLL: &str = "\
WITH members AS MATERIALIZED (SELECT contact_id FROM list_members \
WHERE company_id = $1 AND list_id >= $3 AND list_id <= $3 ORDER BY list_id, contact_id), \
held AS MATERIALIZED (SELECT c.id FROM members m CROSS JOIN LATERAL (SELECT id FROM contacts \
WHERE company_id = $1 AND id = m.contact_id OFFSET 0 FOR KEY SHARE) AS c) \
INSERT INTO recipients (company_id, campaign_id, number, contact_id, status, version) \
SELECT $1, $2, row_number() OVER (ORDER BY id), id, 'waiting', 1 FROM held \
UNION ALL \
SELECT nobody, nobody, 0, NULL, 'waiting', 1 \
FROM (VALUES ('00000000-0000-0000-0000-000000000000'::uuid)) AS missing (nobody) \
WHERE NOT EXISTS (SELECT FROM campaigns WHERE company_id = $1 AND id = $2)";

/// The statement timeout for the rest of a transaction whose duration depends on the size of a
/// list, which has no limit. Ten minutes are enough for some ten million recipients.
pub(crate) const TAKE_LONG: &str = "SELECT set_config('statement_timeout', '600000', true)";

/// The steps that make recipients of the contacts of a list.
pub(crate) fn enroll(company: CompanyId, campaign: CampaignId, list: ListId) -> [CommitStep; 2] {
    [
        CommitStep::new(TAKE_LONG, Vec::new(), None),
        CommitStep::new(ENROLL, params![company.uuid(), campaign.uuid(), list.uuid()], None),
    ]
}

/// The number of recipients of a campaign by status: the folded counts, and what came since (R448).
pub(crate) fn counts_of(company: &str, campaign: &str) -> String {
    let counted = |table: &str| {
        format!(
            "SELECT status, n FROM {table} \
             WHERE company_id = {company} AND campaign_id = {campaign}"
        )
    };
    format!(
        "SELECT k.status, sum(k.n)::bigint AS n FROM ({} UNION ALL {}) AS k \
         GROUP BY k.status HAVING sum(k.n) > 0",
        counted("recipient_counts"),
        counted("recipient_count_deltas"),
    )
}

/// Adds the count of one status that [`counts_of`] found.
pub(crate) fn add_count(
    counts: &mut RecipientCounts,
    columns: &mut Columns<'_>,
) -> Result<(), StoreError> {
    let status = columns.get()?;
    counts.add(status, columns.get()?);
    Ok(())
}

/// The recipients of `$1` and `$2` with the status `$3` and a number greater than `$4`. The
/// condition compares positions in the index by status, so that the planner uses this index,
/// whatever it estimates of the table.
const OF_STATUS: &str = "(r.status, r.company_id, r.campaign_id, r.number) \
                         > ($3::text, $1::uuid, $2::uuid, $4::bigint) \
                         AND (r.status, r.company_id, r.campaign_id) \
                         <= ($3::text, $1::uuid, $2::uuid)";

/// The order of that index.
const BY_STATUS: &str = "r.status, r.company_id, r.campaign_id, r.number";

/// Less than every number.
const BEFORE_ALL: i64 = -1;

pub(crate) static QUEUE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {} FROM recipients r WHERE {OF_STATUS} ORDER BY {BY_STATUS} \
         LIMIT $5::bigint",
        columns_of::<Recipient>("r"),
    )
});

/// The last recipients of `$1` and `$2` with the status `$3`, read from the same index backwards.
pub(crate) static LAST: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {} FROM recipients r WHERE (r.status, r.company_id, r.campaign_id) \
         >= ($3::text, $1::uuid, $2::uuid) AND (r.status, r.company_id, r.campaign_id) \
         <= ($3::text, $1::uuid, $2::uuid) ORDER BY r.status DESC, r.company_id DESC, \
         r.campaign_id DESC, r.number DESC LIMIT $4::bigint",
        columns_of::<Recipient>("r"),
    )
});

/// The recipients of these messages. Each is looked up separately.
pub(crate) static OF_MESSAGES: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {} FROM unnest($2::uuid[]) AS wanted (message_id) \
         CROSS JOIN LATERAL (SELECT * FROM recipients WHERE company_id = $1 \
         AND message_id = wanted.message_id OFFSET 0) AS r ORDER BY r.campaign_id, r.number",
        columns_of::<Recipient>("r"),
    )
});

/// One page with the total, read from one state of the database. The numbers come from an index,
/// and only the shown recipients are read.
pub(crate) fn page_sql(of_status: bool) -> String {
    let (condition, order, size, counted) = match of_status {
        true => (OF_STATUS, BY_STATUS, 5, "k.status = $3"),
        false => ("r.company_id = $1 AND r.campaign_id = $2", "r.number", 3, "true"),
    };
    format!(
        "WITH total AS MATERIALIZED (SELECT coalesce(sum(k.n), 0)::bigint AS total \
         FROM ({counts}) AS k WHERE {counted}), \
         page AS MATERIALIZED (SELECT r.number FROM recipients r WHERE {condition} \
         ORDER BY {order} LIMIT ${size}::bigint OFFSET ${}::bigint) \
         SELECT total.total, {}, c.phone, c.identifier, c.display_name, l.consumption_id, l.prosas, l.cost, l.scope \
         FROM total LEFT JOIN page ON true \
         LEFT JOIN LATERAL (SELECT * FROM recipients WHERE company_id = $1 AND campaign_id = $2 \
         AND number = page.number OFFSET 0) AS r ON true \
         LEFT JOIN LATERAL (SELECT phone, identifier, display_name FROM contacts \
         WHERE company_id = $1 AND id = r.contact_id OFFSET 0) AS c ON true \
         LEFT JOIN LATERAL (SELECT consumption_id, prosas, cost, scope FROM ledger_lines \
         WHERE company_id = $1 AND id = r.debit_id OFFSET 0) AS l ON true ORDER BY page.number",
        size + 1,
        columns_of::<Recipient>("r"),
        counts = counts_of("$1", "$2"),
    )
}

fn read_entry(columns: &mut Columns<'_>) -> Result<Option<RecipientEntry>, StoreError> {
    let Some(recipient) = columns.joined()? else { return Ok(None) };
    let phone: Option<Phone> = columns.get()?;
    let identifier: Option<Identifier> = columns.get()?;
    let contact = identifier.map(|identifier| (phone, identifier));
    let name = columns.get()?;
    Ok(Some(RecipientEntry { recipient, contact, name, prosa: columns.get()? }))
}

impl PostgresStore {
    pub(crate) async fn queue_of_recipients(
        &self,
        company: CompanyId,
        campaign: CampaignId,
        status: RecipientStatus,
        from: RecipientsFrom,
        limit: u32,
    ) -> Result<Vec<Stored<Recipient>>, StoreError> {
        let mut params = params![company.uuid(), campaign.uuid(), status.as_str()];
        let queue = match from {
            RecipientsFrom::After(after) => {
                let after = after.map_or(BEFORE_ALL, |after| i64::from(after.0));
                params.extend(params![after]);
                QUEUE.as_str()
            }
            RecipientsFrom::Last => LAST.as_str(),
        };
        params.extend(params![i64::from(limit)]);
        all_stored(&rows(&self.pool, queue, params).await?)
    }

    pub(crate) async fn recipients_of_messages(
        &self,
        company: CompanyId,
        messages: &[MessageId],
    ) -> Result<Vec<Stored<Recipient>>, StoreError> {
        let wanted: BTreeSet<Uuid> = messages.iter().map(|id| id.uuid()).collect();
        let wanted: Vec<Uuid> = wanted.into_iter().collect();
        let params = params![company.uuid(), wanted];
        all_stored(&rows(&self.pool, OF_MESSAGES.as_str(), params).await?)
    }

    pub(crate) async fn page_of_recipients(
        &self,
        company: CompanyId,
        campaign: CampaignId,
        status: Option<RecipientStatus>,
        page: PageRequest,
    ) -> Result<Page<RecipientEntry>, StoreError> {
        let mut params = params![company.uuid(), campaign.uuid()];
        if let Some(status) = status {
            params.extend(params![status.as_str(), BEFORE_ALL]);
        }
        params.extend(params![i64::from(page.limit), signed(page.offset())]);
        let mut found = Page::empty();
        for row in &rows(&self.pool, page_sql(status.is_some()), params).await? {
            let mut columns = Columns::new(row);
            found.total = columns.get()?;
            found.items.extend(read_entry(&mut columns)?);
        }
        Ok(found)
    }
}
