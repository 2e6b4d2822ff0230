//! The search index: which contacts' search texts contain a given text (D24).
//!
//! The index is a full-text table of trigrams. A text of three characters or more is searched for
//! as a phrase. A shorter one is searched for as every recorded trigram that begins with it. Every
//! position of a search text begins a trigram, because the text ends with terminators.

use std::collections::{BTreeMap, HashSet};

use recado_core::contacts::{SearchQuery, SearchText};
use rusqlite::{Connection, params};

use crate::contacts::{Seq, SeqRange};
use crate::error::ReadResult;

type Trigram = [char; 3];

/// How many trigrams are kept in memory as recorded. Beyond this number the set is emptied.
const REMEMBERED: usize = 200_000;
/// How many trigrams one query asks for. SQLite visits each of them for every match, so many small
/// queries are faster than one large query.
const ALTERNATIVES: usize = 16;

/// The tokenizer reads the two non-characters as U+FFFD. They are replaced by two control
/// characters. A search text contains no control character but its separator, so two different
/// texts stay different.
fn indexed(text: &str) -> String {
    text.replace('\u{fffe}', "\u{1}").replace('\u{ffff}', "\u{2}")
}

fn trigrams(text: &str) -> impl Iterator<Item = Trigram> + '_ {
    let following = text.chars().skip(1).zip(text.chars().skip(2));
    text.chars().zip(following).map(|(first, (second, third))| [first, second, third])
}

#[derive(Debug)]
enum SearchChange {
    Added(SearchText),
    Changed(SearchText),
    Removed,
}

/// The pending changes of the index, in the order in which they were made.
#[derive(Debug, Default)]
pub(crate) struct Pending(Vec<(Seq, SearchChange)>);

impl Pending {
    /// Records a new contact.
    pub(crate) fn added(&mut self, seq: Seq, text: SearchText) {
        self.0.push((seq, SearchChange::Added(text)));
    }

    /// Records that a contact has another search text.
    pub(crate) fn changed(&mut self, seq: Seq, text: SearchText) {
        self.0.push((seq, SearchChange::Changed(text)));
    }

    /// Records that a contact was deleted.
    pub(crate) fn removed(&mut self, seq: Seq) {
        self.0.push((seq, SearchChange::Removed));
    }

    /// The current number of changes, for [`Pending::forget_since`].
    pub(crate) fn mark(&self) -> usize {
        self.0.len()
    }

    /// Drops the changes made since `mark`.
    pub(crate) fn forget_since(&mut self, mark: usize) {
        self.0.truncate(mark);
    }
}

/// Writes the search index. It is written once per transaction, just before the commit: at each
/// savepoint FTS5 writes out what it has gathered, so that writing after each change set would make
/// a segment for each.
#[derive(Debug, Default)]
pub(crate) struct SearchIndex {
    known: HashSet<Trigram>,
    fresh: HashSet<Trigram>,
}

impl SearchIndex {
    /// Writes the pending changes.
    pub(crate) fn write(&mut self, conn: &Connection, pending: Pending) -> ReadResult<()> {
        // For each contact: whether the index has it already, and the text it has after all
        // changes.
        let mut last: BTreeMap<Seq, (bool, Option<SearchText>)> = BTreeMap::new();
        for (seq, change) in pending.0 {
            let (is_new, text) = match change {
                SearchChange::Added(text) => (true, Some(text)),
                SearchChange::Changed(text) => (false, Some(text)),
                SearchChange::Removed => (false, None),
            };
            last.entry(seq).or_insert((!is_new, None)).1 = text;
        }
        for (seq, (is_indexed, text)) in last {
            if is_indexed {
                conn.prepare_cached("DELETE FROM contact_search WHERE rowid = ?1")?
                    .execute([seq.0])?;
            }
            if let Some(text) = text {
                let text = indexed(text.as_str());
                conn.prepare_cached("INSERT INTO contact_search (rowid, text) VALUES (?1, ?2)")?
                    .execute(params![seq.0, text])?;
                self.learn(conn, &text)?;
            }
        }
        Ok(())
    }

    fn learn(&mut self, conn: &Connection, text: &str) -> ReadResult<()> {
        for trigram in trigrams(text) {
            if !self.known.contains(&trigram) && self.fresh.insert(trigram) {
                let trigram: String = trigram.iter().collect();
                conn.prepare_cached("INSERT OR IGNORE INTO search_trigrams (trigram) VALUES (?1)")?
                    .execute([trigram])?;
            }
        }
        Ok(())
    }

