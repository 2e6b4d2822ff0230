//! The search index: which contacts' search texts contain a given text (D24).
//!
//! The index is a full-text table of trigrams, each with its company before it, so that a search
//! reads what the company itself has stored and nothing of others (R199). A text of three
//! characters or more is searched for as a phrase, a shorter one as the beginning of trigrams.
//! Every position of a search text begins a trigram, because the text ends with terminators.
//!
//! The table keeps no text. What is removed from it is named by its text, and is then removed from
//! the pages themselves (R197). So the text must be the one that was indexed: a release in which
//! contacts have other search texts needs a migration that marks the index as stale.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use recado_core::contacts::{Email, Phone, SearchQuery, SearchText};
use rusqlite::{Connection, params};

use crate::cell::Columns;
use crate::contacts::{Seq, SeqRange};
use crate::error::ReadResult;

/// How many contacts are read at once when the index is made anew.
const REBUILT_AT_ONCE: u32 = 1_000;

/// Writes characters so that the tokenizer takes them as they are: it splits at all of ASCII but
/// letters and digits, and folds capital letters. No character is written as the beginning of
/// another one.
fn encode(text: impl Iterator<Item = char>, token: &mut String) {
    for c in text {
        match c {
            'y' => token.push_str("y79"),
            'a'..='z' | '0'..='9' => token.push(c),
            c if c.is_ascii() => {
                let _ = write!(token, "y{:02x}", u32::from(c));
            }
            c => token.push(c),
        }
    }
}

/// What begins all tokens of a company, and no token of another one: its number, and how many
/// digits that has.
fn company_prefix(no: i64) -> String {
    let digits = format!("{no:x}");
    let count = u8::try_from(digits.len()).unwrap_or(u8::MAX);
    format!("{}{digits}", char::from(b'a'.saturating_add(count)))
}

/// The token of a trigram, or of the beginning of one.
fn token(prefix: &str, text: impl Iterator<Item = char>) -> String {
    let mut token = prefix.to_owned();
    encode(text, &mut token);
    token
}

/// The tokens of all trigrams of a text, in order.
fn tokens(no: i64, text: &str) -> String {
    let prefix = company_prefix(no);
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = String::with_capacity(chars.len() * (prefix.len() + 5));
    for trigram in chars.windows(3) {
        if !tokens.is_empty() {
            tokens.push(' ');
        }
        tokens.push_str(&prefix);
        encode(trigram.iter().copied(), &mut tokens);
    }
    tokens
}

/// A contact's texts before and after a transaction; `None` where there is no contact.
#[derive(Debug)]
struct SearchChange {
    before: Option<SearchText>,
    after: Option<SearchText>,
}

/// The pending changes of the index, in the order in which they were made.
#[derive(Debug, Default)]
pub(crate) struct Pending(Vec<(Seq, SearchChange)>);

impl Pending {
    /// Records a new contact.
    pub(crate) fn added(&mut self, seq: Seq, text: SearchText) {
        self.0.push((seq, SearchChange { before: None, after: Some(text) }));
    }

    /// Records that a contact has another search text.
    pub(crate) fn changed(&mut self, seq: Seq, before: SearchText, after: SearchText) {
        self.0.push((seq, SearchChange { before: Some(before), after: Some(after) }));
    }

    /// Records that a contact was deleted.
    pub(crate) fn removed(&mut self, seq: Seq, before: SearchText) {
        self.0.push((seq, SearchChange { before: Some(before), after: None }));
    }

    /// The current number of changes, for [`Pending::forget_since`].
    pub(crate) fn mark(&self) -> usize {
        self.0.len()
    }

    /// Drops the changes made since `mark`.
    pub(crate) fn forget_since(&mut self, mark: usize) {
        self.0.truncate(mark);
    }

    /// Writes the changes to the index. This is done once per transaction, just before the commit:
    /// at each savepoint FTS5 writes out what it has gathered, so that writing after each change
    /// set would make a segment for each.
    pub(crate) fn write(self, conn: &Connection) -> ReadResult<()> {
        // For each contact, the text that the index has and the text after all changes.
        let mut net: BTreeMap<Seq, SearchChange> = BTreeMap::new();
        for (seq, change) in self.0 {
            let before = change.before;
            net.entry(seq).or_insert(SearchChange { before, after: None }).after = change.after;
        }
        for (seq, change) in net {
            if let Some(text) = change.before {
                remove(conn, seq, &text)?;
            }
            if let Some(text) = change.after {
                add(conn, seq, &text)?;
            }
        }
        Ok(())
    }
}

fn add(conn: &Connection, seq: Seq, text: &SearchText) -> ReadResult<()> {
    let text = tokens(seq.company_no(), text.as_str());
    conn.prepare_cached("INSERT INTO contact_search (rowid, text) VALUES (?1, ?2)")?
        .execute(params![seq.0, text])?;
    Ok(())
}

fn remove(conn: &Connection, seq: Seq, text: &SearchText) -> ReadResult<()> {
    let text = tokens(seq.company_no(), text.as_str());
    let delete = "INSERT INTO contact_search (contact_search, rowid, text) \
                  VALUES ('delete', ?1, ?2)";
    conn.prepare_cached(delete)?.execute(params![seq.0, text])?;
    Ok(())
}

