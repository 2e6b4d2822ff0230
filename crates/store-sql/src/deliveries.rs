//! Deliveries of events, and the shards that processes are assigned to deliver.

use std::borrow::Cow;

use recado_core::deliveries::{Attempt, Delivery, DeliveryStatus, Shard, ShardNumber};
use recado_core::events::EventType;

use crate::cell::{CellReader, CellWriter};
use crate::field::{Column, json_of, numbers, words};
use crate::record::record;

record! {
    Delivery in "deliveries" key(company_id, id) {
        company("company_id"),
        id,
        webhook("webhook_id"),
        event("event_id"),
        event_type,
        created_at,
        status,
        attempts,
        tries,
        due_at,
        delivered_at,
        log,
    }
    derived {
        queued_at = |delivery, writer| match delivery.queued_at() {
            Some(at) => writer.int(at.millis()),
            None => writer.null(),
        },
    }
}

record! {
    Shard in "shards" key(number) {
        number,
        owner,
    }
}

words! { DeliveryStatus, EventType }

numbers! {
    ShardNumber: |shard| shard.number().into(), |number| ShardNumber::new(number.try_into().ok()?);
}

impl Column for Vec<Attempt> {
    fn write<'a, W: CellWriter<'a>>(&'a self, writer: &mut W) {
        writer.json(log_text(self));
    }

    fn read_or_null<R: CellReader>(reader: &mut R) -> Result<Option<Self>, R::Error> {
        reader.json()
    }
}

/// The log of a delivery as it is stored. Most deliveries have none.
pub fn log_text(log: &[Attempt]) -> Cow<'static, str> {
    if log.is_empty() { "[]".into() } else { json_of(&log).into() }
}
