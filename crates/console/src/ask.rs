//! What a handler gets.

use std::sync::Arc;

use http::HeaderMap;
use recado_core::access::ClientNet;

use crate::body::RequestBody;
use crate::fields::Fields;
use crate::i18n::Language;
use crate::service::Shared;
use crate::theme::Theme;
use crate::visit::Visit;

/// A request of a signed-in member that has passed every check of its route.
pub(crate) struct Ask {
    /// Who asks, and the core.
    pub(crate) visit: Visit,
    /// The variable parts of the path.
    pub(crate) path: PathParts,
    /// The query.
    pub(crate) query: Fields,
    /// The form, where the route reads one.
    pub(crate) form: Fields,
    /// Whether htmx asks for a piece of a page.
    pub(crate) is_piece: bool,
    /// The headers.
    pub(crate) headers: HeaderMap,
    /// The body, where the handler reads it itself ([`crate::Reads::Stream`]).
    pub(crate) body: RequestBody,
    /// What all requests share.
    pub(crate) shared: Arc<Shared>,
}

/// A request of somebody who need not be signed in.
pub(crate) struct OpenAsk {
    /// Who asks, if signed in.
    pub(crate) visit: Option<Visit>,
    /// The variable parts of the path.
    pub(crate) path: PathParts,
    /// The query.
    pub(crate) query: Fields,
    /// The form, where the route reads one.
    pub(crate) form: Fields,
    /// The headers.
    pub(crate) headers: HeaderMap,
    /// The client's address.
    pub(crate) client: ClientNet,
    /// The language of the page.
    pub(crate) language: Language,
    /// The colours of the page.
    pub(crate) theme: Theme,
    /// What all requests share.
    pub(crate) shared: Arc<Shared>,
}

/// The variable parts of a path, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathParts(pub(crate) Vec<(String, String)>);

impl PathParts {
    /// A part as it was sent; empty when the path has none of this name.
    pub(crate) fn text(&self, name: &str) -> &str {
        let part = self.0.iter().find(|(known, _)| known == name);
        part.map_or("", |(_, value)| value)
    }

    /// An id. What is none becomes the nil UUID, which no record has.
    pub(crate) fn id<T>(&self, name: &str, parse: fn(&str) -> Option<T>) -> T {
        const NIL: &str = "00000000-0000-0000-0000-000000000000";
        let id = parse(self.text(name)).or_else(|| parse(NIL));
        id.expect("the nil UUID is a UUID whatever the kind of record")
    }
}
