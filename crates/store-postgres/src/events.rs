//! The outbox.

use recado_core::events::{Event, EventType};
use recado_core::ids::{CompanyId, ContactId, EventId};
use recado_core::store::StoreError;

use crate::table::{Columns, Param, Table, params, table_sql};

impl Table for Event {
    const NAME: &'static str = "events";
    const KEY: usize = 2;
    const COLUMNS: &'static [&'static str] =
        &["company_id", "id", "event_type", "contact_id", "at", "data"];
    const VERSIONED: bool = false;
    table_sql!(Event);

    fn bind(self) -> Vec<Param> {
        params![
            self.company.uuid(),
            self.id.uuid(),
            self.event_type.as_str(),
            self.contact.map(ContactId::uuid),
            self.at.millis(),
            self.data,
        ]
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(EventId::new)?,
            event_type: columns.word(EventType::parse)?,
            contact: columns.id_or_null(ContactId::new)?,
            at: columns.time()?,
            data: columns.get()?,
        })
    }
}
