//! The conditions that hold after every run.

use std::collections::{BTreeMap, BTreeSet};

use recado_core::events::EventType;
use recado_core::ids::MessageId;
use recado_core::messages::{
    Direction, Failure, Message, MessageFilter, MessageReads as _, MessageStatus, MessageType,
    SenderType,
};
use recado_core::page::PageRequest;
use recado_core::store::RecordsExt as _;
use recado_core::uploads::Upload;
use serde_json::Value;

use crate::client::{Answer, Source};
use crate::gateway::Arrived;
use crate::kinds;
use crate::tally::Tally;
use crate::world::{World, finish};

/// Every message that a program sent.
fn messages(world: &World) -> Vec<Message> {
    let all = MessageFilter::default();
    let page = world.model.message_page(world.company, &all, PageRequest::first(100));
    let page = finish(page).expect("it works");
    assert_eq!(page.total, page.items.len() as u64, "they fit on a page");
    let messages = page.items.into_iter().map(|record| record.message);
    let is_sent = |message: &Message| {
        message.direction == Direction::Outbound && message.sender_type == SenderType::System
    };
    messages.filter(is_sent).collect()
}

fn is_uncertain(message: &Message) -> bool {
    message.failure.as_ref().is_some_and(Failure::is_uncertain)
}

/// Whether a message surely failed.
fn surely_failed(message: &Message) -> bool {
    message.status == MessageStatus::Failed && !is_uncertain(message)
}

fn is_out(message: &Message) -> bool {
    matches!(message.status, MessageStatus::Sent | MessageStatus::Delivered | MessageStatus::Read)
}

/// No message stays pending after its process has ended.
pub fn nothing_is_pending(world: &World) {
    for message in messages(world) {
        assert_ne!(message.status, MessageStatus::Pending, "{message:?}");
        assert_eq!(message.sender, None, "{message:?}");
    }
}

/// Checks all conditions.
pub fn check(world: &World) -> Tally {
    assert_eq!(world.fake.violations(), Vec::<String>::new());
    nothing_is_pending(world);
    let facts = Facts::of(world);
    facts.each_order_is_sent_once();
    facts.every_answer_is_true();
    facts.every_status_is_true();
    let proved = statuses_move_forward(world, &facts.messages);
    facts.tally(proved)
}

/// The state at the end of a run.
struct Facts<'a> {
    world: &'a World,
    messages: Vec<Message>,
    /// The mark of each message.
    marks: BTreeMap<MessageId, String>,
    arrived: Vec<Arrived>,
    sends: Vec<String>,
}

/// The mark of a stored message.
fn mark_of(world: &World, message: &Message) -> String {
    let upload = message.media.upload.map(|id| {
        let stored = finish(world.model.get::<Upload>((world.company, id))).expect("it works");
        stored.expect("a message keeps its file").into_value()
    });
    let filename = upload.and_then(|upload| upload.filename);
    let mark = kinds::mark_of(message, filename.as_deref());
    mark.unwrap_or_else(|| panic!("a message has a mark: {message:?}"))
}

impl<'a> Facts<'a> {
    fn of(world: &'a World) -> Self {
        let messages = messages(world);
        let marks = messages.iter().map(|message| (message.id, mark_of(world, message))).collect();
        let (arrived, sends) = (world.fake.arrived(), world.wire.sends());
        Self { world, messages, marks, arrived, sends }
    }

    fn mark(&self, message: &Message) -> &str {
        &self.marks[&message.id]
    }

    fn requests(&self, text: &str) -> usize {
        self.sends.iter().filter(|sent| *sent == text).count()
    }

    fn arrivals(&self, text: &str) -> Vec<&Arrived> {
        self.arrived.iter().filter(|arrived| arrived.text == text).collect()
    }

    fn with_text(&self, text: &str) -> Vec<&Message> {
        self.messages.iter().filter(|m| self.mark(m) == text).collect()
    }

    /// Whether only one order has this text.
    fn is_alone(&self, text: &str) -> bool {
        self.world.orders.iter().filter(|order| order.text == text).count() == 1
    }

    fn message(&self, id: MessageId) -> &Message {
        self.messages.iter().find(|message| message.id == id).expect("what was answered is there")
    }

    /// Whether the gateway reports that the message with this id failed.
    fn fails(&self, id: &str) -> bool {
        let index = self.arrived.iter().position(|arrived| arrived.id == id);
        index.is_some_and(|index| self.world.failing.contains(&index))
    }

