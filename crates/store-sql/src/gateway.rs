//! Events of gateways that were not understood.

use recado_core::gateway::{KeptBody, UnknownEvent, UnknownForm, UnknownReason};

use crate::field::{texts, words};
use crate::record::record;

record! {
    UnknownEvent in "unknown_events" key(company_id, id) {
        company("company_id"),
        id,
        connection("connection_id"),
        contact("contact_id"),
        kind,
        reason,
        form,
        received_at,
        provider_id,
        body,
    }
    sealed Text { "body" }
}

words! { UnknownForm, UnknownReason }

texts! {
    KeptBody: KeptBody::expose, |text| Some(KeptBody::from_stored(text.to_owned()));
}
