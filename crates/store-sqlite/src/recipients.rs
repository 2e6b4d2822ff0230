//! Recipients of campaigns.

use std::sync::LazyLock;

use recado_core::campaigns::{
    Campaign, Recipient, RecipientCounts, RecipientEntry, RecipientStatus, RecipientsFrom,
    StepCount, TimeSteps,
};
use recado_core::contacts::{Identifier, Phone};
use recado_core::ids::{CampaignId, CompanyId, ListId, MessageId};
use recado_core::page::{Page, PageRequest};
use recado_core::store::{CommitError, Conflict, RowKey, Stored, Version};
use rusqlite::{Row as SqlRow, params_from_iter};

use crate::cell::{Cell, Columns};
use crate::database::Connection;
use crate::error::{ReadResult, commit_error};
use crate::table::{self, Table};

/// In the order of the key of `list_members`, so that SQLite does not sort.
const ENROLL: &str = "INSERT INTO recipients \
     (company_id, campaign_id, number, contact_id, status, version) \
     SELECT company_id, ?2, row_number() OVER (ORDER BY contact_id), contact_id, 'waiting', 1 \
     FROM list_members WHERE company_id = ?1 AND list_id = ?3";

/// Makes every contact of a list a recipient. They are numbered in the order of their ids.
pub(crate) fn enroll(
    conn: &Connection,
    company: CompanyId,
    campaign: CampaignId,
    list: ListId,
) -> Result<(), CommitError> {
    // The insert alone would not detect a missing campaign when the list is empty.
    let key = RowKey::Campaign { company, id: campaign };
    if table::version::<Campaign>(conn, &key)?.is_none() {
        return Err(Conflict::Reference.into());
    }
    let values: [Cell<'_>; 3] = [company.into(), campaign.into(), list.into()];
    conn.prepare_cached(ENROLL)
        .and_then(|mut statement| statement.execute(params_from_iter(&values)))
        .map_err(commit_error)?;
    Ok(())
}

/// Updates the status of a recipient. The parameters are the columns and the version.
const STEP: &str = "UPDATE recipients SET status = ?5, message_id = ?6, debit_id = ?7, fault = ?8, \
     sent_at = ?9, delivered_at = ?10, read_at = ?11, ended_at = ?12, version = version + 1 \
     WHERE company_id = ?1 AND campaign_id = ?2 AND number = ?3 AND contact_id IS ?4 \
     AND version = ?13";

/// Replaces a recipient. Usually the contact does not change; then the index on contacts is not
/// written and the foreign key is not checked.
pub(crate) fn update(
    conn: &Connection,
    row: &Recipient,
    read_at: Version,
) -> Result<(), CommitError> {
    let mut values = table::values(row);
    values.push(read_at.number().into());
    let changed = conn
        .prepare_cached(STEP)
        .and_then(|mut statement| statement.execute(params_from_iter(values)))
        .map_err(commit_error)?;
    if changed == 1 {
        return Ok(());
    }
    table::update(conn, row, read_at)
}

/// The statuses that recipients have, with the kept counts (R448).
const COUNTS: &str =
    "SELECT status, recipients FROM recipient_counts WHERE company_id = ?1 AND campaign_id = ?2";

/// The number of recipients by status.
pub(crate) fn counts(
    conn: &Connection,
    company: CompanyId,
    campaign: CampaignId,
) -> ReadResult<RecipientCounts> {
    let values: [Cell<'_>; 2] = [company.into(), campaign.into()];
    let read = |row: &SqlRow<'_>| -> ReadResult<(RecipientStatus, u64)> {
        let mut columns = Columns::new(row);
        Ok((columns.get()?, columns.get()?))
    };
    let mut counts = RecipientCounts::default();
    for counted in conn.prepare_cached(COUNTS)?.query_map(params_from_iter(&values), read)? {
        let (status, count) = counted?;
        counts.add(status, count);
    }
    Ok(counts)
}

/// What happened in steps of time: the rows of the campaign are read once for each kind.
static STEPS: LazyLock<String> = LazyLock::new(|| {
    let kind = |status: &str, column: &str, wanted: &str| {
        format!(
            "SELECT ({column} - ?3) / ?4 AS step, {status} AS status FROM recipients \
             WHERE company_id = ?1 AND campaign_id = ?2 AND {column} >= ?3 AND {column} < ?5{wanted}"
        )
    };
    let kinds = [
        kind("'sent'", "sent_at", ""),
        kind("'delivered'", "delivered_at", ""),
        kind("'read'", "read_at", ""),
        kind("status", "ended_at", " AND status IN ('failed', 'skipped')"),
    ];
    format!("SELECT step, status, count(*) FROM ({}) GROUP BY 1, 2", kinds.join(" UNION ALL "))
});

/// What happened to the messages of a campaign in steps of time.
pub(crate) fn in_steps(
    conn: &Connection,
    company: CompanyId,
    campaign: CampaignId,
    steps: TimeSteps,
) -> ReadResult<Vec<StepCount>> {
    let values: [Cell<'_>; 5] = [
        company.into(),
        campaign.into(),
        steps.from.into(),
        steps.millis().into(),
        steps.end().into(),
    ];
    let read = |row: &SqlRow<'_>| {
        let mut columns = Columns::new(row);
        Ok(StepCount { step: columns.get()?, status: columns.get()?, count: columns.get()? })
    };
    let mut found: Vec<StepCount> = conn
        .prepare_cached(&STEPS)?
        .query_map(params_from_iter(&values), read)?
        .collect::<ReadResult<_>>()?;
    found.sort_unstable();
    Ok(found)
}