    /// (1) For each order at most one request that sends, and none without a stored message.
    fn each_order_is_sent_once(&self) {
        let mut orders: BTreeMap<&str, usize> = BTreeMap::new();
        for order in &self.world.orders {
            *orders.entry(&order.text).or_default() += 1;
        }
        for (text, orders) in orders {
            let requests = self.requests(text);
            assert!(requests <= orders, "{text}: {requests} requests for {orders} orders");
            let stored = self.with_text(text).len();
            assert!(requests <= stored, "{text}: {requests} requests, {stored} messages");
            assert!(self.arrivals(text).len() <= requests, "{text}: a request is taken once");
        }
        let mut references = BTreeSet::new();
        for arrived in &self.arrived {
            let Some(reference) = arrived.reference else {
                assert!(!self.world.fake.always_gets_references(), "{arrived:?}");
                continue;
            };
            assert!(references.insert(reference), "sent twice: {arrived:?}");
            assert_eq!(self.mark(self.message(reference)), arrived.text);
        }
    }

    /// (2, 3) The answers to programs are true.
    fn every_answer_is_true(&self) {
        let calls = self.world.calls.borrow();
        let mut answers: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
        for call in calls.iter() {
            let text = &self.world.orders[call.order].text;
            let is_alone = self.is_alone(text);
            match &call.answer {
                Answer::Sent(id) => {
                    let message = self.message(*id);
                    let provider_id = message.provider_id.as_ref().expect("it was accepted");
                    let its = |arrived: &&&Arrived| arrived.id == provider_id.as_str();
                    let arrivals = self.arrivals(text);
                    assert_eq!(arrivals.iter().filter(its).count(), 1, "{message:?}");
                    assert!(!is_alone || arrivals.len() == 1, "{message:?}");
                    let failed = !is_out(message) && self.fails(provider_id.as_str());
                    // A report of its failure names its id too; the gateway accepted it all the
                    // same.
                    assert!(is_out(message) || failed, "{message:?}");
                }
                Answer::Failed(id, failure) => {
                    let message = self.message(*id);
                    if !failure.is_uncertain() {
                        assert!(surely_failed(message), "{failure:?} {message:?}");
                        let arrived = is_alone && !self.arrivals(text).is_empty();
                        assert!(!arrived, "said to be refused: {message:?} {failure:?}");
                    }
                }
                Answer::NotStored | Answer::Refused(_)
                    if self.world.orders[call.order].key.is_none() =>
                {
                    assert!(!is_alone || self.requests(text) == 0, "{text}: {:?}", call.answer);
                }
                _ => {}
            }
            if let (Answer::Sent(_) | Answer::Failed(..), Some(_)) =
                (&call.answer, &self.world.orders[call.order].key)
            {
                answers.entry(call.order).or_default().insert(format!("{:?}", call.answer));
            }
            if let Answer::Replayed(answer) = &call.answer {
                answers.entry(call.order).or_default().insert(answer.clone());
            }
        }
        for answers in answers.values() {
            assert_eq!(answers.len(), 1, "one key, two answers: {answers:?}");
        }
    }

    /// (2) The stored status of a message is true.
    fn every_status_is_true(&self) {
        let mut ids = BTreeSet::new();
        for message in &self.messages {
            let text = self.mark(message);
            let Some(provider_id) = &message.provider_id else {
                assert!(!is_out(message), "sent without an id: {message:?}");
                continue;
            };
            // If the gateway accepts no reference, and of two messages with the same text one is
            // delayed for longer than the tolerance of proofs, it may be matched to the other.
            let is_news = ids.insert(provider_id.as_str().to_owned());
            assert!(is_news || !self.is_alone(text), "an id twice: {message:?}");
            let arrivals = self.arrivals(text);
            let its = arrivals.iter().find(|arrived| arrived.id == provider_id.as_str());
            let its = its.unwrap_or_else(|| panic!("it never arrived: {message:?} {arrivals:?}"));
            if let Some(reference) = its.reference {
                assert_eq!(reference, message.id, "another's proof: {message:?}");
            }
            if message.status == MessageStatus::Failed {
                // The id came from a report of a failure, which does not prove a send with an
                // unknown outcome.
                assert!(self.fails(provider_id.as_str()), "nobody said it: {message:?}");
            }
        }
        let texts: BTreeSet<&str> =
            self.world.orders.iter().map(|order| order.text.as_str()).collect();
        for text in texts {
            let (stored, arrivals) = (self.with_text(text), self.arrivals(text));
            let lost = |m: &&&Message| surely_failed(m) && m.provider_id.is_none();
            let lost = stored.iter().filter(lost).count();
            assert!(lost + arrivals.len() <= stored.len(), "refused and sent: {stored:?}");
        }
        self.proofs_are_heard();
    }

