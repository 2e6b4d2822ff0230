//! One entry of the table of paths, and the router over all of them.

use std::pin::Pin;
use std::sync::LazyLock;

use http::Method;
use recado_core::access::Scope;

use crate::call::{CompanyCall, HookCall, OpenCall, OperatorCall, PathParts, PublicCall};
use crate::error::Outcome;
use crate::openapi::{Operation, Param};
use crate::{
    campaigns, contacts, custom_fields, dispatches, events, health, inbound, links, lists, media,
    messages, operator, prosas, provider_webhooks, sending,
};

/// A handler at work.
pub(crate) type Running = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// How a path is called, which also says who may call it.
#[derive(Clone, Copy)]
pub(crate) enum Endpoint {
    /// By the holder of a key with this scope.
    Public { scope: Scope, run: fn(PublicCall) -> Running },
    /// By the operator, about companies.
    Operator(fn(OperatorCall) -> Running),
    /// By the operator, about the company of the path.
    Company(fn(CompanyCall) -> Running),
    /// By other systems; who may, the hook itself finds out.
    Hook(fn(HookCall) -> Running),
    /// By anybody.
    Open(fn(OpenCall) -> Running),
}

/// What is read of a request's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    /// Nothing.
    Nothing,
    /// A JSON object.
    Json,
    /// A JSON object, or nothing, which counts as an empty one.
    OptionalJson,
    /// A JSON array.
    Array,
    /// The bytes of a document.
    Document,
}

/// One method of one path.
#[derive(Clone, Copy)]
pub(crate) struct Route {
    pub(crate) method: fn() -> Method,
    pub(crate) path: &'static str,
    pub(crate) endpoint: Endpoint,
    pub(crate) reads: Reads,
    pub(crate) query: &'static [Param],
    pub(crate) export: bool,
    /// Whether a repeat with the same `Idempotency-Key` gets the first answer (D37).
    pub(crate) idempotent: bool,
    /// Whether the path counts with anything after it, too.
    pub(crate) suffixes: bool,
    pub(crate) doc: fn(Operation) -> Operation,
}

/// The methods that routes have.
pub(crate) mod verb {
    use http::Method;

    pub(crate) const GET: fn() -> Method = || Method::GET;
    pub(crate) const POST: fn() -> Method = || Method::POST;
    pub(crate) const PUT: fn() -> Method = || Method::PUT;
    pub(crate) const PATCH: fn() -> Method = || Method::PATCH;
    pub(crate) const DELETE: fn() -> Method = || Method::DELETE;
}

impl Route {
    const fn new(
        method: fn() -> Method,
        path: &'static str,
        endpoint: Endpoint,
        doc: fn(Operation) -> Operation,
    ) -> Self {
        Self {
            method,
            path,
            endpoint,
            reads: Reads::Nothing,
            query: &[],
            export: false,
            idempotent: false,
            suffixes: false,
            doc,
        }
    }

    /// A path of the public API.
    pub(crate) const fn public(
        method: fn() -> Method,
        path: &'static str,
        scope: Scope,
        run: fn(PublicCall) -> Running,
        doc: fn(Operation) -> Operation,
    ) -> Self {
        Self::new(method, path, Endpoint::Public { scope, run }, doc)
    }

    /// A path of the operator API about companies.
    pub(crate) const fn operator(
        method: fn() -> Method,
        path: &'static str,
        run: fn(OperatorCall) -> Running,
        doc: fn(Operation) -> Operation,
    ) -> Self {
        Self::new(method, path, Endpoint::Operator(run), doc)
    }

    /// A path of the operator API about one company.
    pub(crate) const fn company(
        method: fn() -> Method,
        path: &'static str,
        run: fn(CompanyCall) -> Running,
        doc: fn(Operation) -> Operation,
    ) -> Self {
        Self::new(method, path, Endpoint::Company(run), doc)
    }

    /// What other systems post to a hook.
    pub(crate) const fn hook(
        path: &'static str,
        run: fn(HookCall) -> Running,
        doc: fn(Operation) -> Operation,
    ) -> Self {
        Self::new(verb::POST, path, Endpoint::Hook(run), doc)
    }

    /// What other systems ask a hook.
    pub(crate) const fn asked_hook(
        path: &'static str,
        run: fn(HookCall) -> Running,
        doc: fn(Operation) -> Operation,
    ) -> Self {
        Self::new(verb::GET, path, Endpoint::Hook(run), doc)
    }

    /// A path that needs no key.
    pub(crate) const fn open(
        path: &'static str,
        run: fn(OpenCall) -> Running,
        doc: fn(Operation) -> Operation,
    ) -> Self {
        Self::new(verb::GET, path, Endpoint::Open(run), doc)
    }

    /// The same, reading a JSON object.
    pub(crate) const fn json(mut self) -> Self {
        self.reads = Reads::Json;
        self
    }

    /// The same, reading a JSON object if there is a body.
    pub(crate) const fn optional_json(mut self) -> Self {
        self.reads = Reads::OptionalJson;
        self
    }

    /// The same, reading a JSON array.
    pub(crate) const fn array(mut self) -> Self {
        self.reads = Reads::Array;
        self
    }

    /// The same, where a repeat with the same `Idempotency-Key` gets the first answer (D37).
    pub(crate) const fn idempotent(mut self) -> Self {
        self.idempotent = true;
        self
    }

