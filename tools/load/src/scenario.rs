//! The calls that the connections of a run make.

mod messaging;

use clap::ValueEnum;
use serde_json::json;

use messaging::{BATCH, MessagingCalls};
pub(crate) use messaging::{KnownMessaging, Person, Topic};

use crate::client::Call;
use crate::people;

/// Contacts on a page of an export: the most that the API allows.
const EXPORT_LIMIT: u32 = 100;
/// Contacts on a page of a listing: the default of the API.
pub(crate) const PAGE: u64 = 50;
/// How many of the first pages of the listing are asked for.
const SHALLOW_PAGES: u64 = 20;
/// The index of the first contact that runs create: greater than those of datasets.
const FIRST_CREATED: u64 = 100_000_000;
const LAST_CREATED: u64 = 700_000_000;

/// The scenarios by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scenario {
    /// POST of new contacts.
    Create,
    /// One of the first pages by last message.
    Page,
    /// The first pages under several combinations of exact filters.
    FilteredPage,
    /// Searches by name, by digits and by two characters, one after the other.
    Search,
    /// Searches by a first name.
    SearchName,
    /// Searches by seven digits of a phone.
    SearchDigits,
    /// Searches by two characters.
    SearchShort,
    /// Walks from the first contact to the last by cursor.
    Export,
    /// Any page by number, however deep.
    PageDeep,
    /// Sends to people that are known, through the connection that reports nothing.
    Send,
    /// The same through the connection that reports sent, delivered and read.
    SendReported,
    /// Gateway events, one in a call: ten status reports for every message.
    Events,
    /// The same, a hundred in a call.
    EventsBatch,
    /// Webhook calls of the official API, one event in a call: ten status reports for every
    /// message.
    Webhooks,
    /// One of the first pages of all messages.
    Messages,
    /// The first page of one contact's messages.
    ContactMessages,
}

impl Scenario {
    /// The topic of the scenario, if it is about messages.
    pub(crate) const fn topic(self) -> Option<Topic> {
        match self {
            Self::Send => Some(Topic::Send),
            Self::SendReported => Some(Topic::SendReported),
            Self::Events => Some(Topic::Events(1)),
            Self::EventsBatch => Some(Topic::Events(BATCH)),
            Self::Webhooks => Some(Topic::Webhooks),
            Self::Messages => Some(Topic::Messages),
            Self::ContactMessages => Some(Topic::ContactMessages),
            Self::Create
            | Self::Page
            | Self::FilteredPage
            | Self::Search
            | Self::SearchName
            | Self::SearchDigits
            | Self::SearchShort
            | Self::Export
            | Self::PageDeep => None,
        }
    }

    /// Whether its calls are calls of the operator API.
    pub(crate) const fn is_operator(self) -> bool {
        matches!(self, Self::Events | Self::EventsBatch)
    }
}

/// The data of the company that the scenarios need.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// The number of the company's contacts.
    pub(crate) contacts: u64,
    /// A stage that contacts are in.
    pub(crate) stage: Option<String>,
    /// The conversations, if there are any.
    pub(crate) messaging: Option<KnownMessaging>,
}

/// A combination of exact filters, with a name for the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Filter {
    pub(crate) name: &'static str,
    pub(crate) query: String,
}