/// Makes the index anew if a migration has marked it as stale.
pub(crate) fn rebuild_if_stale(conn: &Connection) -> ReadResult<()> {
    let stale = "DELETE FROM stale_indexes WHERE name = 'contact_search'";
    if conn.execute(stale, [])? == 0 {
        return Ok(());
    }
    conn.execute("INSERT INTO contact_search (contact_search) VALUES ('delete-all')", [])?;
    let query = "SELECT seq, name, display_name, email, identifier, phone FROM contacts \
                 WHERE seq > ?1 ORDER BY seq LIMIT ?2";
    let mut next = Some(Seq(i64::MIN));
    while let Some(after) = next.take() {
        let mut statement = conn.prepare_cached(query)?;
        let mut rows = statement.query(params![after.0, REBUILT_AT_ONCE])?;
        while let Some(row) = rows.next()? {
            let mut columns = Columns::new(row);
            let seq = Seq(columns.get()?);
            let (name, display_name): (String, String) = (columns.get()?, columns.get()?);
            let email: Option<Email> = columns.get()?;
            let identifier: String = columns.get()?;
            let phone: Option<Phone> = columns.get()?;
            let (email, phone) = (email.as_ref(), phone.as_ref());
            add(conn, seq, &SearchText::of(&name, &display_name, email, &identifier, phone))?;
            next = Some(seq);
        }
    }
    Ok(())
}

/// A set of contacts of one company, one bit each.
#[derive(Debug)]
pub(crate) struct Matches {
    range: SeqRange,
    words: Vec<u64>,
    count: u64,
}

impl Matches {
    /// No contact of the range.
    pub(crate) fn new(range: SeqRange) -> Self {
        Self { range, words: Vec::new(), count: 0 }
    }

    /// Adds a contact.
    pub(crate) fn insert(&mut self, seq: i64) {
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
        let at = usize::try_from(seq.0 - self.range.first).unwrap_or(usize::MAX);
        (at / 64, 1 << (at % 64))
    }

    /// Whether a contact matches.
    pub(crate) fn contains(&self, seq: Seq) -> bool {
        let (word, bit) = self.place(seq);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    /// The row numbers among which they are.
    pub(crate) fn range(&self) -> SeqRange {
        self.range
    }

    /// The number of matches.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The contacts that match.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Seq> + '_ {
        self.words.iter().enumerate().filter(|(_, word)| **word != 0).flat_map(move |(at, word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| {
                Seq(self.range.first + i64::try_from(at * 64 + bit).unwrap_or_default())
            })
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
        collect(conn, range, &expression(range.company_no(), needle), &mut found)?;
    }
    Ok(found)
}

/// The query for the texts of a company that contain a needle. All its tokens are the company's,
/// so that the work is bounded by what the company has stored (R199).
fn expression(no: i64, needle: &str) -> String {
    if needle.chars().nth(2).is_some() {
        format!("\"{}\"", tokens(no, needle))
    } else {
        format!("\"{}\" *", token(&company_prefix(no), needle.chars()))
    }
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

#[cfg(test)]
mod tests {
    use recado_core::contacts::Region;

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
    fn the_tokens_are_the_trigrams_of_every_position() {
        assert_eq!(tokens(31, "ação"), "c1façã c1fção");
        assert_eq!(tokens(1, "x y\u{1f}\u{1f}"), "b1xy20y79 b1y20y79y1f b1y79y1fy1f");
        assert_eq!(tokens(1, "ab"), "");
    }

    /// R199.
    #[test]
    fn no_token_of_a_company_begins_as_those_of_another_one() {
        let numbers = [0, 1, 2, 10, 15, 16, 17, 31, 255, 256, 0xb1, 0xb11, (1 << 27) - 1];
        for one in numbers {
            for other in numbers.into_iter().filter(|other| *other != one) {
                assert!(!company_prefix(other).starts_with(&company_prefix(one)));
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn a_token_begins_with_another_one_exactly_when_its_text_does(
            text in "[a-c xyY\"\u{1f}é日0-2]{0,3}",
            start in "[a-c xyY\"\u{1f}é日0-2]{0,3}",
        ) {
            let token = |text: &str| token("b1", text.chars());
            proptest::prop_assert_eq!(token(&text).starts_with(&token(&start)), text.starts_with(&start));
        }
    }

    /// The index is told which text to remove, so that it must have the same one. If this fails,
    /// contacts have other search texts than in databases of earlier releases: add a migration with
    /// `INSERT INTO stale_indexes VALUES ('contact_search')`.
    #[test]
    fn the_search_text_is_the_one_that_existing_databases_have_indexed() {
        let email = Email::parse("Ana@Example.com").expect("an e-mail");
        let phone = Phone::parse("+5534991230001", &Region::br()).expect("a phone");
        let identifier = "5534991230001";
        let text = SearchText::of("Ána Ł.", "Ána", Some(&email), identifier, Some(&phone));
        let digits = "\u{e005}\u{e005}\u{e003}\u{e004}\u{e009}\u{e009}\u{e001}\u{e002}\u{e003}\
                      \u{e000}\u{e000}\u{e000}\u{e001}\u{1f}\u{e005}\u{e005}\u{e003}\u{e004}\
                      \u{e009}\u{e001}\u{e002}\u{e003}\u{e000}\u{e000}\u{e000}\u{e001}\u{1f}\u{1f}";
        let texts = "ana l.\u{1f}ana@example.com\u{1f}+5534991230001\u{1f}";
        assert_eq!(text.as_str(), format!("{texts}{digits}"));
    }
}
