//! The ledger of prosas.

use recado_core::ids::LedgerLineId;
use recado_core::prosas::{Brl, LedgerLine, LineKind, Prosa, ProsaScope, Prosas};

use crate::cell::{CellReader, CellWriter};
use crate::field::{Field, numbers, words, write_or_null};
use crate::record::record;

record! {
    LedgerLine in "ledger_lines" key(company_id, id) {
        company("company_id"),
        id,
        consumption_id,
        kind,
        scope,
        prosas,
        cost,
        refunded("refunded_prosas", "refunded_cost"),
        contact("contact_id"),
        campaign("campaign_id"),
        description,
        created_at,
    }
}

words! { LineKind, ProsaScope }

numbers! {
    Brl: Brl::units, |units| Some(Brl::from_units(units));
    Prosas: Prosas::units, |units| Some(Prosas::from_units(units));
}

/// What a message cost is written in all four columns, or in none.
impl Field for Option<Prosa> {
    const WIDTH: usize = 4;

    fn write<'a, W: CellWriter<'a>>(&'a self, writer: &mut W) {
        let prosa = self.as_ref();
        write_or_null(prosa.map(|prosa| &prosa.consumption_id), writer);
        write_or_null(prosa.map(|prosa| &prosa.prosas), writer);
        write_or_null(prosa.map(|prosa| &prosa.cost), writer);
        write_or_null(prosa.map(|prosa| &prosa.scope), writer);
    }

    fn read<R: CellReader>(reader: &mut R) -> Result<Self, R::Error> {
        let consumption_id: Option<LedgerLineId> = Field::read(reader)?;
        let prosas: Option<Prosas> = Field::read(reader)?;
        let cost: Option<Brl> = Field::read(reader)?;
        let scope: Option<ProsaScope> = Field::read(reader)?;
        Ok(consumption_id.zip(scope).map(|(consumption_id, scope)| Prosa {
            consumption_id,
            prosas: prosas.unwrap_or_default(),
            cost: cost.unwrap_or_default(),
            scope,
        }))
    }
}