/// A condition for [`table::list`].
const OF_STATUS: &str = "company_id = ?1 AND campaign_id = ?2 AND status = ?3 AND number > ?4 \
     ORDER BY number LIMIT ?5";
/// The last ones.
const LAST_OF_STATUS: &str = "company_id = ?1 AND campaign_id = ?2 AND status = ?3 \
     ORDER BY number DESC LIMIT ?4";

/// The recipients with a status, from the first after a number or from the last.
pub(crate) fn of_status(
    conn: &Connection,
    company: CompanyId,
    campaign: CampaignId,
    status: RecipientStatus,
    from: RecipientsFrom,
    limit: u32,
) -> ReadResult<Vec<Stored<Recipient>>> {
    let mut values: Vec<Cell<'_>> = vec![company.into(), campaign.into(), status.as_str().into()];
    let of_status = match from {
        RecipientsFrom::After(after) => {
            values.push(after.map_or(-1, |after| i64::from(after.0)).into());
            OF_STATUS
        }
        RecipientsFrom::Last => LAST_OF_STATUS,
    };
    values.push(limit.into());
    table::list(conn, of_status, &values)
}

/// A condition for [`table::list`].
const OF_MESSAGE: &str = "company_id = ?1 AND message_id = ?2 ORDER BY campaign_id, number";

/// The recipients of these messages, by campaign and number.
pub(crate) fn of_messages(
    conn: &Connection,
    company: CompanyId,
    mut messages: Vec<MessageId>,
) -> ReadResult<Vec<Stored<Recipient>>> {
    messages.sort_unstable();
    messages.dedup();
    let mut found: Vec<Stored<Recipient>> = Vec::new();
    for message in messages {
        found.extend(table::list(conn, OF_MESSAGE, &[company.into(), message.into()])?);
    }
    found.sort_unstable_by_key(|recipient| (recipient.campaign, recipient.number));
    Ok(found)
}

/// The numbers of a page. The offset skips index entries, or rows whose contact and message are not
/// read.
const NUMBERS: &str = "SELECT number FROM recipients \
     WHERE company_id = ?1 AND campaign_id = ?2 ORDER BY number LIMIT ?3 OFFSET ?4";
const NUMBERS_OF_STATUS: &str = "SELECT number FROM recipients INDEXED BY recipients_by_status \
     WHERE company_id = ?1 AND campaign_id = ?2 AND status = ?3 ORDER BY number LIMIT ?4 OFFSET ?5";

/// A recipient with the values that show its contact, and its debit.
static ENTRY: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {}, c.identifier, c.phone, c.display_name, l.consumption_id, l.prosas, l.cost, l.scope \
         FROM recipients AS r \
         LEFT JOIN contacts AS c ON c.company_id = r.company_id AND c.id = r.contact_id \
         LEFT JOIN ledger_lines AS l ON l.company_id = r.company_id AND l.id = r.debit_id \
         WHERE r.company_id = ?1 AND r.campaign_id = ?2 AND r.number = ?3",
        Recipient::statements().qualified("r")
    )
});

fn read_entry(row: &SqlRow<'_>) -> ReadResult<RecipientEntry> {
    let mut columns = Columns::new(row);
    let recipient: Stored<Recipient> = columns.stored()?;
    let (identifier, phone): (Option<Identifier>, Option<Phone>) = columns.get()?;
    Ok(RecipientEntry {
        recipient: recipient.into_value(),
        contact: identifier.map(|identifier| (phone, identifier)),
        name: columns.get()?,
        prosa: columns.get()?,
    })
}

