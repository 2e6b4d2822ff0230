//! An index from rules to code and tests, collected over a workspace and written as a page.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    io,
    path::Path,
};

use crate::{exemptions, rules::Rules, source, topics};

/// Items by their file. An empty name means the whole file.
type Citations = BTreeMap<String, BTreeSet<String>>;

/// The citations where a rule is cited.
#[derive(Default)]
struct Cited {
    code: Citations,
    tests: Citations,
}

/// The citations of all rules in the workspace.
pub(crate) struct Index {
    rules: Rules,
    cited: BTreeMap<String, Cited>,
    /// Citations of rules that do not exist.
    unknown: Vec<String>,
}

/// The purpose of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Code,
    Test,
    /// Helps tests and measurements: it neither implements nor tests a rule.
    Support,
}

/// The path of this command. Its own comments have citations as examples.
const THIS: &str = "tools/rules/";

fn role(path: &str) -> Role {
    let is_support = ["tests/src/", "tools/", "fuzz/", "crates/testkit/src/"]
        .iter()
        .any(|start| path.starts_with(start))
        || path.contains("/benches/");
    let is_suite = path.starts_with("crates/testkit/src/conformance/");
    if is_suite || !is_support && (path.contains("/tests/") || path.ends_with("/tests.rs")) {
        Role::Test
    } else if is_support {
        Role::Support
    } else {
        Role::Code
    }
}

impl Index {
    /// Reads the documents and all Rust files below `root`.
    pub(crate) fn read(root: &Path) -> io::Result<Self> {
        let page = |name: &str| std::fs::read_to_string(root.join("docs").join(name));
        let rules = Rules::read(&page("api-reference.md")?, &page("decisions.md")?);
        let mut index = Self { rules, cited: BTreeMap::new(), unknown: Vec::new() };
        for folder in ["crates", "examples", "tests", "tools"] {
            for path in rust_files(root, &root.join(folder))? {
                if !path.starts_with(THIS) {
                    index.add(&path, &std::fs::read_to_string(root.join(&path))?);
                }
            }
        }
        Ok(index)
    }

    fn add(&mut self, path: &str, source: &str) {
        let role = role(path);
        for found in source::cited(source) {
            let rules = match self.rules.find(&found.citation) {
                Ok(rules) => rules,
                Err(name) => {
                    self.unknown.push(format!("{path}:{}: no rule is named {name}", found.line));
                    continue;
                }
            };
            for rule in rules {
                let cited = self.cited.entry(rule.name.clone()).or_default();
                let citations = match role {
                    Role::Support => continue,
                    Role::Code if !found.in_test => &mut cited.code,
                    Role::Code | Role::Test => &mut cited.tests,
                };
                citations.entry(path.to_owned()).or_default().insert(found.item.clone());
            }
        }
    }

    /// The text of the decisions with its table of topics as the entries are, if it has one.
    pub(crate) fn decisions(&self, text: &str) -> Option<String> {
        topics::renewed(text, &self.rules.decisions())
    }

    /// All faults, as lines of text.
    pub(crate) fn faults(&self) -> Vec<String> {
        let mut faults = self.unknown.clone();
        faults.extend(
            self.rules.doubled().iter().map(|name| format!("{name} is the name of two rules")),
        );
        faults
    }

    /// The rules that lack code or a test, and are not exempt.
    pub(crate) fn uncited(&self) -> Vec<String> {
        let mut uncited = Vec::new();
        for rule in self.rules.all() {
            let [code, tests] = self.citations(&rule.name);
            if self.rules.is_divided(&rule.name) || rule.is_listed() {
                continue;
            }
            if exemptions::reason(&rule.name).is_some() {
                if !code.is_empty() && !tests.is_empty() {
                    uncited
                        .push(format!("{} is exempt, though code and a test cite it", rule.name));
                }
                continue;
            }
            if code.is_empty() {
                uncited.push(format!("{} ({}): no function cites it", rule.name, rule.title));
            }
            if tests.is_empty() {
                uncited.push(format!("{} ({}): no test cites it", rule.name, rule.title));
            }
        }
        let unknown = exemptions::names()
            .filter(|name| !self.rules.all().iter().any(|rule| rule.name == **name));
        uncited.extend(unknown.map(|name| format!("{name} is exempt, and no rule")));
        uncited
    }

    /// The citations that cite a rule: code, then tests. For a section without subsections,
    /// citations of the rules in its list count, too.
    fn citations(&self, name: &str) -> [Citations; 2] {
        let below = format!("{name}.");
        let is_divided = self.rules.is_divided(name);
        let mut citations = [Citations::new(), Citations::new()];
        for (rule, cited) in &self.cited {
            if rule == name || !is_divided && rule.starts_with(&below) {
                for (all, some) in citations.iter_mut().zip([&cited.code, &cited.tests]) {
                    for (path, items) in some {
                        all.entry(path.clone()).or_default().extend(items.iter().cloned());
                    }
                }
            }
        }
        citations
    }

