//! The modules of a crate, and the names that each of them uses.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::tokens::{Token, tokens};

/// A path as it is written: `crate`, `self`, `super` or a name, then names.
pub(crate) type Names = Vec<String>;

/// A module: a file, or a part of one.
#[derive(Debug, Default)]
pub(crate) struct Module {
    /// The file of the module.
    pub(crate) file: PathBuf,
    /// Its path from the crate's root.
    pub(crate) path: Names,
    /// Its parent module; its own number for the root.
    pub(crate) parent: usize,
    /// Its child modules.
    pub(crate) children: BTreeMap<String, usize>,
    /// The items defined in it.
    pub(crate) items: BTreeSet<String>,
    /// The macros among its items.
    pub(crate) macro_rules: BTreeSet<String>,
    /// Its imports, by the name they have in this module.
    pub(crate) imports: BTreeMap<String, Names>,
    /// The modules of its glob imports.
    pub(crate) globs: Vec<Names>,
    /// Every path in it, including imports.
    pub(crate) paths: BTreeSet<Names>,
    /// Every macro that it calls by a single name. Such a name may be valid in the whole crate.
    pub(crate) macros: BTreeSet<String>,
    /// Every name in it.
    pub(crate) names: BTreeSet<String>,
}

/// The modules of a crate without its tests. The first one is the root.
#[derive(Debug, Default)]
pub(crate) struct Modules(pub(crate) Vec<Module>);

impl Modules {
    /// Reads a crate from its root file.
    ///
    /// # Errors
    ///
    /// When a file cannot be read.
    pub(crate) fn read(root: &Path) -> io::Result<Self> {
        let mut modules = Self::default();
        let folder = root.parent().unwrap_or(Path::new(""));
        let module =
            Module { file: root.to_owned(), path: vec!["crate".to_owned()], ..Module::default() };
        modules.read_file(module, folder)?;
        Ok(modules)
    }

    fn read_file(&mut self, module: Module, folder: &Path) -> io::Result<usize> {
        let tokens = tokens(&fs::read_to_string(&module.file)?);
        self.read_items(module, &tokens, folder)
    }

    /// Reads the items of one module. The files of its child modules are in `folder`.
    fn read_items(&mut self, module: Module, tokens: &[Token], folder: &Path) -> io::Result<usize> {
        let (own, file, path) = (self.0.len(), module.file.clone(), module.path.clone());
        self.0.push(module);
        let mut rest = tokens;
        while !rest.is_empty() {
            let (item, after) = split_item(rest);
            rest = after;
            if is_test(item) {
                continue;
            }
            let (head, name) = head(item);
            match (head, name) {
                ("mod", Some(name)) => {
                    let inner = folder.join(name);
                    let path = [&path[..], &[name.to_owned()]].concat();
                    let module = Module { path, parent: own, ..Module::default() };
                    let child = match item.iter().position(|token| token.is_sign('{')) {
                        Some(body) => {
                            let module = Module { file: file.clone(), ..module };
                            self.read_items(module, &item[body + 1..item.len() - 1], &inner)?
                        }
                        None => {
                            let flat = folder.join(format!("{name}.rs"));
                            let file = if flat.exists() { flat } else { inner.join("mod.rs") };
                            self.read_file(Module { file, ..module }, &inner)?
                        }
                    };
                    self.0[own].children.insert(name.to_owned(), child);
                }
                ("macro_rules", Some(name)) => {
                    self.0[own].items.insert(name.to_owned());
                    self.0[own].macro_rules.insert(name.to_owned());
                    if item.iter().any(|token| token.is("macro_export")) {
                        // The macro has this path in the root.
                        let path = [&path[..], &[name.to_owned()]].concat();
                        self.0[0].imports.entry(name.to_owned()).or_insert(path);
                    }
                    self.0[own].mention(item);
                }
                (_, name) => {
                    self.0[own].items.extend(name.map(str::to_owned));
                    self.0[own].mention(item);
                }
            }
        }
        Ok(own)
    }
}

