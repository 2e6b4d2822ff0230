//! The table of paths: which method, who may, what is read, who answers (R418).

use std::pin::Pin;
use std::sync::LazyLock;

use recado_core::access::OperatorAction;

use crate::ask::{Ask, OpenAsk};
use crate::pages;
use crate::reply::Outcome;

/// The method of a route. A HEAD is answered as a GET without its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Reads.
    Get,
    /// Writes.
    Post,
}

/// Who may use a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Everybody, also without a session.
    Open,
    /// Every signed-in member.
    Member,
    /// Who may do this.
    Action(OperatorAction),
}

/// What is read of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Nothing.
    Nothing,
    /// A form without files.
    Form,
    /// The handler reads the body itself, such as a form with a file. The token of the session
    /// comes in the header or, for a form without script, as a field before the file.
    Stream,
}

pub(crate) type Answering = Pin<Box<dyn Future<Output = Outcome> + Send>>;

#[derive(Clone, Copy)]
pub(crate) enum Run {
    Open(fn(OpenAsk) -> Answering),
    Member(fn(Ask) -> Answering),
}

/// A path with its method.
#[derive(Clone, Copy)]
pub struct Route {
    verb: Verb,
    path: &'static str,
    access: Access,
    reads: Reads,
    pub(crate) run: Run,
}

impl std::fmt::Debug for Route {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Route")
            .field("verb", &self.verb)
            .field("path", &self.path)
            .field("access", &self.access)
            .finish_non_exhaustive()
    }
}

impl Route {
    /// A page that needs this right.
    pub(crate) const fn get(
        path: &'static str,
        action: OperatorAction,
        run: fn(Ask) -> Answering,
    ) -> Self {
        let (verb, access) = (Verb::Get, Access::Action(action));
        Self { verb, path, access, reads: Reads::Nothing, run: Run::Member(run) }
    }

    /// A form that needs this right.
    pub(crate) const fn post(
        path: &'static str,
        action: OperatorAction,
        run: fn(Ask) -> Answering,
    ) -> Self {
        let (verb, access) = (Verb::Post, Access::Action(action));
        Self { verb, path, access, reads: Reads::Form, run: Run::Member(run) }
    }

    /// For every signed-in member.
    pub(crate) const fn of_member(
        verb: Verb,
        path: &'static str,
        run: fn(Ask) -> Answering,
    ) -> Self {
        let reads = if matches!(verb, Verb::Get) { Reads::Nothing } else { Reads::Form };
        Self { verb, path, access: Access::Member, reads, run: Run::Member(run) }
    }

    /// For everybody.
    pub(crate) const fn open(
        verb: Verb,
        path: &'static str,
        run: fn(OpenAsk) -> Answering,
    ) -> Self {
        let reads = if matches!(verb, Verb::Get) { Reads::Nothing } else { Reads::Form };
        Self { verb, path, access: Access::Open, reads, run: Run::Open(run) }
    }

    /// Its handler reads the body itself.
    #[must_use]
    pub(crate) const fn streamed(mut self) -> Self {
        self.reads = Reads::Stream;
        self
    }

    /// The method.
    pub const fn verb(&self) -> Verb {
        self.verb
    }

    /// The path, with its variable parts in braces.
    pub const fn path(&self) -> &'static str {
        self.path
    }

    /// Who may use it.
    pub const fn access(&self) -> Access {
        self.access
    }

    /// What is read of the body.
    pub const fn reads(&self) -> Reads {
        self.reads
    }
}

/// R418. Every route of the console.
pub fn routes() -> impl Iterator<Item = &'static Route> {
    pages::ROUTES.iter().flat_map(|area| area.iter())
}

/// The routes of a path, and its variable parts.
pub(crate) type Found = (&'static [&'static Route], Vec<(String, String)>);

static ROUTER: LazyLock<matchit::Router<Vec<&'static Route>>> = LazyLock::new(|| {
    let mut paths: Vec<(&'static str, Vec<&'static Route>)> = Vec::new();
    for route in routes() {
        match paths.iter_mut().find(|(path, _)| *path == route.path) {
            Some((_, known)) => known.push(route),
            None => paths.push((route.path, vec![route])),
        }
    }
    let mut router = matchit::Router::new();
    for (path, routes) in paths {
        router.insert(path, routes).expect("the paths of the table do not contradict each other");
    }
    router
});

/// The routes of a path.
pub(crate) fn find(path: &str) -> Option<Found> {
    let found = ROUTER.at(path).ok()?;
    let parts = found.params.iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
    Some((found.value.as_slice(), parts.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R418.
    #[test]
    fn every_route_is_found_by_its_path_and_method() {
        for route in routes() {
            let path = route.path().replace(['{', '}'], "");
            let (found, _) = find(&path).expect("a path of the table");
            let same = found.iter().filter(|known| known.verb() == route.verb()).count();
            assert_eq!(same, 1, "{route:?}");
            assert!(path == "/console" || path.starts_with("/console/"), "{path}");
        }
    }

    /// R418. A write is never read by GET, and never open but for signing in.
    #[test]
    fn a_route_that_writes_is_a_post() {
        for route in routes().filter(|route| route.verb() == Verb::Get) {
            assert_eq!(route.reads(), Reads::Nothing, "{route:?}");
        }
    }
}
