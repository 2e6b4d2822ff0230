//! What a body says about a lead, and how it goes into the memory (D45).

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{AUTHORITY_CODES, Bant, Inferred, KEY_FACTS, LeadMemory, OBJECTIONS, PRODUCTS};
use crate::Timestamp;
use crate::input::{Given, Input, read_number, read_text, read_timestamp};
use crate::problems::Problems;
use crate::text;

/// Most characters of a summary.
const SUMMARY_CHARS: usize = text::OBSERVATION;
/// Most characters of every other text, and of an item of a list.
const TEXT_CHARS: usize = 1_000;
/// Counters and times: a merge makes them itself, a PUT stores those that are given (D45).
const COUNTED: [&str; 4] =
    ["version", "interaction_count", "first_interaction_at", "last_memory_update_at"];

/// The `bant` object of a body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct SentBant {
    budget: Given<String>,
    authority: Given<String>,
    authority_raw: Given<String>,
    need: Given<String>,
    timeline: Given<String>,
}

/// The counters and times of a memory that was kept elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ImportedCounters {
    version: Option<u32>,
    interaction_count: Option<u32>,
    first_interaction_at: Option<Timestamp>,
    last_memory_update_at: Option<Timestamp>,
}

/// A body that writes a lead memory (R43).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryUpdate {
    summary: Given<String>,
    sentiment: Given<String>,
    intent: Given<String>,
    consciousness_level: Given<String>,
    bant: SentBant,
    key_facts: Vec<String>,
    products_interested: Vec<String>,
    objections: Vec<String>,
    last_topic: Given<String>,
    counted: ImportedCounters,
}

/// A list of texts; blank ones say nothing and are left out.
fn read_list(value: &Value) -> Result<Vec<String>, String> {
    let entries = value.as_array().ok_or("must be an array of strings")?;
    let mut items = Vec::with_capacity(entries.len());
    for entry in entries {
        let item = read_text(entry, TEXT_CHARS).map_err(|reason| format!("each item {reason}"))?;
        if !item.is_empty() {
            items.push(item);
        }
    }
    Ok(items)
}

fn read_bant(value: &Value) -> Result<SentBant, String> {
    let object = value.as_object().ok_or("must be an object")?;
    let mut input = Input::new(object);
    let bant = SentBant {
        budget: input.given_text("budget", TEXT_CHARS),
        authority: input.given_text("authority", TEXT_CHARS),
        authority_raw: input.given_text("authority_raw", TEXT_CHARS),
        need: input.given_text("need", TEXT_CHARS),
        timeline: input.given_text("timeline", TEXT_CHARS),
    };
    input.finish().into_result().map_err(|problems| problems.to_string())?;
    Ok(bant)
}

fn read_counted(input: &mut Input<'_>) -> ImportedCounters {
    ImportedCounters {
        version: input.given("version", read_number(1, u32::MAX)).value(),
        interaction_count: input.given("interaction_count", read_number(0, u32::MAX)).value(),
        first_interaction_at: input.given("first_interaction_at", read_timestamp).value(),
        last_memory_update_at: input.given("last_memory_update_at", read_timestamp).value(),
    }
}

impl MemoryUpdate {
    /// Reads any of `summary`, `sentiment`, `intent`, `consciousness_level`, `bant`, `key_facts`,
    /// `products_interested`, `objections`, `last_topic`. Counters and times are accepted and
    /// ignored: a merge makes them itself.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the body.
    pub fn parse(body: &Map<String, Value>) -> Result<Self, Problems> {
        Self::read(body, false)
    }

    /// The same for a body that is stored as it is: counters and times are read too, and no list
    /// may be longer than its cap.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the body.
    pub fn parse_whole(body: &Map<String, Value>) -> Result<Self, Problems> {
        Self::read(body, true)
    }

