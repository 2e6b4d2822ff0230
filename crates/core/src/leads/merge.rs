//! The body of a lead memory, and how it is merged into the stored memory (D45).

use std::collections::HashSet;

use serde_json::Value;

use super::lead::UNKNOWN_AUTHORITY;
use super::{AUTHORITY_CODES, Bant, Inferred, KEY_FACTS, LeadMemory, OBJECTIONS, PRODUCTS};
use crate::Timestamp;
use crate::body::{Clearable, Optional, OrDefault, WriteOver, body};
use crate::form::{Form, Number, Observation, Text, component};
use crate::input::Given;

/// A text about a lead, and an item of a list.
type LeadText = Text<1_000>;
/// Counters and times: a merge makes them itself, a PUT stores those that are given (D45).
const COUNTED: [&str; 4] =
    ["version", "interaction_count", "first_interaction_at", "last_memory_update_at"];
/// No maximum: the merge itself shortens the list.
const UNCAPPED: usize = usize::MAX;

/// A list of at most `MAX` texts; blank ones are left out.
pub(crate) struct Texts<const MAX: usize>;

impl<const MAX: usize> Form for Texts<MAX> {
    type Value = Vec<String>;

    fn read(value: &Value) -> Result<Vec<String>, String> {
        let entries = value.as_array().ok_or("must be an array of strings")?;
        let mut items = Vec::with_capacity(entries.len());
        for entry in entries {
            let item = LeadText::read(entry).map_err(|reason| format!("each item {reason}"))?;
            if !item.is_empty() {
                items.push(item);
            }
        }
        if items.len() > MAX {
            return Err(format!("must have at most {MAX} items"));
        }
        Ok(items)
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        let cap = (MAX != UNCAPPED).then_some(MAX);
        crate::openapi::array(LeadText::schema(), |texts| texts.max_items(cap))
    }
}

body! {
    /// Budget, authority, need and timeline.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct BantUpdate as "BantBody" {
        budget: Given<String> = Clearable<LeadText>,
        authority: Given<String> = Clearable<LeadText>,
        authority_raw: Given<String> = Clearable<LeadText>,
        need: Given<String> = Clearable<LeadText>,
        timeline: Given<String> = Clearable<LeadText>,
    }
}

impl Form for BantUpdate {
    type Value = Self;

    fn read(value: &Value) -> Result<Self, String> {
        let object = value.as_object().ok_or("must be an object")?;
        Self::parse(object).map_err(|problems| problems.to_string())
    }

    component!();
}

body! {
    /// What was inferred about a lead: texts that are sent replace the stored ones, items are added
    /// to lists (R43). Counters and times are ignored.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct MemoryUpdate as "LeadMemoryBody" {
        /// Beyond 20 the oldest are removed.
        key_facts: Vec<String> = OrDefault<Texts<UNCAPPED>>,
        /// Beyond 10 the oldest are removed.
        products_interested: Vec<String> = OrDefault<Texts<UNCAPPED>>,
        /// Beyond 10 the oldest are removed.
        objections: Vec<String> = OrDefault<Texts<UNCAPPED>>,
        summary: Given<String> = Clearable<Observation>,
        sentiment: Given<String> = Clearable<LeadText>,
        intent: Given<String> = Clearable<LeadText>,
        consciousness_level: Given<String> = Clearable<LeadText>,
        bant: BantUpdate = OrDefault<BantUpdate>,
        last_topic: Given<String> = Clearable<LeadText>,
    }
    before |input| input.ignore(COUNTED);
}

body! {
    /// A lead memory with its counters and times; those that are left out are those of one more
    /// write.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct WholeMemory as "WholeLeadMemory" {
        key_facts: Vec<String> = OrDefault<Texts<KEY_FACTS>>,
        products_interested: Vec<String> = OrDefault<Texts<PRODUCTS>>,
        objections: Vec<String> = OrDefault<Texts<OBJECTIONS>>,
        summary: String = OrDefault<Observation>,
        sentiment: String = OrDefault<LeadText>,
        intent: String = OrDefault<LeadText>,
        consciousness_level: String = OrDefault<LeadText>,
        bant: BantUpdate = OrDefault<BantUpdate>,
        last_topic: String = OrDefault<LeadText>,
        version: Option<u32> = Optional<Number<1, { u32::MAX }>>,
        interaction_count: Option<u32> = Optional<Number<0, { u32::MAX }>>,
        first_interaction_at: Option<Timestamp> = Optional<Timestamp>,
        last_memory_update_at: Option<Timestamp> = Optional<Timestamp>,
    }
}

