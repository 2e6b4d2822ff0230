//! A contact with the records it refers to, in one row.

use std::sync::LazyLock;

use recado_core::contacts::{Contact, ContactRecord, Related};
use recado_core::deals::Stage;
use recado_core::links::LinkClicks;
use recado_core::organizations::Organization;
use recado_core::store::StoreError;
use recado_core::tags::Tag;

use crate::columns::Columns;
use crate::gathered::{gathered, scattered};
use crate::table::columns_of;

/// The columns of a contact `c` with the records it refers to.
pub(crate) static RECORD_COLUMNS: LazyLock<String> = LazyLock::new(|| {
    format!(
        "{}, {}, {}, tagged.tags, clicked.total, clicked.last_at",
        columns_of::<Contact>("c"),
        columns_of::<Organization>("o"),
        columns_of::<Stage>("s"),
    )
});

/// Joins the records that a contact `c` of the company `$1` refers to. `$clicks` says whether
/// clicks are counted.
pub(crate) static RECORD_JOINS: LazyLock<String> = LazyLock::new(|| {
    format!(
        "LEFT JOIN organizations o ON o.company_id = $1 AND o.id = c.organization_id \
         LEFT JOIN stages s ON s.company_id = $1 AND s.id = c.pipeline_stage_id \
         LEFT JOIN LATERAL (SELECT {} AS tags FROM contact_tags ct \
         JOIN tags t ON t.company_id = ct.company_id AND t.id = ct.tag_id \
         WHERE ct.company_id = $1 AND ct.contact_id = c.id) AS tagged ON true \
         LEFT JOIN LATERAL (SELECT coalesce(sum(l.human_clicks), 0)::bigint AS total, \
         max(l.last_human_click_at) AS last_at FROM links l \
         WHERE $clicks AND l.company_id = $1 AND l.contact_id = c.id) AS clicked \
         ON true",
        gathered::<Tag>("t"),
    )
});

/// Reads the columns of [`RECORD_COLUMNS`].
pub(crate) fn read_record(
    columns: &mut Columns<'_>,
    clicks: bool,
) -> Result<ContactRecord, StoreError> {
    let contact = columns.stored()?;
    let organization = columns.joined()?;
    let stage = columns.joined()?;
    let tags = scattered(columns.get()?, |fields| fields.record())?;
    let counted = LinkClicks { total: columns.get()?, last_at: columns.get()? };
    let related = Related {
        organization,
        stage,
        tags,
        clicks: clicks.then_some(counted),
        ..Related::default()
    };
    Ok(ContactRecord { contact, related })
}