    fn read(body: &Map<String, Value>, whole: bool) -> Result<Self, Problems> {
        let mut input = Input::new(body);
        input.ignore(&COUNTED);
        let list = |input: &mut Input<'_>, name: &'static str, cap: usize| {
            let items = input.given(name, read_list).value().unwrap_or_default();
            if whole && items.len() > cap {
                input.problem(name, format!("must have at most {cap} items"));
            }
            items
        };
        let sent = Self {
            key_facts: list(&mut input, "key_facts", KEY_FACTS),
            products_interested: list(&mut input, "products_interested", PRODUCTS),
            objections: list(&mut input, "objections", OBJECTIONS),
            summary: input.given_text("summary", SUMMARY_CHARS),
            sentiment: input.given_text("sentiment", TEXT_CHARS),
            intent: input.given_text("intent", TEXT_CHARS),
            consciousness_level: input.given_text("consciousness_level", TEXT_CHARS),
            bant: input.given("bant", read_bant).value().unwrap_or_default(),
            last_topic: input.given_text("last_topic", TEXT_CHARS),
            counted: if whole { read_counted(&mut input) } else { ImportedCounters::default() },
        };
        input.finish().into_result()?;
        Ok(sent)
    }

    /// What is stored when the body replaces everything: exactly what it says, texts that it lacks
    /// being empty.
    pub fn as_given(&self) -> Inferred {
        let text = |given: &Given<String>| given.as_ref().cloned().unwrap_or_default();
        Inferred {
            summary: text(&self.summary),
            sentiment: text(&self.sentiment),
            intent: text(&self.intent),
            consciousness_level: text(&self.consciousness_level),
            bant: Bant {
                budget: text(&self.bant.budget),
                authority: text(&self.bant.authority),
                authority_raw: self.bant.authority_raw.as_ref().cloned(),
                need: text(&self.bant.need),
                timeline: text(&self.bant.timeline),
            },
            key_facts: self.key_facts.clone(),
            products_interested: self.products_interested.clone(),
            objections: self.objections.clone(),
            last_topic: text(&self.last_topic),
        }
    }

    /// The memory with the counters and times that the body gives in place of ours (D45).
    #[must_use]
    pub fn counted(&self, memory: LeadMemory) -> LeadMemory {
        let given = self.counted;
        LeadMemory {
            version: given.version.unwrap_or(memory.version),
            interaction_count: given.interaction_count.unwrap_or(memory.interaction_count),
            first_interaction_at: given.first_interaction_at.unwrap_or(memory.first_interaction_at),
            last_memory_update_at: given
                .last_memory_update_at
                .unwrap_or(memory.last_memory_update_at),
            ..memory
        }
    }

    /// What is stored when the body is merged into what was known (D45): texts that are sent
    /// replace, `bant` goes key by key, lists grow.
    pub fn merged(&self, before: Option<&Inferred>) -> Inferred {
        let mut merged = before.cloned().unwrap_or_default();
        replace(&mut merged.summary, &self.summary);
        replace(&mut merged.sentiment, &self.sentiment);
        replace(&mut merged.intent, &self.intent);
        replace(&mut merged.consciousness_level, &self.consciousness_level);
        replace(&mut merged.last_topic, &self.last_topic);
        replace(&mut merged.bant.budget, &self.bant.budget);
        replace(&mut merged.bant.need, &self.bant.need);
        replace(&mut merged.bant.timeline, &self.bant.timeline);
        self.bant.merge_authority(&mut merged.bant, before.is_none());
        merged.key_facts = merged_list(merged.key_facts, &self.key_facts, KEY_FACTS);
        merged.products_interested =
            merged_list(merged.products_interested, &self.products_interested, PRODUCTS);
        merged.objections = merged_list(merged.objections, &self.objections, OBJECTIONS);
        merged
    }
}

