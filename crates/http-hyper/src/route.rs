//! One entry of the table of paths.

use std::pin::Pin;

use http::Method;
use recado_core::access::{OperatorAction, Scope};

use crate::call::{CompanyCall, HookCall, OpenCall, OperatorCall, PublicCall};
use crate::error::Outcome;
use crate::openapi::{Operation, QueryParam};

/// The future of a handler.
pub(crate) type HandlerFuture = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// The kind of a route: who may call it, and its handler.
#[derive(Clone, Copy)]
pub(crate) enum Endpoint {
    /// By the holder of a key with this scope.
    Public { scope: Scope, run: fn(PublicCall) -> HandlerFuture },
    /// By an operator whose role allows it, about the installation.
    Operator { action: OperatorAction, run: fn(OperatorCall) -> HandlerFuture },
    /// By an operator whose role allows it, about the company of the path.
    Company { action: OperatorAction, run: fn(CompanyCall) -> HandlerFuture },
    /// By other systems; the hook itself authenticates them.
    Hook(fn(HookCall) -> HandlerFuture),
    /// By any caller.
    Open(fn(OpenCall) -> HandlerFuture),
}

/// What is read of a request's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyFormat {
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
    /// A file to be sent: raw, or the part `file` of a form (X11).
    File,
    /// A JSON object, or a form whose text parts are its fields, perhaps with a part `file` (X10).
    JsonOrForm,
}

/// One method of one path.
#[derive(Clone, Copy)]
pub(crate) struct Route {
    pub(crate) method: fn() -> Method,
    pub(crate) path: &'static str,
    pub(crate) endpoint: Endpoint,
    pub(crate) reads: BodyFormat,
    pub(crate) query: &'static [QueryParam],
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
    /// The name of its operation, as in the OpenAPI document.
    pub(crate) fn operation(&self) -> &'static str {
        let documented = || (self.doc)(Operation::default()).id;
        self.operator_action().map_or_else(documented, OperatorAction::as_str)
    }

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
            reads: BodyFormat::Nothing,
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
        run: fn(PublicCall) -> HandlerFuture,
        doc: fn(Operation) -> Operation,
    ) -> Self {
        Self::new(method, path, Endpoint::Public { scope, run }, doc)
    }

    /// A path of the operator API about the installation.
    pub(crate) const fn operator(
        method: fn() -> Method,
        path: &'static str,
        action: OperatorAction,
        run: fn(OperatorCall) -> HandlerFuture,
        doc: fn(Operation) -> Operation,
    ) -> Self {
        Self::new(method, path, Endpoint::Operator { action, run }, doc)
    }

    /// A path of the operator API about one company.
    pub(crate) const fn company(
        method: fn() -> Method,
        path: &'static str,
        action: OperatorAction,
        run: fn(CompanyCall) -> HandlerFuture,
        doc: fn(Operation) -> Operation,
    ) -> Self {
        Self::new(method, path, Endpoint::Company { action, run }, doc)
    }

    /// A path that other systems POST to.
    pub(crate) const fn hook(
        path: &'static str,
        run: fn(HookCall) -> HandlerFuture,
        doc: fn(Operation) -> Operation,
    ) -> Self {
        Self::new(verb::POST, path, Endpoint::Hook(run), doc)
    }

    /// A path that other systems GET.
    pub(crate) const fn asked_hook(
        path: &'static str,
        run: fn(HookCall) -> HandlerFuture,
        doc: fn(Operation) -> Operation,
    ) -> Self {
        Self::new(verb::GET, path, Endpoint::Hook(run), doc)
    }

    /// A path that needs no key.
    pub(crate) const fn open(
        path: &'static str,
        run: fn(OpenCall) -> HandlerFuture,
        doc: fn(Operation) -> Operation,
    ) -> Self {
        Self::new(verb::GET, path, Endpoint::Open(run), doc)
    }

    /// What an operator does by it, if it is the operator API's.
    pub(crate) const fn operator_action(&self) -> Option<OperatorAction> {
        match self.endpoint {
            Endpoint::Operator { action, .. } | Endpoint::Company { action, .. } => Some(action),
            Endpoint::Public { .. } | Endpoint::Hook(_) | Endpoint::Open(_) => None,
        }
    }

    /// The same, reading a JSON object.
    pub(crate) const fn json(mut self) -> Self {
        self.reads = BodyFormat::Json;
        self
    }

    /// The same, reading a JSON object if there is a body.
    pub(crate) const fn optional_json(mut self) -> Self {
        self.reads = BodyFormat::OptionalJson;
        self
    }

    /// The same, reading a JSON array.
    pub(crate) const fn array(mut self) -> Self {
        self.reads = BodyFormat::Array;
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
        self.reads = BodyFormat::Document;
        self
    }

    /// The same, reading a file to be sent.
    pub(crate) const fn file(mut self) -> Self {
        self.reads = BodyFormat::File;
        self
    }

    /// The same, reading a JSON object or a form.
    pub(crate) const fn json_or_form(mut self) -> Self {
        self.reads = BodyFormat::JsonOrForm;
        self
    }

    /// The same with query parameters.
    pub(crate) const fn query(mut self, query: &'static [QueryParam]) -> Self {
        self.query = query;
        self
    }

    /// The same, where some calls use the export allowance too (8).
    pub(crate) const fn export(mut self) -> Self {
        self.export = true;
        self
    }
}
