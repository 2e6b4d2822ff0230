//! What an operator has halted.

use recado_core::halts::{Halt, HaltKind, HaltSubject};
use uuid::Uuid;

use crate::cell::{CellReader, CellWriter};
use crate::field::{Field, words};
use crate::record::record;

record! {
    Halt in "halts" key(kind, subject) {
        subject("kind", "subject"),
        reason,
        since,
        is_final,
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