impl Module {
    /// Collects the paths, names and imports of an item.
    fn mention(&mut self, item: &[Token]) {
        let mut at = 0;
        while at < item.len() {
            if item[at].is_sign('#') && item.get(at + 1).is_some_and(|next| next.is_sign('[')) {
                let (inner, _) = split_item(&item[at..]);
                if is_test(inner) {
                    at += inner.len();
                    continue;
                }
            }
            let after_path = at > 0 && item[at - 1] == Token::Path;
            match &item[at] {
                Token::Word(word) if word == "use" && !after_path => {
                    let end = item[at..].iter().position(|token| token.is_sign(';'));
                    let end = end.map_or(item.len(), |length| at + length);
                    // `use<'a>` is a bound and no import.
                    if !item.get(at + 1).is_some_and(|next| next.is_sign('<')) {
                        self.import(&item[at + 1..end], &mut Vec::new());
                        at = end;
                    }
                }
                Token::Word(word) => {
                    self.names.insert(word.clone());
                    if item.get(at + 1).is_some_and(|next| next.is_sign('!')) && !after_path {
                        self.macros.insert(word.clone());
                    }
                    if !after_path {
                        let path = path_at(&item[at..]);
                        if path.len() > 1 {
                            self.paths.insert(path);
                        }
                    }
                }
                Token::Path | Token::Sign(_) => {}
            }
            at += 1;
        }
    }

    /// Collects the imports of a `use` tree, with the path before it.
    fn import(&mut self, tree: &[Token], before: &mut Names) {
        let length = before.len();
        let mut at = 0;
        while at < tree.len() {
            match &tree[at] {
                Token::Sign('{') => {
                    let end = at + closing(&tree[at..]);
                    for part in split_at_commas(&tree[at + 1..end]) {
                        self.import(part, &mut before.clone());
                    }
                    return;
                }
                Token::Sign('*') => {
                    self.globs.push(before.clone());
                    return;
                }
                Token::Word(word) if word == "as" => break,
                Token::Word(word) => before.push(word.clone()),
                Token::Path | Token::Sign(_) => {}
            }
            at += 1;
        }
        if before.len() == length {
            return;
        }
        if before.len() > 1 && before.last().is_some_and(|last| last == "self") {
            before.pop();
        }
        let renamed = tree[at..].last().and_then(Token::word);
        if let Some(name) = renamed.or(before.last().map(String::as_str)) {
            self.imports.insert(name.to_owned(), before.clone());
        }
        self.paths.insert(before.clone());
    }
}

/// The path at the beginning of the tokens.
fn path_at(tokens: &[Token]) -> Names {
    let mut path = Names::new();
    let mut rest = tokens;
    while let [Token::Word(word), after @ ..] = rest {
        path.push(word.clone());
        match after {
            [Token::Path, after @ ..] => rest = after,
            _ => break,
        }
    }
    path
}

/// The index of the bracket that closes the first token.
fn closing(tokens: &[Token]) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len()
}

