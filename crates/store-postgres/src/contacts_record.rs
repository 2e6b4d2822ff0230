//! Contacts with the records they refer to, a row for each.

use recado_core::contacts::{Contact, ContactRecord, Related};
use recado_core::deals::Stage;
use recado_core::links::LinkClicks;
use recado_core::organizations::Organization;
use recado_core::store::StoreError;
use recado_core::tags::Tag;

use crate::columns::Columns;
use crate::gathered::gathered;
use crate::table::columns_of;

/// The columns of a contact `c` with the records it refers to, but for its tags.
pub(crate) fn record_columns() -> String {
    format!(
        "{}, {}, {}, clicked.total, clicked.last_at",
        columns_of::<Contact>("c"),
        columns_of::<Organization>("o"),
        columns_of::<Stage>("s"),
    )
}

/// Joins the records that a contact `c` of the company `$1` refers to. `clicks` says whether clicks
/// are counted.
pub(crate) fn record_joins(clicks: bool) -> String {
    let clicked = match clicks {
        true => {
            "LATERAL (SELECT coalesce(sum(l.human_clicks), 0)::bigint AS total, \
             max(l.last_human_click_at) AS last_at FROM links l \
             WHERE l.company_id = $1 AND l.contact_id = c.id)"
        }
        false => "(SELECT 0::bigint AS total, NULL::bigint AS last_at)",
    };
    format!(
        "LEFT JOIN organizations o ON o.company_id = $1 AND o.id = c.organization_id \
         LEFT JOIN stages s ON s.company_id = $1 AND s.id = c.pipeline_stage_id \
         LEFT JOIN {clicked} AS clicked ON true"
    )
}

/// The tags of a contact `c`, gathered.
pub(crate) fn tags_of_one() -> String {
    format!(
        "(SELECT {} FROM contact_tags ct \
         JOIN tags t ON t.company_id = ct.company_id AND t.id = ct.tag_id \
         WHERE ct.company_id = $1 AND ct.contact_id = c.id)",
        gathered::<Tag>("t"),
    )
}

/// Reads the columns of [`record_columns`].
pub(crate) fn read_record(
    columns: &mut Columns<'_>,
    clicks: bool,
) -> Result<ContactRecord, StoreError> {
    let contact = columns.stored()?;
    let organization = columns.joined()?;
    let stage = columns.joined()?;
    let counted = LinkClicks { total: columns.get()?, last_at: columns.get()? };
    let related =
        Related { organization, stage, clicks: clicks.then_some(counted), ..Related::default() };
    Ok(ContactRecord { contact, related })
}
