//! The routes of the console, as its own table lists them, with the ids of a company's records.

use recado_console::{Route, Verb, routes};

use crate::records::Records;

/// What stands before a variable part of a path, and the kind of record that it names. A page about
/// a new kind needs a line here.
const KINDS: [(&str, &str); 24] = [
    ("inbox", "Contact"),
    ("contacts", "Contact"),
    ("conversations", "Contact"),
    ("messages", "Message"),
    ("media", "Message"),
    ("files", "MessageWithFile"),
    ("documents", "Document"),
    ("deals", "Deal"),
    ("campaigns", "Campaign"),
    ("templates", "Template"),
    ("connections", "Connection"),
    ("webhooks", "Webhook"),
    ("deliveries", "Delivery"),
    ("endpoints", "InboundEndpoint"),
    ("inbound", "InboundEndpoint"),
    ("inbound-endpoints", "InboundEndpoint"),
    ("keys", "Key"),
    ("members", "Member"),
    ("tokens", "OperatorToken"),
    ("operator-tokens", "OperatorToken"),
    ("sessions", "Session"),
    ("lists", "List"),
    ("tags", "Tag"),
    ("organizations", "Organization"),
];

/// Pages that are about what their query names.
const QUERIES: [(&str, &[(&str, &str)]); 1] =
    [("/console/contacts/compare", &[("keep", "Contact"), ("other", "OtherContact")])];

/// The files of the console itself.
const ASSETS: &str = "/console/assets/";

/// The path of a route about this company's records.
pub(crate) fn path(route: &Route, of: &Records) -> String {
    let mut before = "";
    let mut out = String::new();
    for segment in route.path().split('/').skip(1) {
        out.push('/');
        if !segment.starts_with('{') {
            before = segment;
            out.push_str(segment);
            continue;
        }
        let named = KINDS.iter().find(|(name, _)| *name == before);
        match named {
            Some((_, kind)) => out.push_str(&of.id(kind)),
            // Where it names no record, nothing is found.
            None => out.push_str(&recado_tests::unknown_id()),
        }
    }
    if let Some((_, query)) = QUERIES.iter().find(|(path, _)| *path == route.path()) {
        let pairs = query.iter().map(|(name, kind)| format!("{name}={}", of.id(kind)));
        out = format!("{out}?{}", pairs.collect::<Vec<_>>().join("&"));
    }
    out
}

/// Whether a path names a record.
pub(crate) fn names_a_record(route: &Route) -> bool {
    let segments: Vec<&str> = route.path().split('/').collect();
    segments
        .windows(2)
        .any(|pair| pair[1].starts_with('{') && KINDS.iter().any(|(name, _)| *name == pair[0]))
}

/// The routes that answer about a company, without the console's own files.
pub(crate) fn all() -> impl Iterator<Item = &'static Route> {
    routes().filter(|route| !route.path().starts_with(ASSETS))
}

/// The routes that are read.
pub(crate) fn read() -> impl Iterator<Item = &'static Route> {
    all().filter(|route| route.verb() == Verb::Get)
}

/// The routes that change something.
pub(crate) fn write() -> impl Iterator<Item = &'static Route> {
    all().filter(|route| route.verb() == Verb::Post)
}

/// Whether a route goes on for as long as somebody listens.
pub(crate) fn is_live(route: &Route) -> bool {
    ["/live", "/events", "/stream"].iter().any(|end| route.path().ends_with(end))
}
