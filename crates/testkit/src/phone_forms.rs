//! Every form in which a channel writes a number, in every area of the countries where it writes
//! numbers otherwise than the numbering plan (D15): Brazil, Mexico and Argentina.
//!
//! The forms are written here a second time, in other words than in the core.

use std::collections::BTreeSet;

use recado_core::Error;
use recado_core::contacts::{CreateContactError, Phone, Region};
use recado_core::ids::{ConnectionId, ContactId};
use recado_core::inbox::{EventOutcome, parse_event};
use recado_core::sending::SendError;
use serde_json::{Value, json};

use crate::Kit;
use crate::conformance::Harness;
use crate::kit::body;

/// How many events are handed in at once.
const EVENTS: usize = 500;

/// A number, and the form in which the channel writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenForm {
    /// As the channel writes it: digits.
    pub channel: String,
    /// As a caller may write it: every form, that of the channel first.
    pub callers: Vec<String>,
    /// Whether the channel brings it first, or the caller.
    pub channel_first: bool,
}

/// Both forms of the `n`-th mobile of an area.
fn brazilian(area: &str, n: usize) -> [String; 2] {
    let local = format!("{}{:07}", 6 + n % 4, 1_234_567 + n);
    [format!("55{area}9{local}"), format!("55{area}{local}")]
}

/// The digits of a number, of which these last ones are another for each `n`.
fn changed(national: &str, n: usize) -> String {
    let (start, end) = national.split_at(national.len() - 4);
    format!("{start}{:04}", end.parse::<usize>().expect("digits") + n)
}

fn mexican(national: &str, n: usize) -> [String; 2] {
    let national = changed(national, n);
    [format!("521{national}"), format!("52{national}")]
}

fn argentine(national: &str, n: usize) -> [String; 2] {
    let national = changed(national, n);
    [format!("549{national}"), format!("54{national}")]
}

/// One valid national number of each area of a country, whose areas are those that the numbering
/// plan writes apart.
fn one_of_each_area(code: &str, prefixes: std::ops::Range<u32>, rest: &str) -> Vec<String> {
    let mut areas = BTreeSet::new();
    let mut numbers = Vec::new();
    for prefix in prefixes {
        let national = format!("{prefix}{rest}");
        let Ok(phone) = Phone::parse(&format!("+{code}{national}"), &Region::br()) else {
            continue;
        };
        let area = phone.international().split_whitespace().nth(1).map(str::to_owned);
        if areas.insert(area) {
            numbers.push(national);
        }
    }
    numbers
}

/// Every area of the three countries, each with every form and both directions.
pub fn written_forms() -> Vec<WrittenForm> {
    let mut forms = Vec::new();
    let mut add = |of: &dyn Fn(usize) -> [String; 2]| {
        for n in 0..4 {
            let [one, other] = of(n);
            let (channel, alternative) = if n % 2 == 0 { (one, other) } else { (other, one) };
            let callers = vec![format!("+{channel}"), format!("+{alternative}")];
            forms.push(WrittenForm { channel, callers, channel_first: n < 2 });
        }
    };
    for area in recado_core::strategies::AREA_CODES {
        add(&|n| brazilian(&area.to_string(), n));
    }
    let mexico = one_of_each_area("52", 200..1_000, "2345678");
    let argentina = one_of_each_area("54", 1_100..4_000, "456789");
    // Few would mean that the areas were not found.
    assert!(mexico.len() > 80 && argentina.len() > 200, "{} {}", mexico.len(), argentina.len());
    for national in &mexico {
        add(&|n| mexican(national, n));
    }
    for national in &argentina {
        add(&|n| argentine(national, n));
    }
    forms
}

struct Shop {
    kit: Kit,
    connection: ConnectionId,
}