/// One memory of two, of the contact that `kept` is of: what `kept` says stays, the other fills in
/// what it lacks, lists grow (D45).
#[must_use]
pub fn united(kept: &LeadMemory, other: &LeadMemory) -> LeadMemory {
    let fill = |own: &mut String, theirs: &String| {
        if own.is_empty() {
            own.clone_from(theirs);
        }
    };
    let mut inferred = kept.inferred.clone();
    let theirs = &other.inferred;
    fill(&mut inferred.summary, &theirs.summary);
    fill(&mut inferred.sentiment, &theirs.sentiment);
    fill(&mut inferred.intent, &theirs.intent);
    fill(&mut inferred.consciousness_level, &theirs.consciousness_level);
    fill(&mut inferred.last_topic, &theirs.last_topic);
    fill(&mut inferred.bant.budget, &theirs.bant.budget);
    fill(&mut inferred.bant.need, &theirs.bant.need);
    fill(&mut inferred.bant.timeline, &theirs.bant.timeline);
    if inferred.bant.authority.is_empty() {
        inferred.bant.authority.clone_from(&theirs.bant.authority);
        inferred.bant.authority_raw.clone_from(&theirs.bant.authority_raw);
    }
    let older_first =
        |own: Vec<String>, theirs: &[String], cap: usize| merged_list(theirs.to_vec(), &own, cap);
    inferred.key_facts = older_first(inferred.key_facts, &theirs.key_facts, KEY_FACTS);
    inferred.products_interested =
        older_first(inferred.products_interested, &theirs.products_interested, PRODUCTS);
    inferred.objections = older_first(inferred.objections, &theirs.objections, OBJECTIONS);
    LeadMemory {
        version: kept.version.saturating_add(1),
        inferred,
        interaction_count: kept.interaction_count.saturating_add(other.interaction_count),
        first_interaction_at: kept.first_interaction_at.min(other.first_interaction_at),
        last_memory_update_at: kept.last_memory_update_at.max(other.last_memory_update_at),
        ..kept.clone()
    }
}

impl SentBant {
    /// Writes the authority: always a code with the text behind it, once anything is sent about it
    /// or the record is new; an old record that nothing is said about stays as it is (2.3.2).
    fn merge_authority(&self, bant: &mut Bant, is_new: bool) {
        match (&self.authority, &self.authority_raw) {
            (Given::Absent, Given::Absent | Given::Cleared) => {
                let is_cleared = self.authority_raw == Given::Cleared;
                if is_new || (is_cleared && bant.authority_raw.is_some()) {
                    bant.authority_raw = Some(String::new());
                }
            }
            (Given::Absent, Given::Value(raw)) => {
                if !AUTHORITY_CODES.contains(&bant.authority.as_str()) {
                    bant.authority = authority_code(raw).to_owned();
                }
                bant.authority_raw = Some(raw.clone());
            }
            (Given::Cleared, raw) => {
                bant.authority.clear();
                bant.authority_raw = Some(raw.as_ref().cloned().unwrap_or_default());
            }
            (Given::Value(sent), raw) => {
                // The text that stood behind another code says nothing about this one.
                let is_known = bant.authority_raw.is_some() && bant.authority == *sent;
                match raw {
                    Given::Value(raw) => bant.authority_raw = Some(raw.clone()),
                    Given::Cleared => bant.authority_raw = Some(String::new()),
                    Given::Absent if is_known => {}
                    Given::Absent => bant.authority_raw = Some(sent.clone()),
                }
                bant.authority = authority_code(sent).to_owned();
            }
        }
    }
}

/// The stable code for what was sent as authority: the code itself, `unknown` for any other text.
pub fn authority_code(sent: &str) -> &'static str {
    let is_sent = |code: &&&str| code.eq_ignore_ascii_case(sent.trim());
    AUTHORITY_CODES.iter().find(is_sent).copied().unwrap_or("unknown")
}

fn replace(field: &mut String, sent: &Given<String>) {
    match sent {
        Given::Absent => {}
        Given::Cleared => field.clear(),
        Given::Value(text) => field.clone_from(text),
    }
}

/// A text without regard to case.
fn caseless(text: &str) -> String {
    text.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// The items of both lists, each once without regard to case: the first spelling stays where it
/// is, new ones follow; beyond the cap the oldest go.
fn merged_list(known: Vec<String>, sent: &[String], cap: usize) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut merged: Vec<String> = known
        .into_iter()
        .chain(sent.iter().cloned())
        .filter(|item| seen.insert(caseless(item)))
        .collect();
    merged.drain(..merged.len().saturating_sub(cap));
    merged
}