fn split_at_commas(tokens: &[Token]) -> Vec<&[Token]> {
    let (mut parts, mut start, mut at) = (Vec::new(), 0, 0);
    while at < tokens.len() {
        match tokens[at] {
            Token::Sign('{') => at += closing(&tokens[at..]),
            Token::Sign(',') => {
                parts.push(&tokens[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    parts.push(&tokens[start..]);
    parts
}

/// The end of the attributes at the beginning of the tokens.
fn attributes_end(tokens: &[Token]) -> usize {
    let mut at = 0;
    while tokens.get(at).is_some_and(|token| token.is_sign('#')) {
        let open = at + 1 + usize::from(tokens.get(at + 1).is_some_and(|next| next.is_sign('!')));
        at = open + closing(&tokens[open.min(tokens.len())..]) + 1;
    }
    at.min(tokens.len())
}

/// The first item with its attributes, and the tokens after it.
fn split_item(tokens: &[Token]) -> (&[Token], &[Token]) {
    let start = attributes_end(tokens);
    let (keyword, _) = head(tokens);
    // Braces in their values do not end these items.
    let needs_semicolon = matches!(keyword, "const" | "static" | "type" | "use" | "let");
    let mut at = start;
    while at < tokens.len() {
        match tokens[at] {
            Token::Sign(';' | ',') if at >= start => break,
            Token::Sign('{') if !needs_semicolon => {
                at += closing(&tokens[at..]);
                break;
            }
            Token::Sign('(' | '[' | '{') => at += closing(&tokens[at..]),
            _ => {}
        }
        at += 1;
    }
    tokens.split_at((at + 1).min(tokens.len()))
}

/// The keyword of an item, and its name if it has one.
fn head(item: &[Token]) -> (&str, Option<&str>) {
    let mut rest = item[attributes_end(item)..].iter().enumerate();
    let body = &item[attributes_end(item)..];
    let named = |at: usize| body.get(at + 1).and_then(Token::word);
    while let Some((at, token)) = rest.next() {
        match token.word() {
            Some("pub") => {
                if body.get(at + 1).is_some_and(|next| next.is_sign('(')) {
                    let closed = closing(&body[at + 1..]);
                    rest.nth(closed);
                }
            }
            Some("unsafe" | "async" | "extern" | "default") => {}
            Some("const") if named(at) == Some("fn") => {}
            Some("macro_rules") => return ("macro_rules", body.get(at + 2).and_then(Token::word)),
            Some(
                word @ ("mod" | "struct" | "enum" | "union" | "trait" | "fn" | "type" | "const"
                | "static"),
            ) => return (word, named(at)),
            Some(word) => return (word, None),
            None => return ("", None),
        }
    }
    ("", None)
}

/// Whether an item exists only in tests: `cfg(test)`, or `cfg(any(test, …))`.
fn is_test(item: &[Token]) -> bool {
    let attributes = &item[..attributes_end(item)];
    let mut configured = attributes.iter().enumerate().filter(|(_, token)| token.is("cfg"));
    configured.any(|(at, _)| {
        let end = at + 1 + closing(&attributes[at + 1..]);
        let condition = &attributes[at + 1..end];
        condition.iter().any(|token| token.is("test"))
            && !condition.iter().any(|token| token.is("not"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(source: &str) -> Module {
        let mut modules = Modules::default();
        let read = modules.read_items(Module::default(), &tokens(source), Path::new(""));
        read.expect("no file is read");
        modules.0.remove(0)
    }

    fn path(names: &str) -> Names {
        names.split("::").map(str::to_owned).collect()
    }

    #[test]
    fn imports_are_taken_apart() {
        let module = module("use a::{self, b::{C as D, E}, f}; pub(crate) use super::g::*;");
        let imported = [("a", "a"), ("D", "a::b::C"), ("E", "a::b::E"), ("f", "a::f")];
        let imported = imported.map(|(name, from)| (name.to_owned(), path(from)));
        assert_eq!(module.imports, BTreeMap::from(imported));
        assert_eq!(module.globs, [path("super::g")]);
    }

    #[test]
    fn paths_count_wherever_they_stand() {
        let module = module(
            "impl A for b::B { fn c(&self) -> crate::d::D { use e::F; F::g(); $crate::h!() } }",
        );
        for named in ["b::B", "crate::d::D", "e::F", "F::g", "crate::h"] {
            assert!(module.paths.contains(&path(named)), "{named}: {:?}", module.paths);
        }
    }

    #[test]
    fn what_is_there_for_tests_does_not_count() {
        let module = module(
            "#[cfg(test)] use a::A; #[cfg(any(test, feature = \"x\"))] pub mod b; \
             impl C { #[cfg(test)] fn d() { e::F } fn g() { h::I } } \
             #[cfg(not(test))] use j::K; #[cfg(test)] mod tests { use l::M; } struct N;",
        );
        let expected = BTreeSet::from([path("h::I"), path("j::K")]);
        assert_eq!(module.paths, expected);
        assert_eq!(module.items, BTreeSet::from(["N".to_owned()]));
    }

    #[test]
    fn items_are_told_apart() {
        let module = module(
            "pub(crate) const fn a() {} const B: C = C { d: 1 }; pub struct E(F); macro_rules! g { () => {} } \
             static H: [u8; 1] = [0]; mod i { fn j() {} } async fn k() {} trait L {}",
        );
        let names = ["B", "E", "H", "L", "a", "g", "k"].map(str::to_owned);
        assert_eq!(module.items, BTreeSet::from(names));
        assert_eq!(module.children.len(), 1);
    }
}
