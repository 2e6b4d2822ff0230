//! The names by which channels know contacts.

use recado_core::contacts::{Alias, ChannelKey, Platform};
use recado_core::ids::{CompanyId, ContactId};
use recado_core::store::StoreError;

use crate::table::{Columns, Param, Table, params, table_sql};

impl Table for Alias {
    const NAME: &'static str = "aliases";
    const KEY: usize = 3;
    const COLUMNS: &'static [&'static str] =
        &["company_id", "source_platform", "key", "contact_id"];
    const VERSIONED: bool = false;
    table_sql!(Alias);

    fn bind(self) -> Vec<Param> {
        params![
            self.company.uuid(),
            self.platform.as_str().to_owned(),
            self.key.as_str().to_owned(),
            self.contact.uuid(),
        ]
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            platform: columns.word(Platform::parse)?,
            key: ChannelKey::from_stored(columns.get()?),
            contact: columns.id(ContactId::new)?,
        })
    }
}