/// One page of a campaign's recipients: all of them, or those with one status.
pub(crate) fn page(
    conn: &Connection,
    company: CompanyId,
    campaign: CampaignId,
    status: Option<RecipientStatus>,
    page: PageRequest,
) -> ReadResult<Page<RecipientEntry>> {
    let counts = counts(conn, company, campaign)?;
    let total = status.map_or_else(|| counts.total(), |status| counts.of(status));
    if page.offset() >= total {
        return Ok(Page { items: Vec::new(), total });
    }
    let mut values: Vec<Cell<'_>> = vec![company.into(), campaign.into()];
    values.extend(status.map(|status| Cell::from(status.as_str())));
    values.extend([page.limit.into(), page.offset().into()]);
    let numbers = if status.is_some() { NUMBERS_OF_STATUS } else { NUMBERS };
    let mut entry = conn.prepare_cached(&ENTRY)?;
    let items = conn
        .prepare_cached(numbers)?
        .query_map(params_from_iter(values), |row| Columns::new(row).get::<u32>())?
        .map(|number| {
            let key: [Cell<'_>; 3] = [company.into(), campaign.into(), number?.into()];
            entry.query_row(params_from_iter(&key), read_entry)
        })
        .collect::<ReadResult<_>>()?;
    Ok(Page { items, total })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans;

    #[test]
    fn whose_turn_is_next_is_found_without_meeting_the_others() {
        let query = format!("{} WHERE {OF_STATUS}", Recipient::statements().select);
        let found = "SEARCH recipients USING INDEX recipients_by_status \
                     (company_id=? AND campaign_id=? AND status=? AND number>?)";
        assert_eq!(plans::step(&plans::database(), &query), found);
        let query = format!("{} WHERE {LAST_OF_STATUS}", Recipient::statements().select);
        let found = "SEARCH recipients USING INDEX recipients_by_status \
                     (company_id=? AND campaign_id=? AND status=?)";
        assert_eq!(plans::steps(&plans::database(), &query), [found]);
    }

    #[test]
    fn passing_by_reads_an_index_alone() {
        let conn = plans::database();
        let found = "SEARCH recipients USING COVERING INDEX recipients_by_status \
                     (company_id=? AND campaign_id=? AND status=?)";
        assert_eq!(plans::step(&conn, NUMBERS_OF_STATUS), found);
        let found = "SEARCH recipients USING PRIMARY KEY (company_id=? AND campaign_id=?)";
        assert_eq!(plans::step(&conn, NUMBERS), found);
    }

    /// R448: whatever the number of recipients.
    #[test]
    fn counts_are_a_row_for_each_status() {
        let found = "SEARCH recipient_counts USING PRIMARY KEY (company_id=? AND campaign_id=?)";
        assert_eq!(plans::step(&plans::database(), COUNTS), found);
    }

    #[test]
    fn an_entry_finds_its_row_its_contact_and_its_debit() {
        let found = [
            "SEARCH r USING PRIMARY KEY (company_id=? AND campaign_id=? AND number=?)",
            "SEARCH c USING INDEX sqlite_autoindex_contacts_1 (company_id=? AND id=?) LEFT-JOIN",
            "SEARCH l USING INDEX sqlite_autoindex_ledger_lines_1 (company_id=? AND id=?) LEFT-JOIN",
        ];
        assert_eq!(plans::steps(&plans::database(), &ENTRY), found);
    }

    #[test]
    fn the_recipient_of_a_message_is_found_by_it() {
        let query = format!("{} WHERE {OF_MESSAGE}", Recipient::statements().select);
        let found = "SEARCH recipients USING INDEX recipients_by_message \
                     (company_id=? AND message_id=?)";
        assert_eq!(plans::step(&plans::database(), &query), found);
    }

    #[test]
    fn a_step_of_a_recipient_finds_its_row_by_the_key_and_leaves_the_contact_alone() {
        let found = "SEARCH recipients USING PRIMARY KEY \
                     (company_id=? AND campaign_id=? AND number=?)";
        assert_eq!(plans::step(&plans::database(), STEP), found);
        let (set, by) = STEP.split_once(" WHERE ").unwrap();
        assert!(!set.contains("contact_id") && by.contains("contact_id IS ?4"), "{STEP}");
    }

    #[test]
    fn those_who_are_enrolled_come_in_the_order_of_the_list_without_sorting() {
        let steps = plans::steps(&plans::database(), ENROLL);
        let found = "SEARCH list_members USING PRIMARY KEY (company_id=? AND list_id=?)";
        assert!(steps.iter().any(|step| step == found), "{steps:?}");
        assert!(!steps.iter().any(|step| step.contains("TEMP B-TREE")), "{steps:?}");
    }
}
