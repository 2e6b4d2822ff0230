//! Calls that are remembered by their `Idempotency-Key`.

use recado_core::idempotency::{CallKey, CallState, RememberedCall};
use recado_core::ids::WorkerId;

use crate::cell::{CellReader, CellWriter};
use crate::field::{Field, write_or_null};
use crate::record::record;

record! {
    RememberedCall in "remembered_calls" key(company_id, operation, key) {
        company("company_id"),
        key("operation", "key"),
        body_hash,
        state("worker_id", "answer"),
        contact("contact_id"),
        expires_at,
    }
}

impl Field for CallKey {
    const WIDTH: usize = 2;

    fn write<'a, W: CellWriter<'a>>(&'a self, writer: &mut W) {
        self.operation.write(writer);
        self.key.write(writer);
    }

    fn read<R: CellReader>(reader: &mut R) -> Result<Self, R::Error> {
        Ok(Self { operation: Field::read(reader)?, key: Field::read(reader)? })
    }
}

impl Field for CallState {
    const WIDTH: usize = 2;

    fn write<'a, W: CellWriter<'a>>(&'a self, writer: &mut W) {
        let (worker, answer) = match self {
            Self::InFlight { worker } => (Some(worker), None),
            Self::Answered { answer } => (None, Some(answer)),
        };
        write_or_null(worker, writer);
        write_or_null(answer, writer);
    }

    fn read<R: CellReader>(reader: &mut R) -> Result<Self, R::Error> {
        let (worker, answer) = <(Option<WorkerId>, Option<String>)>::read(reader)?;
        match (worker, answer) {
            (Some(worker), None) => Ok(Self::InFlight { worker }),
            (None, Some(answer)) => Ok(Self::Answered { answer }),
            _ => Err(reader.unreadable::<Self>()),
        }
    }
}
