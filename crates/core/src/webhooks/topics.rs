//! What a webhook is subscribed to (6.1).

use std::collections::BTreeSet;

use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::events::EventType;
use crate::form::{Form, to_json};

/// The subscription to everything, events of later versions included (6.1).
pub const ALL_EVENTS: &str = "*";

/// What a webhook is subscribed to; at least one event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topics {
    /// Everything, events of later versions included.
    All,
    /// These.
    Only(BTreeSet<EventType>),
}

impl Topics {
    /// Whether an event of this type goes to the webhook (6.1). A test goes only to the webhook
    /// that is tested, whatever its subscription (D56a).
    pub fn include(&self, event: EventType) -> bool {
        event.is_public()
            && match self {
                Self::All => true,
                Self::Only(events) => events.contains(&event),
            }
    }

    /// Reads `["*"]` or names of events; repeats are merged, and `*` beside others means all events
    /// (D56a).
    ///
    /// # Errors
    ///
    /// What is wrong, for people.
    pub fn read(value: &Value) -> Result<Self, String> {
        let entries = value.as_array().ok_or("must be an array of event names")?;
        if entries.is_empty() {
            return Err("must not be empty".to_owned());
        }
        let mut all = false;
        let mut events = BTreeSet::new();
        for entry in entries {
            match entry.as_str() {
                Some(ALL_EVENTS) => all = true,
                Some(word) if EventType::parse(word).is_some_and(EventType::is_public) => {
                    events.extend(EventType::parse(word));
                }
                _ => {
                    let known: Vec<&str> =
                        EventType::public().map(|event| event.as_str()).collect();
                    return Err(format!("may only hold {ALL_EVENTS} or {}", known.join(", ")));
                }
            }
        }
        Ok(if all { Self::All } else { Self::Only(events) })
    }

    /// The names, as they are written.
    pub fn names(&self) -> Vec<&'static str> {
        match self {
            Self::All => vec![ALL_EVENTS],
            Self::Only(events) => events.iter().map(|event| event.as_str()).collect(),
        }
    }
}

impl Serialize for Topics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = self.names();
        let mut list = serializer.serialize_seq(Some(names.len()))?;
        for name in names {
            list.serialize_element(name)?;
        }
        list.end()
    }
}

impl<'de> Deserialize<'de> for Topics {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Self::read(&value).map_err(serde::de::Error::custom)
    }
}

to_json!(Topics, |topics| topics.names());

impl Form for Topics {
    type Value = Self;

    fn read(value: &Value) -> Result<Self, String> {
        Self::read(value)
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        crate::openapi::array(crate::openapi::text(|name| name), |names| names.min_items(Some(1)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_star_takes_everything_that_is_public() {
        let topics = Topics::read(&json!(["message.sent", "*"])).expect("readable");
        assert_eq!(topics, Topics::All);
        assert!(EventType::public().all(|event| topics.include(event)));
        assert!(!topics.include(EventType::WebhookTest));
    }

    #[test]
    fn repeats_are_merged_and_others_left_out() {
        let value = json!(["message.sent", "contact.created", "message.sent"]);
        let topics = Topics::read(&value).expect("readable");
        assert_eq!(topics.names(), ["contact.created", "message.sent"]);
        assert!(!topics.include(EventType::MessageReceived));
    }

    #[test]
    fn nothing_unknown_names_and_tests_cannot_be_subscribed_to() {
        for value in [json!([]), json!("*"), json!([1]), json!(["x"]), json!(["webhook.test"])] {
            assert!(Topics::read(&value).is_err(), "{value}");
        }
    }
}