impl Shop {
    /// Whom a caller's number belongs to; a new contact if nobody has it.
    async fn post(&self, phone: &str) -> (ContactId, bool) {
        let new = body(json!({ "phone": phone }));
        match self.kit.app.contacts().create(&self.kit.caller, &new).await {
            Ok(created) => (created.contact.id, true),
            Err(Error::Rejected(CreateContactError::PhoneTaken { by })) => (by, false),
            Err(other) => panic!("{phone}: {other:?}"),
        }
    }

    /// Everybody writes, many at once.
    async fn write(&self, forms: &[&WrittenForm], text: &str) {
        for forms in forms.chunks(EVENTS) {
            let event = |form: &&WrittenForm| -> Value {
                json!({
                    "kind": "message", "from": form.channel, "type": "text", "content": text,
                    "provider_message_id": format!("{text}.{}", form.channel),
                    "timestamp": self.kit.app.now(),
                })
            };
            let events = forms.iter().map(|form| parse_event(&event(form), "g.us")).collect();
            let results = self.kit.receive(self.connection, events).await;
            assert!(results.iter().all(|result| result.result == EventOutcome::Stored));
        }
    }

    async fn refuses(&self, to: &str) -> bool {
        match self.kit.send(to, "Oi").await {
            Err(Error::Rejected(SendError::OptedOut)) => true,
            Ok(_) => false,
            Err(other) => panic!("{to}: {other:?}"),
        }
    }
}

/// Whichever form the channel and the callers write, and whoever comes first: one contact, written
/// to as the channel calls it, and once it asked to stop under one form it gets nothing under any.
///
/// # Panics
///
/// When that is not so.
pub async fn every_form_is_one_contact(harness: &dyn Harness, forms: &[WrittenForm]) {
    let kit = Kit::builder().store(harness.store().await).build().await;
    let connection = kit.connection("qr").await;
    let shop = Shop { kit, connection };

    let (channel_first, api_first): (Vec<_>, Vec<_>) =
        forms.iter().partition(|form| form.channel_first);
    shop.write(&channel_first, "oi").await;
    for form in &api_first {
        // The caller writes the other form than the channel will.
        assert!(shop.post(&form.callers[1]).await.1, "{form:?}: a contact is there already");
    }
    shop.write(&api_first, "oi").await;
    for form in forms {
        let (contact, is_new) = shop.post(&form.callers[0]).await;
        assert!(!is_new, "{form:?}: a second contact");
        for caller in &form.callers {
            assert_eq!(shop.post(caller).await, (contact, false), "{form:?}: {caller}");
        }
    }
    assert_eq!(count(&shop).await, forms.len(), "each number is one contact");

    for form in forms.iter().step_by(16) {
        let stored = shop.kit.stored_contact(shop.post(&form.callers[0]).await.0).await;
        let shown = stored.shown_phone();
        let read = Phone::parse(shown, &Region::br()).expect("the shown phone is a phone");
        assert_eq!(read.as_str(), shown, "{form:?}: it is read as itself");
        assert!(!shop.refuses(shown).await, "{form:?}");
        let sent = shop.kit.provider.sent();
        let recipient = sent.last().map(|sent| sent.outgoing.recipient.as_str());
        assert_eq!(recipient, Some(form.channel.as_str()), "{form:?}: what the channel calls it");
    }

    let all: Vec<&WrittenForm> = forms.iter().collect();
    shop.write(&all, "parar").await;
    for form in forms {
        for caller in &form.callers {
            assert!(shop.refuses(caller).await, "{form:?}: {caller} is written to");
        }
    }
}

/// The contacts of the company, of which none are doubles.
async fn count(shop: &Shop) -> usize {
    let (mut after, mut count) = (None, 0);
    loop {
        let contacts = shop.kit.app.contacts();
        let page = contacts.duplicates(shop.kit.company.id, after).await.expect("the store works");
        assert_eq!(page.groups, [], "one person, one contact");
        count += page.examined;
        after = page.next_cursor;
        if after.is_none() {
            return count;
        }
    }
}
