//! The gateway's history: searching for a message whose send has an unknown outcome, and for events
//! whose webhooks were missed. It has rows only if the gateway is configured to store messages.

use std::time::Duration;

use recado_core::Timestamp;
use recado_core::connections::Connection;
use recado_core::contacts::{Phone, Region};
use recado_core::gateway::{
    Accepted, Content, GatewayEvent, Incoming, Lookup, Missed, ProviderError,
};
use recado_core::messages::MessageType;
use recado_core::transport::Transport;
use serde_json::{Value, json};

use super::answer::{ErrorAnswer, is_success, unreachable};
use super::body::{self, Body};
use super::message;
use super::names::{InstanceNames, is_incoming, same_person};
use super::send::address;
use super::settings::InstanceAddress;
use super::status;
use super::values::{message_id, time};
use super::webhook::Envelope;
use crate::shared::{at, boolean, digits, integer, parse, text};

/// The rows of one page.
const PAGE: i64 = 100;
/// How many pages one pull reads.
const MAX_PAGES: i64 = 5;
/// How many pages are searched for one name of a recipient.
const FIND_PAGES: i64 = 2;
/// How much of one page is read: rows may hold small pictures.
const MAX_ANSWER: usize = 32 * 1024 * 1024;
/// How much the gateway's clock and this server's may differ.
const SKEW: Duration = Duration::from_secs(60);

/// The prefix of ids of messages that were not typed on a phone.
const PROGRAMS: &str = "3EB0";

/// A page of rows, newest first.
struct HistoryPage {
    rows: Vec<Value>,
    pages: i64,
    total: i64,
}

/// A query for rows of a time range, of all conversations or of one. The gateway uses the times
/// only if both are given. The key is always sent, as some compatible gateways do not check whether
/// it is there.
struct HistoryQuery<'a> {
    from: Timestamp,
    to: Timestamp,
    chat: Option<&'a str>,
}

impl HistoryQuery<'_> {
    async fn page(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        page: i64,
    ) -> Result<HistoryPage, ProviderError> {
        let times = json!({"gte": self.from.to_string(), "lte": self.to.to_string()});
        let key = self.chat.map_or_else(|| json!({}), |chat| json!({"remoteJid": chat}));
        let filter = json!({"key": key, "messageTimestamp": times});
        let body = json!({"where": filter, "page": page, "offset": PAGE});
        let mut request = InstanceAddress::of(connection).ask(["chat", "findMessages"], &body);
        request.answer_limit = MAX_ANSWER;
        let response = transport.send(request).await.map_err(|error| unreachable(&error))?;
        if !is_success(response.status) {
            return Err(ErrorAnswer::read(&response).provider_error());
        }
        let unreadable = || ProviderError::Failed("the gateway's answer is no history".to_owned());
        let answer = parse(&response.body).ok_or_else(unreadable)?;
        let listed = at(&answer, &["messages"]).unwrap_or(&answer);
        let rows = at(listed, &["records"]).and_then(Value::as_array);
        let rows = rows.ok_or_else(unreadable)?.clone();
        let count = i64::try_from(rows.len()).unwrap_or(i64::MAX);
        let total = integer(listed, "total").unwrap_or(count);
        let pages = integer(listed, "pages").unwrap_or_else(|| total.max(0) / PAGE + 1);
        Ok(HistoryPage { rows, pages, total })
    }
}

/// The types whose messages are known by their text, or by the caption of their file. Another
/// message with the same text would be another program's, or not tell the whole.
const FOUND_BY_TEXT: [MessageType; 4] =
    [MessageType::Text, MessageType::Image, MessageType::Video, MessageType::Document];

/// Searches for the newest own message with the same text in the same conversation, at about the
/// time of the send (R110, R341).
pub(super) async fn find_sent(
    names: InstanceNames<'_>,
    transport: &dyn Transport,
    connection: &Connection,
    lookup: &Lookup,
) -> Result<Option<Accepted>, ProviderError> {
    let Content::Text(text) = &lookup.outgoing.content else { return Ok(None) };
    if text.trim().is_empty() || !FOUND_BY_TEXT.contains(&lookup.message_type) {
        return Ok(None);
    }
    let Some(address) = address(names, &lookup.outgoing) else { return Ok(None) };
    let from = lookup.sent_at.minus(SKEW);
    let to = lookup.sent_at.plus(connection.settings.timeout()).plus(SKEW);
    let wanted = SendProof { names, lookup, text, from, to };
    let mut failed = None;
    for chat in chats(&address) {
        let query = HistoryQuery { from, to, chat: Some(&chat) };
        match wanted.find(transport, connection, &query).await {
            Ok(None) => {}
            Ok(found) => return Ok(found),
            // The gateway may have the number in one of the two forms only.
            Err(error) => failed = Some(error),
        }
    }
    failed.map_or(Ok(None), Err)
}

/// The addresses that the gateway may use for a conversation: that of a Brazilian mobile may lack
/// the ninth digit, whichever form was sent to.
fn chats(address: &str) -> Vec<String> {
    let jid = |digits: &str| format!("{digits}@s.whatsapp.net");
    let Some(number) = digits(address) else { return vec![address.to_owned()] };
    match Phone::parse(&format!("+{number}"), &Region::br()) {
        Ok(phone) => phone.aliases().iter().map(|form| jid(form)).collect(),
        Err(_) => vec![jid(number)],
    }
}

