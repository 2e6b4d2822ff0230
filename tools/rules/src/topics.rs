//! The table of topics at the beginning of the decisions: which entries each topic has.

use std::fmt::Write as _;

use crate::index::anchor;
use crate::rules::{Rule, place};

const HEAD: &str = "| Topic | Decisions | Choices |\n|---|---|---|\n";

/// The text of the decisions with the table of topics as the entries are.
///
/// `None` if the text has no such table.
pub(crate) fn renewed(text: &str, entries: &[&Rule]) -> Option<String> {
    let (before, rest) = text.split_once(HEAD)?;
    let rows: usize =
        rest.split_inclusive('\n').take_while(|l| l.starts_with('|')).map(str::len).sum();
    Some(format!("{before}{HEAD}{}{}", table(entries), &rest[rows..]))
}

/// One row for each topic, in the order of the page. The choices of a topic are below a heading of
/// their own, after its decisions.
fn table(entries: &[&Rule]) -> String {
    let mut topics: Vec<(&str, [Vec<&str>; 2])> = Vec::new();
    for rule in entries {
        let is_new = topics.last().is_none_or(|(topic, _)| *topic != rule.group);
        if is_new && (topics.is_empty() || !rule.group.starts_with("Choices: ")) {
            topics.push((&rule.group, [Vec::new(), Vec::new()]));
        }
        if let Some((_, names)) = topics.last_mut() {
            names[usize::from(rule.name.starts_with('R'))].push(&rule.name);
        }
    }
    let mut table = String::new();
    for (topic, names) in topics {
        let [decisions, choices] = names.map(|mut names| {
            names.sort_by_key(|name| place(name));
            shortened(&names)
        });
        let _ = writeln!(table, "| [{topic}](#{}) | {decisions} | {choices} |", anchor(topic));
    }
    table
}

/// Sorted names in a list, three and more that follow one another as a range.
fn shortened(names: &[&str]) -> String {
    let mut shown: Vec<String> = Vec::new();
    let mut rest = names;
    while let Some(first) = rest.first() {
        let run = 1 + rest.windows(2).take_while(|pair| follows(pair[0], pair[1])).count();
        match run {
            3.. => shown.push(format!("{first}–{}", rest[run - 1])),
            _ => shown.extend(rest[..run].iter().map(|name| (*name).to_owned())),
        }
        rest = &rest[run..];
    }
    shown.join(", ")
}

/// Whether a name is the next number of the same kind, both without a letter at the end.
fn follows(one: &str, next: &str) -> bool {
    let ((kind, numbers, letter), (next_kind, next_numbers, next_letter)) =
        (place(one), place(next));
    let next_number = numbers.first().map(|number| number + 1);
    kind == next_kind
        && letter.is_empty()
        && next_letter.is_empty()
        && next_number == next_numbers.first().copied()
}

#[cfg(test)]
mod tests {
    use super::{renewed, shortened};
    use crate::rules::Rules;

    #[test]
    fn a_topic_is_listed_once_with_all_its_entries() {
        let page = "# Decisions\n\n| Topic | Decisions | Choices |\n|---|---|---|\n\
                    | [Names, ids](#names-ids) | D1 |  |\n| [Names, ids](#names-ids) | D9 |  |\n\n\
                    ## Names, ids\n**D2. Ids.** x\n**D1. Names.** x\n\
                    ### Choices: names, ids\n**R5. Keys.** x\n\
                    ## More\n**R4. It.** x\n";
        let rules = Rules::read("", page);
        let mended = renewed(page, &rules.decisions()).expect("a table");
        let rows: Vec<&str> = mended.lines().filter(|line| line.starts_with("| [")).collect();
        assert_eq!(
            rows,
            ["| [Names, ids](#names-ids) | D1, D2 | R5 |", "| [More](#more) |  | R4 |"]
        );
        let [before, after] =
            [page, &mended].map(|text| text.split_once("\n## Names").expect("it").1);
        assert_eq!(before, after);
        assert_eq!(renewed(&mended, &rules.decisions()).as_deref(), Some(&*mended));
        assert_eq!(renewed("# Decisions\n", &[]), None);
    }

    #[test]
    fn three_names_in_sequence_are_a_range() {
        let names = ["D1", "D2", "D42", "D42a", "D43", "D44", "D45", "X46", "X47"];
        assert_eq!(shortened(&names), "D1, D2, D42, D42a, D43–D45, X46, X47");
    }
}
