//! Aliases: the ids by which channels know contacts.

use recado_core::contacts::{Alias, ChannelKey, Platform};
use recado_core::ids::{CompanyId, ContactId};

use crate::database::Connection;
use crate::error::ReadResult;
use crate::table::{self};

/// The aliases of a contact, in the order of their bytes.
pub(crate) fn of_contact(
    conn: &Connection,
    company: CompanyId,
    contact: ContactId,
) -> ReadResult<Vec<ChannelKey>> {
    let condition = "company_id = ?1 AND contact_id = ?2 ORDER BY key";
    let aliases = table::list::<Alias>(conn, condition, &[company.into(), contact.into()])?;
    Ok(aliases.into_iter().map(|alias| alias.into_value().key).collect())
}

/// The contacts that have this alias, on one channel or on any.
pub(crate) fn holders(
    conn: &Connection,
    company: CompanyId,
    platform: Option<&Platform>,
    key: &ChannelKey,
) -> ReadResult<Vec<ContactId>> {
    let named = [company.into(), key.as_str().into()];
    let aliases = match platform {
        None => table::list::<Alias>(conn, "company_id = ?1 AND key = ?2", &named)?,
        Some(platform) => {
            let condition = "company_id = ?1 AND key = ?2 AND source_platform = ?3";
            let [company, key] = named;
            table::list::<Alias>(conn, condition, &[company, key, platform.as_str().into()])?
        }
    };
    Ok(aliases.into_iter().map(|alias| alias.contact).collect())
}