    /// The same, for the path with anything after it, too (D68).
    pub(crate) const fn with_suffixes(mut self) -> Self {
        self.suffixes = true;
        self
    }

    /// The same, reading the bytes of a document.
    pub(crate) const fn document(mut self) -> Self {
        self.reads = Reads::Document;
        self
    }

    /// The same with query parameters.
    pub(crate) const fn query(mut self, query: &'static [Param]) -> Self {
        self.query = query;
        self
    }

    /// The same, where some calls use the export allowance too (8).
    pub(crate) const fn export(mut self) -> Self {
        self.export = true;
        self
    }
}

/// Every route there is, in the order of the documentation.
pub(crate) fn all() -> impl Iterator<Item = &'static Route> {
    let public = [
        contacts::ROUTES,
        messages::ROUTES,
        sending::ROUTES,
        custom_fields::ROUTES,
        prosas::ROUTES,
        lists::ROUTES,
        campaigns::ROUTES,
        events::ROUTES,
    ];
    public
        .into_iter()
        .chain([inbound::ROUTES, dispatches::ROUTES, provider_webhooks::ROUTES])
        .chain(operator::TABLES.iter().copied())
        .chain([links::ROUTES, media::ROUTES, health::ROUTES])
        .flatten()
}

/// The methods of one path.
#[derive(Clone)]
pub(crate) struct PathEntry {
    /// The path with its variable parts unfilled: what metrics and logs name.
    pub(crate) template: &'static str,
    routes: Vec<&'static Route>,
}

impl PathEntry {
    /// The route of a method; HEAD is answered wherever GET is (D8a).
    pub(crate) fn route(&self, method: &Method) -> Option<&'static Route> {
        let wanted = if method == Method::HEAD { &Method::GET } else { method };
        self.routes.iter().find(|route| (route.method)() == *wanted).copied()
    }

    /// What `Allow` says.
    pub(crate) fn allow(&self) -> String {
        let mut methods = Vec::new();
        for route in &self.routes {
            methods.push((route.method)().to_string());
            if (route.method)() == Method::GET {
                methods.push("HEAD".to_owned());
            }
        }
        methods.join(", ")
    }
}

static ROUTER: LazyLock<matchit::Router<PathEntry>> = LazyLock::new(|| {
    let mut entries: Vec<PathEntry> = Vec::new();
    for route in all() {
        match entries.iter_mut().find(|entry| entry.template == route.path) {
            Some(entry) => entry.routes.push(route),
            None => entries.push(PathEntry { template: route.path, routes: vec![route] }),
        }
    }
    let mut router = matchit::Router::new();
    for entry in entries {
        if entry.routes.iter().any(|route| route.suffixes) {
            // What follows a slash may be nothing, which a wildcard does not match.
            for suffix in ["/", "/{*suffix}"] {
                let path = format!("{}{suffix}", entry.template);
                router.insert(path, entry.clone()).expect("no other path begins like this one");
            }
        }
        router.insert(entry.template, entry).expect("the table of paths holds no two alike");
    }
    router
});

/// The place a path names. A trailing slash names another path (D8a).
pub(crate) fn find(path: &str) -> Option<(&'static PathEntry, PathParts)> {
    let found = ROUTER.at(path).ok()?;
    Some((found.value, PathParts::new(&found.params)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_found_with_its_parts_and_a_trailing_slash_is_another_path() {
        let (entry, parts) = find("/api/v1/contacts/abc").expect("a place");
        assert_eq!((entry.template, parts.text("id")), ("/api/v1/contacts/{id}", "abc"));
        assert!(find("/api/v1/contacts/abc/").is_none());
        assert!(find("/api/v1/contacts/").is_none());
    }

    #[test]
    fn some_paths_count_with_anything_after_them() {
        for suffix in ["", "/", "/messages-upsert", "/a/b/"] {
            let path = format!("/api/webhooks/provider/abc{suffix}");
            let (entry, parts) = find(&path).expect("a place");
            let template = "/api/webhooks/provider/{connection_id}";
            assert_eq!((entry.template, parts.text("connection_id")), (template, "abc"), "{path}");
        }
        assert!(find("/api/webhooks/provider/").is_none());
        assert!(find("/api/webhooks/provider").is_none());
    }

    #[test]
    fn allow_names_head_beside_get() {
        let (entry, _) = find("/api/v1/contacts").expect("a place");
        assert_eq!(entry.allow(), "GET, HEAD, POST");
        assert!(entry.route(&Method::HEAD).is_some());
        assert!(entry.route(&Method::PUT).is_none());
    }

    #[test]
    fn every_route_lies_on_the_surface_that_its_endpoint_says() {
        for route in all() {
            let expected = match route.endpoint {
                Endpoint::Public { .. } => route.path.starts_with("/api/v1/"),
                Endpoint::Operator(_) => route.path.starts_with("/operator/v1/companies"),
                Endpoint::Company(_) => {
                    route.path.starts_with("/operator/v1/companies/{company_id}/")
                }
                Endpoint::Hook(_) => route.path.starts_with("/api/webhooks/"),
                Endpoint::Open(_) => ["/api/v1", "/api/webhooks", "/operator"]
                    .iter()
                    .all(|surface| !route.path.starts_with(surface)),
            };
            assert!(expected, "{}", route.path);
        }
    }
}
