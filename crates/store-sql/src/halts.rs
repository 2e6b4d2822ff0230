//! What an operator has halted.

use recado_core::Cell;
use recado_core::halts::{Halt, HaltKind, HaltSubject, Whereabouts};
use uuid::Uuid;

use crate::cell::{CellReader, CellWriter};
use crate::field::{Field, words};
use crate::record::record;

record! {
    Halt in "halts" key(kind, subject) {
        subject("kind", "subject"),
        reason,
        since,
        whereabouts("is_final", "moved_to"),
    }
}

words! { HaltKind }

impl Field for HaltSubject {
    const WIDTH: usize = 2;

    fn write<'a, W: CellWriter<'a>>(&'a self, writer: &mut W) {
        writer.word(self.kind().as_str());
        writer.id(self.whose());
    }

    fn read<R: CellReader>(reader: &mut R) -> Result<Self, R::Error> {
        let (kind, whose) = <(HaltKind, Uuid)>::read(reader)?;
        Ok(Self::of_parts(kind, whose))
    }
}

impl Field for Whereabouts {
    const WIDTH: usize = 2;

    fn write<'a, W: CellWriter<'a>>(&'a self, writer: &mut W) {
        writer.bool(!matches!(self, Self::Here));
        match self {
            Self::InCell(cell) => writer.int(cell.number().into()),
            Self::Here | Self::Elsewhere => writer.null(),
        }
    }

    fn read<R: CellReader>(reader: &mut R) -> Result<Self, R::Error> {
        let (is_final, number) = <(bool, Option<u32>)>::read(reader)?;
        let cell = number.and_then(|number| Cell::new(u16::try_from(number).ok()?));
        Ok(match (is_final, cell) {
            (false, _) => Self::Here,
            (true, None) => Self::Elsewhere,
            (true, Some(cell)) => Self::InCell(cell),
        })
    }
}