    /// Must be called after the commit.
    pub(crate) fn committed(&mut self) {
        if self.known.len() + self.fresh.len() > REMEMBERED {
            self.known.clear();
        }
        self.known.extend(self.fresh.drain());
    }

    /// Must be called after a rollback.
    pub(crate) fn rolled_back(&mut self) {
        self.fresh.clear();
    }
}

/// A set of contacts of one company, one bit each.
#[derive(Debug)]
pub(crate) struct Matches {
    first: i64,
    words: Vec<u64>,
    count: u64,
}

impl Matches {
    fn new(range: SeqRange) -> Self {
        Self { first: range.first, words: Vec::new(), count: 0 }
    }

    fn insert(&mut self, seq: i64) {
        let (word, bit) = self.place(Seq(seq));
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        if self.words[word] & bit == 0 {
            self.words[word] |= bit;
            self.count += 1;
        }
    }

    fn place(&self, seq: Seq) -> (usize, u64) {
        let at = usize::try_from(seq.0 - self.first).unwrap_or(usize::MAX);
        (at / 64, 1 << (at % 64))
    }

    /// Whether a contact matches.
    pub(crate) fn contains(&self, seq: Seq) -> bool {
        let (word, bit) = self.place(seq);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    /// The number of matches.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The contacts that match.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Seq> + '_ {
        self.words.iter().enumerate().filter(|(_, word)| **word != 0).flat_map(move |(at, word)| {
            (0..64)
                .filter(move |bit| word >> bit & 1 == 1)
                .map(move |bit| Seq(self.first + i64::try_from(at * 64 + bit).unwrap_or_default()))
        })
    }
}

/// The contacts of a company that a search finds: the same ones as by [`SearchQuery::matches`].
pub(crate) fn matches(
    conn: &Connection,
    range: SeqRange,
    query: &SearchQuery,
) -> ReadResult<Matches> {
    let mut found = Matches::new(range);
    for needle in query.needles() {
        let needle = indexed(needle);
        if needle.chars().nth(2).is_some() {
            collect(conn, range, &phrase(&needle), &mut found)?;
        } else {
            for alternatives in beginning_with(conn, &needle)?.chunks(ALTERNATIVES) {
                collect(conn, range, &alternatives.join(" OR "), &mut found)?;
            }
        }
    }
    Ok(found)
}

fn collect(
    conn: &Connection,
    range: SeqRange,
    expression: &str,
    found: &mut Matches,
) -> ReadResult<()> {
    let mut statement = conn.prepare_cached(
        "SELECT rowid FROM contact_search WHERE contact_search MATCH ?1 \
         AND rowid BETWEEN ?2 AND ?3",
    )?;
    let mut rows = statement.query(params![expression, range.first, range.last])?;
    while let Some(row) = rows.next()? {
        found.insert(row.get(0)?);
    }
    Ok(())
}

/// The recorded trigrams that begin with `needle`, each as a phrase.
fn beginning_with(conn: &Connection, needle: &str) -> ReadResult<Vec<String>> {
    let query = "SELECT trigram FROM search_trigrams WHERE trigram >= ?1 AND trigram < ?2";
    let mut statement = conn.prepare_cached(query)?;
    // SQLite compares texts by their UTF-8 bytes, and no character is greater than this one.
    let end = format!("{needle}\u{10ffff}\u{10ffff}\u{10ffff}");
    let trigrams = statement.query_map([needle, &end], |row| row.get::<_, String>(0))?;
    trigrams.map(|trigram| trigram.map(|trigram| phrase(&trigram))).collect()
}

fn phrase(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_counts_and_lists_its_members_in_order() {
        let range = SeqRange { first: 1 << 36, last: (2 << 36) - 1 };
        let mut set = Matches::new(range);
        for offset in [1, 64, 63, 1, 1000] {
            set.insert(range.first + offset);
        }
        let members: Vec<i64> = set.iter().map(|seq| seq.0 - range.first).collect();
        assert_eq!(members, [1, 63, 64, 1000]);
        assert_eq!(set.count(), 4);
        assert!(set.contains(Seq(range.first + 63)));
        assert!(!set.contains(Seq(range.first + 62)));
        assert!(!set.contains(Seq(range.first + 5000)));
    }

    #[test]
    fn trigrams_are_those_of_every_position() {
        let found: Vec<Trigram> = trigrams("ação").collect();
        assert_eq!(found, [['a', 'ç', 'ã'], ['ç', 'ã', 'o']]);
        assert_eq!(trigrams("ab").count(), 0);
    }
}