/// Each exact filter alone, common and rare values, and combinations.
pub(crate) fn filters(known: &Known) -> Vec<Filter> {
    let mut filters: Vec<Filter> = [
        ("inbox_status, a third", "inbox_status=open"),
        ("crm_status, a tenth", "crm_status=customer"),
        ("is_ai_enabled, most", "is_ai_enabled=true"),
        ("is_group, few", "is_group=true"),
        ("is_group, nearly all", "is_group=false"),
        ("source_platform, few", "source_platform=instagram"),
        ("source_platform, nearly all", "source_platform=whatsapp"),
        ("crm_status, is_group: none", "crm_status=lost&is_group=true"),
        (
            "inbox_status, crm_status, is_ai_enabled",
            "inbox_status=resolved&crm_status=prospect&is_ai_enabled=false",
        ),
    ]
    .into_iter()
    .map(|(name, query)| Filter { name, query: query.to_owned() })
    .collect();
    if let Some(stage) = &known.stage {
        filters.push(Filter {
            name: "pipeline_stage_id",
            query: format!("pipeline_stage_id={stage}"),
        });
        filters.push(Filter {
            name: "all six",
            query: format!(
                "pipeline_stage_id={stage}&source_platform=whatsapp&inbox_status=open\
                 &crm_status=lead&is_ai_enabled=true&is_group=false"
            ),
        });
    }
    filters
}

/// The calls of one connection.
#[derive(Debug)]
pub(crate) enum Calls {
    /// Always the same call.
    Same(Call),
    /// New contacts.
    Create { random: fastrand::Rng, next: u64, step: u64 },
    /// Pages by number, up to this many.
    Pages { random: fastrand::Rng, pages: u64 },
    /// These queries in turn.
    Queries { queries: Vec<String>, at: usize },
    /// Searches of these kinds in turn.
    Searches { random: fastrand::Rng, kinds: &'static [SearchKind], at: usize },
    /// An export from part to part; `None` starts a new one.
    Walk { cursor: Option<String> },
    /// Calls about messages.
    Messaging(Box<MessagingCalls>),
}

/// The kind of text that is searched for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SearchKind {
    FirstName,
    Digits,
    TwoCharacters,
}

impl Calls {
    /// The calls of one of several connections. Runs with different seeds create different
    /// contacts.
    pub(crate) fn new(
        scenario: Scenario,
        known: &Known,
        (connection, connections): (usize, usize),
        seed: u64,
    ) -> Self {
        let random = fastrand::Rng::with_seed(seed ^ (connection as u64 + 1));
        let searches = |kinds| Self::Searches { random: random.clone(), kinds, at: connection };
        match scenario {
            Scenario::Create => {
                let start = fastrand::Rng::with_seed(seed).u64(FIRST_CREATED..LAST_CREATED);
                let next = start + connection as u64;
                Self::Create { random, next, step: connections as u64 }
            }
            Scenario::Page => Self::Pages { random, pages: SHALLOW_PAGES },
            Scenario::PageDeep => {
                Self::Pages { random, pages: known.contacts.div_ceil(PAGE).max(1) }
            }
            Scenario::FilteredPage => {
                let queries = filters(known).into_iter().map(|filter| filter.query).collect();
                Self::Queries { queries, at: connection }
            }
            Scenario::Search => {
                searches(&[SearchKind::FirstName, SearchKind::Digits, SearchKind::TwoCharacters])
            }
            Scenario::SearchName => searches(&[SearchKind::FirstName]),
            Scenario::SearchDigits => searches(&[SearchKind::Digits]),
            Scenario::SearchShort => searches(&[SearchKind::TwoCharacters]),
            Scenario::Export => Self::Walk { cursor: None },
            Scenario::Send
            | Scenario::SendReported
            | Scenario::Events
            | Scenario::EventsBatch
            | Scenario::Webhooks
            | Scenario::Messages
            | Scenario::ContactMessages => match (scenario.topic(), &known.messaging) {
                (Some(topic), Some(messaging)) => {
                    let of = (connection, connections);
                    Self::Messaging(Box::new(MessagingCalls::new(messaging, topic, of, seed)))
                }
                // Without messages there is only an empty listing to ask for.
                _ => Self::Same(Call::Get("/api/v1/messages".to_owned())),
            },
        }
    }

    /// Always a listing with this query.
    pub(crate) fn listing(query: &str) -> Self {
        Self::Same(Call::Get(format!("/api/v1/contacts?{query}")))
    }

