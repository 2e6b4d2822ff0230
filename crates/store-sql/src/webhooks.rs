//! Outbound webhooks, and the routes of events to them.

use recado_core::Timestamp;
use recado_core::webhooks::{
    EventRoute, RotatedSecret, Routes, SigningSecret, SigningSecrets, Topics, Webhook,
    WebhookState, WebhookUrl,
};

use crate::cell::{CellReader, CellWriter};
use crate::field::{Field, json, texts, words, write_or_null};
use crate::record::record;

record! {
    Webhook in "webhooks" key(company_id, id) {
        company("company_id"),
        id,
        url,
        topics,
        state,
        standard_headers,
        secrets: SigningSecrets {
            current("secret"),
            previous("previous_secret", "previous_until"),
        },
        created_at,
        updated_at,
    }
    sealed Text { "secret", "previous_secret" }
}

record! {
    Routes in "routes" key(company_id) {
        company("company_id"),
        fires,
        routes,
    }
}

words! { WebhookState }

texts! {
    SigningSecret: SigningSecret::expose, |text| Some(SigningSecret::stored(text.to_owned()));
    WebhookUrl: WebhookUrl::as_str, |text| WebhookUrl::parse(text).ok();
}

json! { Topics, Vec<EventRoute> }

impl Field for Option<RotatedSecret> {
    const WIDTH: usize = 2;

    fn write<'a, W: CellWriter<'a>>(&'a self, writer: &mut W) {
        write_or_null(self.as_ref().map(|rotated| &rotated.secret), writer);
        write_or_null(self.as_ref().map(|rotated| &rotated.until), writer);
    }

    fn read<R: CellReader>(reader: &mut R) -> Result<Self, R::Error> {
        let (secret, until) = <(Option<SigningSecret>, Option<Timestamp>)>::read(reader)?;
        Ok(secret.zip(until).map(|(secret, until)| RotatedSecret { secret, until }))
    }
}