    /// The page `docs/rules.md`.
    pub(crate) fn page(&self) -> String {
        let mut page = String::from(INTRODUCTION);
        let mut group = "";
        for rule in self.rules.all() {
            if rule.group != group {
                group = &rule.group;
                let _ = write!(page, "\n## {group}\n\n| Rule | Code | Tests |\n|---|---|---|\n");
            }
            let address = anchor(&rule.heading);
            let title = rule.title.replace('|', "\\|");
            let [mut code, tests] = self.citations(&rule.name).map(|citations| cell(&citations));
            if rule.is_listed() && code.is_empty() && tests.is_empty() {
                continue;
            }
            if let Some(reason) = exemptions::reason(&rule.name) {
                code = format!("{code}{}*{reason}*", if code.is_empty() { "" } else { "<br>" });
            }
            let _ = writeln!(
                page,
                "| [{}]({}#{address}) {title} | {code} | {tests} |",
                rule.name, rule.page
            );
        }
        page
    }
}

const INTRODUCTION: &str = "# Rules, code, tests

Which code implements each rule of [the reference](api-reference.md) and of [the decisions](decisions.md), and which
tests prove it. This page is made of the comments that cite the rules: change those, then run
`cargo run -p recado-rules -- --write`. A file without names cites the rule for all that it holds.
";

/// Items by file, with one line for each file.
fn cell(citations: &Citations) -> String {
    let lines: Vec<String> = citations
        .iter()
        .map(|(path, items)| {
            let shown = path.trim_start_matches("crates/").replace("/src/", "/");
            let names: Vec<String> = items
                .iter()
                .filter(|name| !name.is_empty())
                .map(|name| format!("`{name}`"))
                .collect();
            let colon = if names.is_empty() { "" } else { ": " };
            format!("[{shown}](../{path}){colon}{}", names.join(", "))
        })
        .collect();
    lines.join("<br>")
}

/// The anchor of a heading within its page, as code hosts form it.
pub(crate) fn anchor(heading: &str) -> String {
    heading
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

/// The Rust files below a folder, in a fixed order, with `/` between the parts of their paths.
fn rust_files(root: &Path, folder: &Path) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && !path.ends_with("target") {
            found.extend(rust_files(root, &path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let below = path.strip_prefix(root).unwrap_or(&path);
            found.push(below.to_string_lossy().replace('\\', "/"));
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Index, anchor};
    use crate::rules::Rules;

    fn index(files: &[(&str, &str)]) -> Index {
        let reference = "## 4. Endpoints\n### 4.3 POST /contacts\n1. One.\n";
        let decisions = "## Names\n**D1. Names.** x\n**D2. Ids.** x\n";
        let rules = Rules::read(reference, decisions);
        let mut index = Index { rules, cited: BTreeMap::new(), unknown: Vec::new() };
        for (path, source) in files {
            index.add(path, source);
        }
        index
    }

    #[test]
    fn a_rule_names_its_code_and_its_tests() {
        let page = index(&[
            ("crates/core/src/a.rs", "/// D1\nfn rule() {}\n#[cfg(test)]\nmod tests {\n/// D1\n#[test]\nfn holds() {}\n}"),
            ("crates/core/tests/b.rs", "//! All of 4.3 (4.3).\n/// D1\n#[test]\nfn too() {}"),
            ("crates/testkit/src/conformance/c.rs", "/// 4.3.1\nasync fn promise() {}"),
            ("tests/src/world.rs", "/// D2\nfn helper() {}"),
        ])
        .page();
        let code = "[core/a.rs](../crates/core/src/a.rs): `rule`";
        let tests = "[core/a.rs](../crates/core/src/a.rs): `holds`<br>[core/tests/b.rs](../crates/core/tests/b.rs): `too`";
        assert!(
            page.contains(&format!("| [D1](decisions.md#names) Names | {code} | {tests} |\n")),
            "{page}"
        );
        assert!(
            page.contains("| [D2](decisions.md#names) Ids |  |  |\n"),
            "helpers prove nothing: {page}"
        );
        let promise =
            "[testkit/conformance/c.rs](../crates/testkit/src/conformance/c.rs): `promise`";
        assert!(
            page.contains(&format!(
                "POST /contacts |  | [core/tests/b.rs](../crates/core/tests/b.rs)<br>{promise} |\n"
            )),
            "a section has what its rules have: {page}"
        );
    }

    #[test]
    fn a_citation_of_no_rule_and_a_rule_without_test_are_reported() {
        let index = index(&[("crates/core/src/a.rs", "fn a() {}\n/// D1 and D9.\nfn rule() {}")]);
        assert_eq!(index.faults(), ["crates/core/src/a.rs:2: no rule is named D9"]);
        let uncited = index.uncited();
        assert!(!uncited.contains(&"D1 (Names): no function cites it".to_owned()), "{uncited:?}");
        for expected in ["D1 (Names): no test cites it", "D2 (Ids): no function cites it"] {
            assert!(uncited.contains(&expected.to_owned()), "{expected}: {uncited:?}");
        }
    }

    #[test]
    fn headings_are_addressed_as_code_hosts_do() {
        assert_eq!(anchor("4.3 POST /api/v1/contacts"), "43-post-apiv1contacts");
        assert_eq!(anchor("3.1 Conversation `inbox_status`"), "31-conversation-inbox_status");
        assert_eq!(anchor("Keys, plans, rates"), "keys-plans-rates");
    }
}
