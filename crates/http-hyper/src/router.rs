//! The table of all paths, and the router over it.

use std::sync::LazyLock;

use http::Method;

use crate::call::PathParts;
use crate::route::Route;
use crate::{
    campaigns, contacts, custom_fields, dispatches, events, health, inbound, links, lists, marks,
    media, messages, operator, prosas, provider_webhooks, reference, sending, uploads,
};

/// The routes of each file, in the order of the documentation, with their feature.
pub(crate) fn tables() -> impl Iterator<Item = (&'static str, &'static [Route])> {
    let public = [
        ("contacts", contacts::ROUTES),
        ("messages", messages::ROUTES),
        ("messages", marks::ROUTES),
        ("sending", sending::ROUTES),
        ("sending", uploads::ROUTES),
        ("custom-fields", custom_fields::ROUTES),
        ("prosas", prosas::ROUTES),
        ("lists", lists::ROUTES),
        ("campaigns", campaigns::ROUTES),
        ("events", events::ROUTES),
        ("inbound", inbound::ROUTES),
        ("templates", dispatches::ROUTES),
        ("connections", provider_webhooks::ROUTES),
    ];
    let open = [
        ("links", links::ROUTES),
        ("messages", media::ROUTES),
        ("service", health::ROUTES),
        ("service", reference::ROUTES),
    ];
    public.into_iter().chain(operator::TABLES.iter().copied()).chain(open)
}

/// Every route there is.
pub(crate) fn all() -> impl Iterator<Item = &'static Route> {
    tables().flat_map(|(_, routes)| routes)
}

/// The methods of one path.
#[derive(Clone)]
pub(crate) struct PathEntry {
    /// The path as a template, as in metrics and logs.
    pub(crate) template: &'static str,
    routes: Vec<(&'static Route, &'static str)>,
}

impl PathEntry {
    /// The route of a method, and the name of its operation; HEAD is answered wherever GET is
    /// (D8a).
    pub(crate) fn route(&self, method: &Method) -> Option<(&'static Route, &'static str)> {
        let wanted = if method == Method::HEAD { &Method::GET } else { method };
        self.routes.iter().find(|(route, _)| (route.method)() == *wanted).copied()
    }

    /// The value of `Allow`.
    pub(crate) fn allow(&self) -> String {
        let mut methods = Vec::new();
        for (route, _) in &self.routes {
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
            Some(entry) => entry.routes.push((route, route.operation())),
            None => entries
                .push(PathEntry { template: route.path, routes: vec![(route, route.operation())] }),
        }
    }
    let mut router = matchit::Router::new();
    for entry in entries {
        if entry.routes.iter().any(|(route, _)| route.suffixes) {
            // The suffix may be a slash alone, which a wildcard does not match.
            for suffix in ["/", "/{*suffix}"] {
                let path = format!("{}{suffix}", entry.template);
                router.insert(path, entry.clone()).expect("no other path begins like this one");
            }
        }
        router.insert(entry.template, entry).expect("the table of paths holds no two alike");
    }
    router
});

/// The entry of a [decoded](crate::path::DecodedPath) path, with its variable parts. A path with a
/// trailing slash is a different path (D8a).
pub(crate) fn find(path: &str) -> Option<(&'static PathEntry, PathParts)> {
    let found = ROUTER.at(path).ok()?;
    Some((found.value, PathParts::new(&found.params)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::Endpoint;

    #[test]
    fn a_path_is_found_with_its_parts_and_a_trailing_slash_is_another_path() {
        let (entry, parts) = find("/api/v1/contacts/abc").expect("a route");
        assert_eq!((entry.template, parts.text("id")), ("/api/v1/contacts/{id}", "abc"));
        assert!(find("/api/v1/contacts/abc/").is_none());
        assert!(find("/api/v1/contacts/").is_none());
    }

    /// D73.
    #[test]
    fn an_encoded_slash_is_a_part_of_its_segment_and_is_decoded_with_it() {
        let (entry, parts) = find("/l/a%2Fb%25").expect("a route");
        assert_eq!((entry.template, parts.text("code")), ("/l/{code}", "a/b%"));
        assert!(find("/api%2Fv1/contacts").is_none());
    }

    #[test]
    fn some_paths_count_with_anything_after_them() {
        for suffix in ["", "/", "/messages-upsert", "/a/b/"] {
            let path = format!("/api/webhooks/provider/abc{suffix}");
            let (entry, parts) = find(&path).expect("a route");
            let template = "/api/webhooks/provider/{connection_id}";
            assert_eq!((entry.template, parts.text("connection_id")), (template, "abc"), "{path}");
        }
        assert!(find("/api/webhooks/provider/").is_none());
        assert!(find("/api/webhooks/provider").is_none());
    }

    #[test]
    fn allow_names_head_beside_get() {
        let (entry, _) = find("/api/v1/contacts").expect("a route");
        assert_eq!(entry.allow(), "GET, HEAD, POST");
        assert!(entry.route(&Method::HEAD).is_some());
        assert!(entry.route(&Method::PUT).is_none());
    }

    #[test]
    fn every_route_lies_on_the_surface_that_its_endpoint_says() {
        for route in all() {
            let expected = match route.endpoint {
                Endpoint::Public { .. } => route.path.starts_with("/api/v1/"),
                Endpoint::Operator { .. } => route.path.starts_with("/operator/v1/"),
                Endpoint::Company { .. } => {
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
