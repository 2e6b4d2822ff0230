//! The rules, as listed in the reference and in the decisions.

use std::collections::BTreeMap;

use crate::citations::Citation;

const REFERENCE: &str = "api-reference.md";
const DECISIONS: &str = "decisions.md";

/// A section of the reference, a rule in a numbered list of one, or a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) name: String,
    pub(crate) title: String,
    /// The page under `docs/`.
    pub(crate) page: &'static str,
    /// The heading above the rule, in the index and on its page.
    pub(crate) group: String,
    /// The heading to link to.
    pub(crate) heading: String,
}

impl Rule {
    /// Whether the rule is in a list within a section. A citation of the section then includes it.
    pub(crate) fn is_listed(&self) -> bool {
        self.page == REFERENCE && !self.heading.starts_with(&self.name)
    }
}

/// All rules, in the order of the documents.
pub(crate) struct Rules {
    all: Vec<Rule>,
    by_name: BTreeMap<String, usize>,
}

impl Rules {
    /// Whether a rule is a section with subsections.
    pub(crate) fn is_divided(&self, name: &str) -> bool {
        let below = format!("{name}.");
        let is_section =
            |rule: &&Rule| rule.name.starts_with(&below) && rule.heading.starts_with(&rule.name);
        self.all.iter().any(|rule| is_section(&rule))
    }

    /// Reads the text of both documents.
    pub(crate) fn read(reference: &str, decisions: &str) -> Self {
        let mut all = sections(reference);
        all.extend(entries(decisions));
        let by_name =
            all.iter().enumerate().map(|(index, rule)| (rule.name.clone(), index)).collect();
        Self { all, by_name }
    }

    pub(crate) fn all(&self) -> &[Rule] {
        &self.all
    }

    /// Those that are decisions.
    pub(crate) fn decisions(&self) -> Vec<&Rule> {
        self.all.iter().filter(|rule| rule.page == DECISIONS).collect()
    }

    /// The names that two rules have.
    pub(crate) fn doubled(&self) -> Vec<&str> {
        let is_doubled = |(index, rule): (usize, &'_ Rule)| {
            self.by_name.get(&rule.name).is_some_and(|found| *found != index)
        };
        self.all
            .iter()
            .enumerate()
            .filter(|(index, rule)| is_doubled((*index, rule)))
            .map(|(_, rule)| rule.name.as_str())
            .collect()
    }

    /// The rules that a citation refers to.
    ///
    /// # Errors
    ///
    /// The name, if no rule has it.
    pub(crate) fn find<'a>(&'a self, citation: &'a Citation) -> Result<Vec<&'a Rule>, &'a str> {
        let one = |name: &'a str| match self.by_name.get(name) {
            Some(index) => Ok(&self.all[*index]),
            None => Err(name),
        };
        match citation {
            Citation::One(name) => Ok(vec![one(name)?]),
            Citation::Range(first, last) => {
                let (first, last) = (place(&one(first)?.name), place(&one(last)?.name));
                let within = |rule: &&Rule| {
                    let place = place(&rule.name);
                    first <= place && place <= last && place.1.len() == first.1.len()
                };
                Ok(self.all.iter().filter(within).collect())
            }
        }
    }
}

/// The sort key of a rule among those of its kind: `D9` before `D31` before `D31a`, `4.3` before
/// `4.10`.
pub(crate) fn place(name: &str) -> (char, Vec<u32>, String) {
    let kind = name.chars().next().filter(char::is_ascii_alphabetic).unwrap_or('0');
    let rest = name.trim_start_matches(['D', 'R', 'X']);
    let digits = rest.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let numbers = digits.split('.').filter_map(|part| part.parse().ok()).collect();
    (kind, numbers, rest[digits.len()..].to_owned())
}

/// The sections of the reference, and the rules of the first numbered list in each.
fn sections(text: &str) -> Vec<Rule> {
    let mut found: Vec<Rule> = Vec::new();
    let mut group = String::new();
    let (mut section, mut heading) = (String::new(), String::new());
    // The number of the list's next rule; `None` after a second list has begun.
    let mut next = None;
    for line in prose(text) {
        let (level, title) = split_heading(line);
        if let (2 | 3, Some((number, rest))) = (level, title.split_once(' ')) {
            let number = number.trim_end_matches('.');
            if number.starts_with(|c: char| c.is_ascii_digit()) {
                section = number.to_owned();
                heading = title.to_owned();
                next = Some(1);
                if level == 2 {
                    group = title.to_owned();
                }
                found.push(Rule {
                    name: section.clone(),
                    title: rest.to_owned(),
                    page: REFERENCE,
                    group: group.clone(),
                    heading: heading.clone(),
                });
            }
        } else if let Some((number, rest)) = line.trim_start_matches('*').split_once(". ")
            && let (Some(expected), Ok(number)) = (next, number.parse::<u32>())
        {
            next = (number == expected).then_some(expected + 1);
            if next.is_none() {
                continue;
            }
            found.push(Rule {
                name: format!("{section}.{number}"),
                title: beginning(rest),
                page: REFERENCE,
                group: group.clone(),
                heading: heading.clone(),
            });
        }
    }
    found
}