/// The conditions on a row that proves a send.
struct SendProof<'a> {
    names: InstanceNames<'a>,
    lookup: &'a Lookup,
    text: &'a str,
    from: Timestamp,
    to: Timestamp,
}

impl SendProof<'_> {
    async fn find(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        query: &HistoryQuery<'_>,
    ) -> Result<Option<Accepted>, ProviderError> {
        for number in 1..=FIND_PAGES {
            let page = query.page(transport, connection, number).await?;
            if let Some(found) = self.newest(&page.rows) {
                return Ok(Some(found));
            }
            if number >= page.pages {
                break;
            }
        }
        Ok(None)
    }

    fn newest(&self, rows: &[Value]) -> Option<Accepted> {
        let fitting = rows.iter().filter_map(|row| Some((self.fits(row)?, row)));
        // Of two rows of the same second, the first listed is the newer.
        let (_, row) = fitting.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
        let provider_id = message_id(row.get("key")?, "id")?;
        let (recipient, aliases) = self.names.recipient(row);
        Some(Accepted { provider_id, recipient, aliases })
    }

    /// The time of a row if it may be the message. Conversation and time are checked here too, as
    /// some versions of the gateway ignore the filter.
    fn fits(&self, row: &Value) -> Option<Timestamp> {
        let key = row.get("key")?;
        message_id(key, "id")?;
        let chat = self.names.any_chat(row).ok().flatten()?;
        let outgoing = &self.lookup.outgoing;
        let here = match &outgoing.group {
            Some(code) => chat.peer == code.as_str(),
            None => std::iter::once(&chat.peer)
                .chain(&chat.aliases)
                .any(|name| same_person(name, &outgoing.recipient)),
        };
        let Body::Content(said) = body::read(row) else { return None };
        let written = match &said.media {
            Some(media) => &media.caption,
            None => &said.content,
        };
        let of_its_type = said.message_type == self.lookup.message_type;
        let same_text = of_its_type && written.as_deref().map(str::trim) == Some(self.text.trim());
        let at = time(row, "messageTimestamp")?;
        let in_time = at.plus(Duration::from_secs(1)) > self.from && at <= self.to;
        // A text that the operator typed proves nothing.
        let sent_for_program = !is_incoming(key) && !is_typed(row);
        (sent_for_program && here && same_text && in_time).then_some(at)
    }
}

/// The events of a time range: its oldest pages, oldest first.
pub(super) async fn missed(
    names: InstanceNames<'_>,
    transport: &dyn Transport,
    connection: &Connection,
    from: Timestamp,
    to: Timestamp,
) -> Result<Missed, ProviderError> {
    let query = HistoryQuery { from, to, chat: None };
    let first = query.page(transport, connection, 1).await?;
    let (mut total, mut number) = (first.total, first.pages.max(1));
    let mut first = Some(first);
    let mut rows: Vec<Value> = Vec::new();
    let mut complete = false;
    for _ in 0..MAX_PAGES {
        let page = match first.take_if(|_| number == 1) {
            Some(page) => page,
            None => query.page(transport, connection, number).await?,
        };
        if page.total != total {
            // New rows moved the pages meanwhile: rows between this page and the last one may be on
            // neither.
            if !rows.is_empty() {
                break;
            }
            (total, number, first) = (page.total, page.pages.max(1), None);
            continue;
        }
        rows.extend(page.rows.into_iter().rev());
        if number == 1 {
            complete = true;
            break;
        }
        number -= 1;
    }
    if rows.is_empty() && !complete {
        return Err(ProviderError::Failed("the history changed while it was read".to_owned()));
    }
    let newest = rows.iter().filter_map(|row| time(row, "messageTimestamp")).max();
    let envelope = Envelope::of_history(connection);
    let events = rows.iter().flat_map(|row| events(names, row, &envelope)).collect();
    Ok(Missed { events, more_from: newest.filter(|_| !complete) })
}

/// The events of a row. A row that the gateway marks as deleted was deleted for everybody.
fn events(names: InstanceNames<'_>, row: &Value, envelope: &Envelope<'_>) -> Vec<Incoming> {
    let read = match message::read(row, names, false, envelope) {
        Ok(events) => events,
        Err(reason) => return vec![Ok(envelope.unreadable(reason, row))],
    };
    let key = row.get("key").unwrap_or(&Value::Null);
    let deleted = message_id(key, "id").filter(|_| boolean(key, "deleted") == Some(true));
    let deleted =
        deleted.map(|provider_id| Ok(GatewayEvent::Deleted { provider_id, timestamp: None }));
    let mut events = Vec::new();
    for event in read {
        let GatewayEvent::Echo(echo) = event else {
            events.push(Ok(event));
            continue;
        };
        let status = status::of_row(row, &echo.provider_id);
        let event = if is_typed(row) {
            GatewayEvent::Echo(echo)
        } else {
            GatewayEvent::OwnSend(message::sent(echo))
        };
        events.extend([Ok(event)].into_iter().chain(status));
    }
    events.into_iter().chain(deleted).collect()
}

/// Whether a person typed an own message. A row does not distinguish messages of programs from
/// those typed in a browser, so only messages that surely come from a phone or the desktop
/// application count as typed. No phone makes ids with the prefix of programs, whatever source a
/// row names (R136).
fn is_typed(row: &Value) -> bool {
    let id = at(row, &["key", "id"]).and_then(Value::as_str);
    matches!(text(row, "source"), Some("android" | "ios" | "desktop"))
        && !id.is_some_and(|id| id.starts_with(PROGRAMS))
}
