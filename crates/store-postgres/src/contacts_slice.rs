//! The records of a part of a listing: each contact with what it refers to. What several contacts
//! of a part have in common is read once for all of them.

use std::collections::{BTreeMap, BTreeSet};

use recado_core::contacts::ContactSlice;
use recado_core::custom_fields::CustomField;
use recado_core::store::StoreError;
use recado_core::tags::Tag;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::columns::Columns;
use crate::contacts_record::{read_record, record_columns, record_joins};
use crate::gathered::{gathered, scattered};

/// The records of `page` that fulfil `shown`, in any order, with the total, the columns `more` and
/// their places. The row of the first place has what all have in common: the definitions of fields,
/// the tags that occur, and which contact has which.
pub(crate) fn records(shown: &str, more: &str, clicks: bool) -> String {
    format!(
        ", tagged AS MATERIALIZED (SELECT contact_id, tag_id FROM contact_tags \
         WHERE company_id = $1 AND contact_id = ANY((SELECT ids FROM page)::uuid[])) \
         SELECT total.total, {more}, place.n, CASE WHEN coalesce(place.n, 1) = 1 THEN \
         (SELECT {fields} FROM custom_fields f WHERE f.company_id = $1) END, \
         CASE WHEN place.n = 1 THEN (SELECT {tags} FROM tags t WHERE t.company_id = $1 \
         AND t.id = ANY(ARRAY(SELECT tag_id FROM tagged))) END, \
         CASE WHEN place.n = 1 THEN ARRAY(SELECT contact_id FROM tagged) END, \
         CASE WHEN place.n = 1 THEN ARRAY(SELECT tag_id FROM tagged) END, {columns} \
         FROM total LEFT JOIN unnest((SELECT ids FROM page)) WITH ORDINALITY AS place (id, n) \
         ON {shown} LEFT JOIN contacts c ON c.company_id = $1 AND c.id = place.id {joins}",
        fields = gathered::<CustomField>("f"),
        tags = gathered::<Tag>("t"),
        columns = record_columns(),
        joins = record_joins(clicks),
    )
}

/// The tags of the contacts of a page.
#[derive(Default)]
struct PageTags {
    /// Those that occur, in order.
    known: Vec<Tag>,
    /// Which of them each contact has.
    given: BTreeMap<Uuid, BTreeSet<Uuid>>,
}

impl PageTags {
    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        let known = scattered(columns.get()?, |fields| fields.record())?;
        let contacts: Option<Vec<Uuid>> = columns.raw()?;
        let tags: Option<Vec<Uuid>> = columns.raw()?;
        let mut given: BTreeMap<Uuid, BTreeSet<Uuid>> = BTreeMap::new();
        for (contact, tag) in contacts.into_iter().flatten().zip(tags.into_iter().flatten()) {
            given.entry(contact).or_default().insert(tag);
        }
        Ok(Self { known, given })
    }

    /// The tags of a contact, in the order of those that are known.
    fn of(&self, contact: Uuid) -> Result<Vec<Tag>, StoreError> {
        let Some(given) = self.given.get(&contact) else { return Ok(Vec::new()) };
        let has = |tag: &&Tag| given.contains(&tag.id.uuid());
        let tags: Vec<Tag> = self.known.iter().filter(has).cloned().collect();
        match tags.len() == given.len() {
            true => Ok(tags),
            false => Err(StoreError::corrupt("a contact has a tag that does not exist")),
        }
    }
}

/// A slice, and whether the frontier has to be moved before it is answered.
pub(crate) fn read_slice(found: &[Row], clicks: bool) -> Result<(ContactSlice, bool), StoreError> {
    let mut slice = ContactSlice::default();
    let mut beyond = false;
    let mut tags = PageTags::default();
    let place = |row: &Row| row.try_get::<_, Option<i64>>(3).map_err(StoreError::corrupt);
    let mut rows = Vec::with_capacity(found.len());
    for row in found {
        rows.push((place(row)?, row));
    }
    rows.sort_unstable_by_key(|(place, _)| *place);
    slice.records.reserve(rows.len());
    for (place, row) in rows {
        let mut columns = Columns::new(row);
        slice.total = columns.get()?;
        slice.more = columns.get()?;
        beyond = columns.get()?;
        columns.skip(1);
        if let Some(fields) = columns.get()? {
            slice.fields = scattered(Some(fields), |fields| fields.record())?;
        }
        match place {
            Some(1) => tags = PageTags::read(&mut columns)?,
            _ => columns.skip(3),
        }
        if columns.is_present()? {
            let mut record = read_record(&mut columns, clicks)?;
            record.related.tags = tags.of(record.contact.id.uuid())?;
            slice.records.push(record);
        }
    }
    Ok((slice, beyond))
}