    /// The next call.
    pub(crate) fn next(&mut self) -> Call {
        match self {
            Self::Same(call) => call.clone(),
            Self::Create { random, next, step } => {
                let person = people::person(*next, random);
                *next += *step;
                let body = json!({
                    "phone": person.phone,
                    "name": person.name,
                    "email": person.email.unwrap_or_default(),
                    "city": person.city,
                    "state": person.state,
                });
                Call::Post("/api/v1/contacts".into(), body.to_string())
            }
            Self::Pages { random, pages } => {
                let page = random.u64(1..=*pages);
                Call::Get(format!("/api/v1/contacts?page={page}&limit={PAGE}"))
            }
            Self::Queries { queries, at } => {
                *at += 1;
                Call::Get(format!("/api/v1/contacts?{}", queries[*at % queries.len()]))
            }
            Self::Searches { random, kinds, at } => {
                *at += 1;
                let wanted = match kinds[*at % kinds.len()] {
                    SearchKind::FirstName => encode(people::first_name(random)),
                    SearchKind::Digits => people::phone(random.u64(..10_000))[6..13].to_owned(),
                    SearchKind::TwoCharacters => {
                        ["ze", "ca", "98", "iq", "ob"][random.usize(..5)].to_owned()
                    }
                };
                Call::Get(format!("/api/v1/contacts?search={wanted}"))
            }
            Self::Walk { cursor } => Call::Get(export_path(cursor.as_deref(), EXPORT_LIMIT)),
            Self::Messaging(calls) => calls.next(),
        }
    }

    /// Reads from an answer what the next call needs.
    pub(crate) fn answered(&mut self, body: &[u8]) {
        if let Self::Walk { cursor } = self {
            *cursor = next_cursor(body);
        }
    }

    /// Whether the answers have the results of events.
    pub(crate) fn causes_events(&self) -> bool {
        matches!(self, Self::Messaging(calls) if calls.causes_events())
    }
}

/// The path of an export page.
pub(crate) fn export_path(cursor: Option<&str>, limit: u32) -> String {
    let cursor = cursor.map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
    format!("/api/v1/contacts?order_by=created_at&limit={limit}{cursor}")
}

/// The cursor in an answer, without parsing all of its JSON.
pub(crate) fn next_cursor(body: &[u8]) -> Option<String> {
    let name = b"\"next_cursor\":\"";
    let at = body.windows(name.len()).rposition(|part| part == name)? + name.len();
    let length = body[at..].iter().position(|byte| *byte == b'"')?;
    String::from_utf8(body[at..at + length].to_vec()).ok()
}

/// Percent-encodes all characters except ASCII letters and digits.
fn encode(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn connections_create_contacts_of_their_own() {
        let known = Known::default();
        let mut bodies = HashSet::new();
        for connection in 0..4 {
            let mut calls = Calls::new(Scenario::Create, &known, (connection, 4), 9);
            for _ in 0..100 {
                let Call::Post(_, body) = calls.next() else { panic!("a POST was expected") };
                let body: serde_json::Value = serde_json::from_str(&body).expect("JSON");
                assert!(bodies.insert(body["phone"].to_string()));
            }
        }
    }

    #[test]
    fn a_walk_follows_the_cursor_and_begins_anew_at_the_end() {
        let mut calls = Calls::new(Scenario::Export, &Known::default(), (0, 1), 1);
        let Call::Get(first) = calls.next() else { panic!("a GET was expected") };
        assert!(!first.contains("cursor"));
        calls.answered(br#"{"data":[],"pagination":{"next_cursor":"abc"}}"#);
        let Call::Get(second) = calls.next() else { panic!("a GET was expected") };
        assert!(second.ends_with("&cursor=abc"));
        calls.answered(br#"{"data":[],"pagination":{"next_cursor":null}}"#);
        assert_eq!(calls.next(), Call::Get(first));
    }

    #[test]
    fn names_are_encoded_for_a_query() {
        assert_eq!(encode("Íris"), "%C3%8Dris");
    }
}