    /// A proof that contains the message's own id is never lost.
    fn proofs_are_heard(&self) {
        for index in self.world.proved.borrow().iter() {
            if let Some(id) = self.arrived[*index].reference {
                let message = self.message(id);
                assert!(message.provider_id.is_some(), "not heard: {message:?}");
            }
        }
    }

    fn tally(&self, proved: u64) -> Tally {
        let world = self.world;
        let count = |is: &dyn Fn(&Message) -> bool| {
            self.messages.iter().filter(|message| is(message)).count() as u64
        };
        let calls = world.calls.borrow();
        let answered = |is: &dyn Fn(&Answer) -> bool| {
            calls.iter().filter(|call| is(&call.answer)).count() as u64
        };
        let sent_from = |is: &dyn Fn(&Source) -> bool| {
            let files = calls.iter().filter(|call| matches!(call.answer, Answer::Sent(_)));
            let files = files.filter_map(|call| world.orders[call.order].file.as_ref());
            files.filter(|source| is(source)).count() as u64
        };
        let mut kinds = BTreeMap::new();
        for arrived in &self.arrived {
            let order = world.orders.iter().find(|order| order.text == arrived.text);
            let kind = order.expect("somebody ordered it").kind;
            *kinds.entry((world.fake.name(), kind)).or_default() += 1;
        }
        Tally {
            runs: 1,
            kinds,
            uploaded: sent_from(&|source| matches!(source, Source::Upload(_))),
            fetched: sent_from(&|source| matches!(source, Source::Address)),
            received: sent_from(&|source| matches!(source, Source::Form)),
            requests: self.sends.len() as u64,
            accepted: self.arrived.len() as u64,
            sent: count(&is_out),
            other_kinds: count(&|message| message.message_type != MessageType::Text),
            files: count(&|message| message.media.mimetype.is_some() && is_out(message)),
            failed: count(&surely_failed),
            uncertain: count(&is_uncertain),
            unproved: (self.arrived.len() as u64)
                .saturating_sub(count(&|message| message.provider_id.is_some())),
            proved,
            died: world.died,
            cut_off: world.cut_off,
            replayed: answered(&|answer| matches!(answer, Answer::Replayed(_))),
            held_off: answered(&|answer| matches!(answer, Answer::HeldOff)),
            webhooks: world.taken(),
            late: world.late,
            not_stored: answered(&|answer| matches!(answer, Answer::NotStored)),
        }
    }
}

/// Whether a message's status may change in this way.
fn may_move(from: MessageStatus, uncertain: bool, to: MessageStatus) -> bool {
    use MessageStatus::{Delivered, Failed, Pending, Read, Sent};
    match (from, to) {
        (Pending | Sent, Failed) | (Sent, Delivered | Read) | (Delivered, Read) => true,
        (Failed, Sent | Delivered | Read) => uncertain,
        _ => false,
    }
}

/// (5) At most one `message.sent`, and one event for each change, which begins with the status of
/// the previous one. Returns how many messages were uncertain and then proved.
fn statuses_move_forward(world: &World, messages: &[Message]) -> u64 {
    let mut proved = 0;
    let events = world.model.events(world.company);
    let reported: Vec<(EventType, Value)> = events
        .iter()
        .map(|event| (event.event_type, serde_json::from_str(&event.data).expect("JSON")))
        .collect();
    for message in messages {
        let (mut status, mut uncertain) = (MessageStatus::Pending, false);
        let mut was_sent = false;
        for (kind, data) in
            reported.iter().filter(|(_, data)| data["message_id"] == message.id.to_string())
        {
            let named = |name: &str| data[name].as_str().and_then(MessageStatus::parse);
            let next = named("status").expect("a status");
            match kind {
                EventType::MessageSent => {
                    assert!(!was_sent, "sent twice: {reported:?}");
                    assert_eq!((status, next), (MessageStatus::Pending, MessageStatus::Sent));
                    was_sent = true;
                }
                EventType::MessageStatusUpdated => {
                    assert_eq!(named("previous_status"), Some(status), "{reported:?}");
                    assert!(may_move(status, uncertain, next), "{status} to {next}: {reported:?}");
                    proved += u64::from(uncertain);
                }
                other => panic!("{other}: {data}"),
            }
            status = next;
            uncertain = data["error_type"] == "delivery_uncertain";
        }
        assert_eq!(status, message.status, "{reported:?}");
        // A certain failure after an uncertain one is the same status, so there is no event (R137).
        let is_known_now = uncertain && message.status == MessageStatus::Failed;
        assert!(uncertain == is_uncertain(message) || is_known_now, "{reported:?}");
    }
    proved
}
