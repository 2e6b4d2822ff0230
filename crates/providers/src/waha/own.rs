//! The names of the paired number itself, which are no contact's.

use recado_core::connections::Connection;
use recado_core::contacts::ChannelKey;
use serde_json::Value;

use super::address::ChatAddress;
use crate::shared::text;

/// The own names of a session.
#[derive(Debug)]
pub(super) struct Own(Vec<ChannelKey>);

impl Own {
    /// The names that the gateway reports as `me`, else the connection's number.
    pub(super) fn of(connection: &Connection, me: Option<&Value>) -> Self {
        let reported = ["id", "lid", "jid"].into_iter().filter_map(|name| text(me?, name));
        let mut keys: Vec<ChannelKey> = reported.filter_map(key_of).collect();
        if keys.is_empty() {
            keys.extend(key_of(&connection.identifier));
        }
        Self(keys)
    }

    /// The names as the gateway reports them.
    pub(super) fn reported(&self) -> Value {
        let names = ["id", "lid", "jid"].into_iter().zip(&self.0);
        names.map(|(field, name)| (field.to_owned(), Value::from(name.as_str()))).collect()
    }

    /// Whether this is one of them; a phone with or without its ninth digit.
    pub(super) fn has(&self, name: &str) -> bool {
        key_of(name).is_some_and(|key| self.0.contains(&key))
    }
}

fn key_of(written: &str) -> Option<ChannelKey> {
    ChannelKey::parse(&ChatAddress::person(written.trim_start_matches('+'))?)
}
