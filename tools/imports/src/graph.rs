//! The imports between files, and the cycles in them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::modules::Modules;

/// The files of a crate, each with the files that define the names it uses.
pub(crate) type Graph = BTreeMap<PathBuf, BTreeSet<PathBuf>>;

/// What a path refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Module(usize),
    /// An item that a module defines.
    Item(usize),
}

struct Resolver<'a> {
    modules: &'a Modules,
    /// The names being resolved, so that the search ends if imports form a cycle.
    under_way: Vec<(usize, String)>,
}

impl Resolver<'_> {
    /// What a path refers to from a module; `None` for items of other crates.
    fn path(&mut self, from: usize, path: &[String]) -> Option<Target> {
        let mut at = Target::Module(from);
        for (number, name) in path.iter().enumerate() {
            // The names after a type are its variants and functions.
            let Target::Module(module) = at else { break };
            let is_last = number + 1 == path.len();
            at = match name.as_str() {
                "crate" if number == 0 => Target::Module(0),
                "self" => at,
                "super" => Target::Module(self.modules.0[module].parent),
                name => self.name(module, name, is_last)?,
            };
        }
        Some(at)
    }

    /// What a name refers to in a module. A module and another item may have the same name.
    fn name(&mut self, module: usize, name: &str, is_last: bool) -> Option<Target> {
        let known = &self.modules.0[module];
        let child = known.children.get(name).map(|child| Target::Module(*child));
        if !is_last && child.is_some() {
            return child;
        }
        if known.items.contains(name) {
            return Some(Target::Item(module));
        }
        let asked = (module, name.to_owned());
        if self.under_way.contains(&asked) {
            return child;
        }
        self.under_way.push(asked);
        let imported = known.imports.get(name).and_then(|path| self.path(module, path));
        let found = imported.or(child).or_else(|| {
            known.globs.iter().find_map(|glob| match self.path(module, glob)? {
                Target::Module(of) => self.name(of, name, is_last),
                Target::Item(_) => None,
            })
        });
        self.under_way.pop();
        found
    }
}

/// The graph of a crate.
pub(crate) fn graph(modules: &Modules) -> Graph {
    let mut resolver = Resolver { modules, under_way: Vec::new() };
    let mut graph = Graph::new();
    for (number, module) in modules.0.iter().enumerate() {
        let mut found = BTreeSet::new();
        let mut add = |target| {
            if let Some(Target::Item(of)) = target {
                found.insert(&modules.0[of].file);
            }
        };
        for path in &module.paths {
            add(resolver.path(number, path));
        }
        for name in &module.macros {
            // The macro is in textual scope, unless the name is defined like any other here.
            let defined = modules.0.iter().position(|other| other.macro_rules.contains(name));
            let known = resolver.name(number, name, true);
            add(known.or(defined.map(Target::Item)));
        }
        if !module.globs.is_empty() {
            for name in &module.names {
                add(resolver.name(number, name, true));
            }
        }
        found.remove(&module.file);
        graph.entry(module.file.clone()).or_default().extend(found.into_iter().cloned());
    }
    graph
}

/// The groups of files in which every file reaches every other, largest first (Tarjan).
pub(crate) fn circles(graph: &Graph) -> Vec<BTreeSet<&Path>> {
    let mut search =
        Search { graph, numbers: BTreeMap::new(), stack: Vec::new(), found: Vec::new() };
    for file in graph.keys() {
        if !search.numbers.contains_key(file.as_path()) {
            search.visit(file);
        }
    }
    search.found.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
    search.found
}

struct Search<'a> {
    graph: &'a Graph,
    numbers: BTreeMap<&'a Path, usize>,
    stack: Vec<&'a Path>,
    found: Vec<BTreeSet<&'a Path>>,
}

impl<'a> Search<'a> {
    /// Answers the lowest number on the stack that can be reached from the file.
    fn visit(&mut self, file: &'a Path) -> usize {
        let number = self.numbers.len();
        self.numbers.insert(file, number);
        let height = self.stack.len();
        self.stack.push(file);
        let mut lowest = number;
        let graph = self.graph;
        for next in graph.get(file).into_iter().flatten() {
            match self.numbers.get(next.as_path()) {
                None => lowest = lowest.min(self.visit(next)),
                Some(seen) if self.stack.contains(&next.as_path()) => lowest = lowest.min(*seen),
                Some(_) => {}
            }
        }
        if lowest == number {
            let circle: BTreeSet<&Path> = self.stack.split_off(height).into_iter().collect();
            if circle.len() > 1 {
                self.found.push(circle);
            }
        }
        lowest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modules::Module;

    fn graph_of(edges: &[(&str, &str)]) -> Graph {
        let mut graph = Graph::new();
        for (from, to) in edges {
            graph.entry(to.into()).or_default();
            graph.entry(from.into()).or_default().insert(to.into());
        }
        graph
    }

    #[test]
    fn a_circle_is_what_leads_back_to_itself() {
        let graph = graph_of(&[
            ("a", "b"),
            ("b", "c"),
            ("c", "a"),
            ("c", "d"),
            ("d", "e"),
            ("e", "d"),
            ("f", "a"),
        ]);
        let found = circles(&graph);
        let expected = [&["a", "b", "c"][..], &["d", "e"]];
        let expected = expected.map(|circle| circle.iter().map(Path::new).collect());
        assert_eq!(found, expected);
        assert!(circles(&graph_of(&[("a", "b"), ("a", "c"), ("b", "c")])).is_empty());
    }

    /// A crate with modules `a` and `b`, whose root re-exports their items.
    fn modules() -> Modules {
        let path = |text: &str| text.split("::").map(str::to_owned).collect::<Vec<_>>();
        let module = |file: &str| Module { file: file.into(), ..Module::default() };
        let mut root = module("lib.rs");
        root.children = BTreeMap::from([("a".to_owned(), 1), ("b".to_owned(), 2)]);
        root.imports = BTreeMap::from([("A".to_owned(), path("a::A"))]);
        root.paths = BTreeSet::from([path("a::A")]);
        let mut a = module("a.rs");
        a.items = BTreeSet::from(["A".to_owned()]);
        a.globs = vec![path("super::b")];
        a.names = BTreeSet::from(["B".to_owned(), "Other".to_owned()]);
        let mut b = module("b.rs");
        b.items = BTreeSet::from(["B".to_owned()]);
        b.paths = BTreeSet::from([path("super::A::Variant"), path("std::fmt")]);
        Modules(vec![root, a, b])
    }

    #[test]
    fn a_path_leads_to_the_file_that_defines_it() {
        let graph = graph(&modules());
        let of = |file: &str| graph[Path::new(file)].iter().cloned().collect::<Vec<_>>();
        assert_eq!(of("lib.rs"), [PathBuf::from("a.rs")]);
        assert_eq!(of("a.rs"), [PathBuf::from("b.rs")], "through a glob");
        assert_eq!(of("b.rs"), [PathBuf::from("a.rs")], "through the root's import");
    }
}