/// The decisions: paragraphs or headings that begin with a number such as `**D12. Rates.**`.
fn entries(text: &str) -> Vec<Rule> {
    let mut found = Vec::new();
    let mut group = String::new();
    for line in prose(text) {
        let (level, title) = split_heading(line);
        let start = if level > 0 { title } else { line.trim_start_matches(['-', ' ']) };
        let bold = start.starts_with("**");
        let entry = start.trim_start_matches('*').split_once(". ").filter(|(name, _)| {
            let (kind, numbers, _) = place(name);
            matches!(kind, 'D' | 'R' | 'X') && numbers.len() == 1
        });
        match entry {
            Some((name, rest)) if bold || level > 0 => found.push(Rule {
                name: name.to_owned(),
                title: beginning(if bold { start } else { rest })
                    .trim_start_matches(name)
                    .trim_start_matches(['.', ' '])
                    .to_owned(),
                page: DECISIONS,
                group: group.clone(),
                heading: group.clone(),
            }),
            _ if level > 0 => group = title.to_owned(),
            _ => {}
        }
    }
    found
}

/// The lines that are not in code blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut in_code = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        !in_code && !fence
    })
}

fn split_heading(line: &str) -> (usize, &str) {
    let level = line.chars().take_while(|c| *c == '#').count();
    (level, line[level..].trim())
}

/// The title of a rule: the bold words at its beginning, or else its first words.
fn beginning(text: &str) -> String {
    let bold = text.trim_start_matches("**").split_once("**").map(|(bold, _)| bold);
    let bold = bold.filter(|_| text.starts_with("**"));
    let short = match bold {
        Some(bold) => bold,
        None => text.split_once("** ").map_or(text, |(bold, _)| bold),
    };
    let end = short.char_indices().nth(70).map_or(short.len(), |(end, _)| end);
    let mut shown = short[..end].trim_end_matches(['.', ',', ':', ' ']).to_owned();
    if end < short.len() {
        shown.push('…');
    }
    without_links(&shown)
}

/// `[text](address)` becomes `text`.
fn without_links(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        shown.push_str(&before.replacen('[', "", 1));
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::Rules;
    use crate::citations::Citation;

    const SECTIONS: &str = "# Title\n## 4. Endpoints\n### 4.3 POST /contacts\ntext\n\n1. **A phone** is one.\n\
                             2. Second `x`, see [4.5](#45-x).\n```\n3. no\n```\n\n1. other list\n2. of\n3. three\n### 4.10 Last\n\
                             **1. By page** goes.\n## 9. Versioning\n";
    const ENTRIES: &str = "# Decisions\n## Names\n**D1. Names.** Text D2.\n\n**D12. Rates of a key.** x\n## More\n\
                             **D31. Once** y\n\n**D31a. Contents.**\n### R5. Deleting\n\n**R56. 4,096 characters** are\n";

    fn names(citation: &Citation) -> Vec<String> {
        let rules = Rules::read(SECTIONS, ENTRIES);
        let found = rules.find(citation).expect("known");
        found.into_iter().map(|rule| rule.name.clone()).collect()
    }

    #[test]
    fn sections_and_decisions_are_read_in_their_order() {
        let rules = Rules::read(SECTIONS, ENTRIES);
        let read: Vec<_> = rules
            .all()
            .iter()
            .map(|rule| (rule.name.as_str(), rule.title.as_str(), rule.group.as_str()))
            .collect();
        assert_eq!(
            read,
            [
                ("4", "Endpoints", "4. Endpoints"),
                ("4.3", "POST /contacts", "4. Endpoints"),
                ("4.3.1", "A phone", "4. Endpoints"),
                ("4.3.2", "Second `x`, see 4.5", "4. Endpoints"),
                ("4.10", "Last", "4. Endpoints"),
                ("4.10.1", "By page", "4. Endpoints"),
                ("9", "Versioning", "9. Versioning"),
                ("D1", "Names", "Names"),
                ("D12", "Rates of a key", "Names"),
                ("D31", "Once", "More"),
                ("D31a", "Contents", "More"),
                ("R5", "Deleting", "More"),
                ("R56", "4,096 characters", "More"),
            ]
        );
        assert_eq!(rules.doubled(), Vec::<&str>::new());
        assert_eq!(Rules::read(SECTIONS, "**D1. A.**\n**D1. B.**").doubled(), ["D1"]);
    }

    #[test]
    fn a_range_holds_what_lies_between_and_an_unknown_name_is_reported() {
        let range = |first: &str, last: &str| Citation::Range(first.to_owned(), last.to_owned());
        assert_eq!(names(&range("D12", "D31")), ["D12", "D31"]);
        assert_eq!(names(&range("D12", "D31a")), ["D12", "D31", "D31a"]);
        assert_eq!(names(&range("4.3", "4.10")), ["4.3", "4.10"]);
        let rules = Rules::read(SECTIONS, ENTRIES);
        assert_eq!(rules.find(&Citation::One("D2".to_owned())), Err("D2"));
        assert_eq!(rules.find(&range("D1", "D99")), Err("D99"));
    }
}
