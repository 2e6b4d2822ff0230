//! The schemas of the bodies of outbound webhooks (6.1), made from the types that write them.

use crate::contacts::ContactSummary;
use crate::deliveries::Envelope;
use crate::events::{EventType, OptOutData};
use crate::messages::{MessageData, SentData, StatusData, UpdatedData};
use crate::openapi::{Components, Property, add, reference};
use crate::webhooks::TestData;

/// The body of every delivery; its `data` is that of the event.
pub fn envelope() -> Property {
    <Envelope<'_> as utoipa::PartialSchema>::schema()
}

/// A reference to the schema of the data of an event, which is added to `all` with those that it
/// refers to.
pub fn data(event: EventType, all: &mut Components) -> Property {
    fn of<T: utoipa::ToSchema>(all: &mut Components) -> Property {
        add::<T>(all);
        reference::<T>()
    }
    match event {
        EventType::ContactCreated => of::<ContactSummary>(all),
        EventType::MessageReceived => of::<MessageData<'_>>(all),
        EventType::MessageSent => of::<SentData<'_>>(all),
        EventType::MessageUpdated => of::<UpdatedData>(all),
        EventType::MessageStatusUpdated => of::<StatusData<'_>>(all),
        EventType::ContactOptedOut => of::<OptOutData<'_>>(all),
        EventType::WebhookTest => of::<TestData>(all),
    }
}