impl WholeMemory {
    /// What is stored: exactly what the body says, texts that it lacks being empty. An authority
    /// that it lacks is the code for the text behind it (D45).
    pub fn as_given(&self) -> Inferred {
        let (sent, bant) = (self.clone(), self.bant.clone());
        let text = |given: Given<String>| given.value().unwrap_or_default();
        let behind =
            bant.authority_raw.as_ref().map_or(UNKNOWN_AUTHORITY, |raw| authority_code(raw));
        // A code whose text was cleared is shown with an empty one, and may be sent back like that.
        let is_code =
            bant.authority.as_ref().is_some_and(|sent| AUTHORITY_CODES.contains(&&**sent));
        let authority_raw = match bant.authority_raw {
            Given::Cleared if is_code => Some(String::new()),
            raw => raw.value(),
        };
        Inferred {
            summary: sent.summary,
            sentiment: sent.sentiment,
            intent: sent.intent,
            consciousness_level: sent.consciousness_level,
            bant: Bant {
                budget: text(bant.budget),
                authority: bant.authority.value().unwrap_or_else(|| behind.to_owned()),
                authority_raw,
                need: text(bant.need),
                timeline: text(bant.timeline),
            },
            key_facts: sent.key_facts,
            products_interested: sent.products_interested,
            objections: sent.objections,
            last_topic: sent.last_topic,
        }
    }

    /// The memory with the counters and times of the body, instead of those of one more write
    /// (D45).
    #[must_use]
    pub fn counted(&self, mut memory: LeadMemory) -> LeadMemory {
        self.version.write_over(&mut memory.version);
        self.interaction_count.write_over(&mut memory.interaction_count);
        self.first_interaction_at.write_over(&mut memory.first_interaction_at);
        self.last_memory_update_at.write_over(&mut memory.last_memory_update_at);
        memory
    }
}

impl MemoryUpdate {
    /// What is stored when the body is merged into the stored memory (D45): texts that are sent
    /// replace the stored ones, `bant` is merged key by key, items are added to lists.
    pub fn merged(&self, before: Option<&Inferred>) -> Inferred {
        let mut merged = before.cloned().unwrap_or_default();
        self.summary.write_over(&mut merged.summary);
        self.sentiment.write_over(&mut merged.sentiment);
        self.intent.write_over(&mut merged.intent);
        self.consciousness_level.write_over(&mut merged.consciousness_level);
        self.last_topic.write_over(&mut merged.last_topic);
        self.bant.budget.write_over(&mut merged.bant.budget);
        self.bant.need.write_over(&mut merged.bant.need);
        self.bant.timeline.write_over(&mut merged.bant.timeline);
        self.bant.merge_authority(&mut merged.bant);
        merged.key_facts = merged_list(merged.key_facts, &self.key_facts, KEY_FACTS);
        merged.products_interested =
            merged_list(merged.products_interested, &self.products_interested, PRODUCTS);
        merged.objections = merged_list(merged.objections, &self.objections, OBJECTIONS);
        merged
    }
}

/// One memory made of two, for the contact of `kept`: the values of `kept` stay, those that it
/// lacks come from the other, lists are joined (D45).
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
    if inferred.bant.lacks_authority() {
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

impl BantUpdate {
    /// Writes the authority: always a code with the text behind it, once anything is said about it.
    /// A record that nothing is said about stays as it is: a new one has the code `unknown` and no
    /// text, an old one its own text (2.3.2, D45).
    fn merge_authority(&self, bant: &mut Bant) {
        match (&self.authority, &self.authority_raw) {
            (Given::Absent, Given::Absent) => {
                if bant.lacks_authority() {
                    UNKNOWN_AUTHORITY.clone_into(&mut bant.authority);
                }
            }
            (Given::Absent, Given::Cleared) => {
                if let Some(raw) = &mut bant.authority_raw {
                    raw.clear();
                }
            }
            (Given::Absent, Given::Value(raw)) => {
                let known = bant.authority.as_str();
                if known == UNKNOWN_AUTHORITY || !AUTHORITY_CODES.contains(&known) {
                    bant.authority = authority_code(raw).to_owned();
                }
                bant.authority_raw = Some(raw.clone());
            }
            (Given::Cleared, raw) => {
                let raw = raw.as_ref();
                bant.authority =
                    raw.map_or(UNKNOWN_AUTHORITY, |raw| authority_code(raw)).to_owned();
                bant.authority_raw = raw.cloned();
            }
            (Given::Value(sent), raw) => {
                // The text stored with another code does not belong to this one.
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
    AUTHORITY_CODES.iter().find(is_sent).copied().unwrap_or(UNKNOWN_AUTHORITY)
}

/// A text without regard to case.
fn caseless(text: &str) -> String {
    text.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// The items of both lists, each once without regard to case: the first spelling stays where it is,
/// new ones follow; beyond the cap the oldest are removed.
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
