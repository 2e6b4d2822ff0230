//! The arguments of handlers: the caller, the path's ids, the parameters, the body.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use recado_core::Recado;
use recado_core::access::{Caller, ClientNet, Company, Operator};
use recado_core::ids::{ConnectionId, UploadId};
use recado_core::input::Input;
use recado_core::query::Params;
use serde_json::{Map, Value};

use crate::accept::Accept;
use crate::body::{self, BodyError, Bound, RequestBody};
use crate::budget::{MemoryBudget, Share};
use crate::error::ErrorResponse;
use crate::exports::Exports;
use crate::fair_shares::BodySender;
use crate::file_answer::Wanted;
use crate::large_body;
use crate::logging::Who;
use crate::options::QrPainter;
use crate::path;
use crate::query::QueryString;
use crate::shared::Shared;

/// A call that has passed every check of its surface (D6).
#[derive(Debug)]
pub(crate) struct Call<W> {
    /// The core.
    pub(crate) recado: Recado,
    /// The caller, or the company of the call.
    pub(crate) who: W,
    /// The variable parts of the path.
    pub(crate) path: PathParts,
    /// The query, each known parameter given at most once.
    pub(crate) params: Params,
    /// The JSON body; empty where none is read.
    pub(crate) body: Map<String, Value>,
    /// The JSON body where it is an array; else empty.
    pub(crate) items: Vec<Value>,
    /// The raw body of a document.
    pub(crate) bytes: Vec<u8>,
    /// The file that came with the body, stored. The handler passes it on, or removes it.
    pub(crate) file: Option<UploadId>,
    /// The forms of an answer that the caller wants, where paths have several.
    pub(crate) accept: Accept,
    /// Draws QR codes.
    pub(crate) qr_painter: Option<QrPainter>,
    /// The part of a file that the caller wants.
    pub(crate) wanted: Wanted,
}

impl<W> Call<W> {
    /// Refuses a body with fields, for calls that have none.
    ///
    /// # Errors
    ///
    /// Every field of the body.
    pub(crate) fn takes_no_fields(&self) -> Result<(), ErrorResponse> {
        let problems = Input::new(&self.body).finish();
        problems.into_result().map_err(|problems| ErrorResponse::rejected(&problems))
    }
}

/// A call of the public API.
pub(crate) type PublicCall = Call<Caller>;
/// A call of the operator API about one company, which exists.
pub(crate) type CompanyCall = Call<Operated>;

/// A company, and who calls about it.
pub(crate) struct Operated {
    /// The company, which exists.
    pub(crate) company: Company,
    /// Who calls.
    pub(crate) by: Operator,
    /// The exports of contacts that are being made.
    pub(crate) exports: Exports,
}

impl std::ops::Deref for Operated {
    type Target = Company;

    fn deref(&self) -> &Company {
        &self.company
    }
}

/// A call of the operator API about the installation.
pub(crate) type OperatorCall = Call<Operator>;

/// A call that needs no key.
pub(crate) struct OpenCall {
    /// The core.
    pub(crate) recado: Recado,
    /// What all requests share, and the options.
    pub(crate) shared: Arc<Shared>,
    /// The variable parts of the path.
    pub(crate) path: PathParts,
    /// The headers.
    pub(crate) headers: HeaderMap,
    /// The client, as rate limits count them.
    pub(crate) client: ClientNet,
    /// Whether the method is HEAD.
    pub(crate) head: bool,
    /// The part of a file that the caller wants.
    pub(crate) wanted: Wanted,
}

/// A call of a hook. Its body is not read yet, as the caller is authenticated first (D13).
pub(crate) struct HookCall {
    /// The core.
    pub(crate) recado: Recado,
    /// The client, as rate limits count them.
    pub(crate) client: ClientNet,
    /// The variable parts of the path.
    pub(crate) path: PathParts,
    /// The headers.
    pub(crate) headers: HeaderMap,
    /// The query.
    pub(crate) query: QueryString,
    /// The query as it was sent.
    pub(crate) raw_query: Option<String>,
    /// Where the call's company and key are recorded.
    pub(crate) who: Who,
    pub(crate) body: RequestBody,
    pub(crate) body_timeout: Duration,
    pub(crate) budget: MemoryBudget,
}

impl HookCall {
    /// Reads the body, at most `limit` bytes of it.
    ///
    /// # Errors
    ///
    /// The body is too large, encoded, incomplete or too slow.
    pub(crate) async fn read(&mut self, limit: usize) -> Result<Vec<u8>, ErrorResponse> {
        let bound = Bound { bytes: limit, time: self.body_timeout };
        let body = std::mem::replace(&mut self.body, body::empty());
        body::receive(&self.headers, body, bound).await.map_err(body::BodyError::of_payload)
    }

    /// Reads a body for a connection, which may be large. The part beyond the first 64 KiB needs a
    /// share of the memory for all such bodies; keep the share until the body is dropped.
    ///
    /// # Errors
    ///
    /// The body is too large, encoded, incomplete or too slow, waited too long for memory, or had
    /// to give way to others.
    pub(crate) async fn read_much(
        &mut self,
        connection: ConnectionId,
        limit: usize,
    ) -> Result<(Vec<u8>, Share), BodyError> {
        let share = self.budget.share(BodySender { connection, client: self.client });
        let bound = Bound { bytes: limit, time: self.body_timeout };
        let body = std::mem::replace(&mut self.body, body::empty());
        large_body::receive(&self.headers, body, bound, share).await
    }

    /// A signed body for the connection has come with this call.
    pub(crate) fn was_signed(&self, connection: ConnectionId) {
        self.budget.knows(BodySender { connection, client: self.client });
    }
}

/// The variable parts of a path, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathParts(Vec<(String, String)>);

impl PathParts {
    pub(crate) fn new(params: &matchit::Params<'_, '_>) -> Self {
        Self(params.iter().map(|(name, value)| (name.to_owned(), path::part(value))).collect())
    }

    /// A part, percent-decoded; empty when the path has none of this name.
    pub(crate) fn text(&self, name: &str) -> &str {
        let part = self.0.iter().find(|(known, _)| known == name);
        part.map_or("", |(_, value)| value)
    }

    /// A path of the table with its variable parts filled in. Ids are one in any case.
    pub(crate) fn filled_into(&self, path: &str) -> String {
        let filled = |path: String, (name, value): &(String, String)| {
            path.replacen(&format!("{{{name}}}"), &value.to_ascii_lowercase(), 1)
        };
        self.0.iter().fold(path.to_owned(), filled)
    }

    /// An id. A text that is not a UUID becomes the nil UUID, which no record has. It is then
    /// answered like any unknown id, at the same point in the order of checks (D5, D6).
    pub(crate) fn id<T>(&self, name: &str, parse: fn(&str) -> Option<T>) -> T {
        const NIL: &str = "00000000-0000-0000-0000-000000000000";
        parse(self.text(name))
            .or_else(|| parse(NIL))
            .expect("the nil UUID is a UUID whatever the kind of record")
    }
}
