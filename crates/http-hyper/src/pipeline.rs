//! The order of checks (D6): authentication, route, permission, rate, size of the body, content.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::Method;
use http::request::Parts;
use recado_core::access::{Caller, Company, Operator, RateDecision};
use recado_core::audit::OperationName;
use recado_core::contacts::ListQuery;
use recado_core::halts::NameGiven;
use recado_core::idempotency::hash_of;
use recado_core::ids::{CompanyId, UploadId};
use recado_core::query::Params;
use recado_core::{Cell, Code, Installation, Recado, Rejection};
use serde_json::{Map, Value};

use crate::accept::Accept;
use crate::answer::Answer;
use crate::as_of::{dated, with_stale_listings};
use crate::bearer::bearer;
use crate::body::{self, Bound, RequestBody};
use crate::call::{Call, HookCall, OpenCall, Operated, PathParts};
use crate::error::{ErrorResponse, Outcome};
use crate::file_answer::Wanted;
use crate::file_body::{FileReading, FormBody, is_form};
use crate::forwarding::Forwarded;
use crate::idempotency;
use crate::logging::Who;
use crate::operators;
use crate::peer::{address_of, client_of};
use crate::query::QueryString;
use crate::route::{BodyFormat, Endpoint, Route};
use crate::router::PathEntry;
use crate::shared::Shared;
use crate::surface::Surface;

/// Where a request comes from.
fn from(request: &Request) -> IpAddr {
    address_of(&request.head, &request.shared.options.trusted_proxies)
}

/// A request during the checks.
pub(crate) struct Request {
    pub(crate) shared: Arc<Shared>,
    pub(crate) head: Parts,
    pub(crate) body: RequestBody,
    pub(crate) surface: Surface,
    pub(crate) entry: Option<(&'static PathEntry, PathParts)>,
    pub(crate) who: Who,
}

/// Whether a request writes, as far as its method says.
pub(crate) fn writes(head: &Parts) -> bool {
    !matches!(head.method, Method::GET | Method::HEAD)
}

/// Answers a request.
pub(crate) async fn answer(mut request: Request) -> Outcome {
    if writes(&request.head) && request.entry.is_some() {
        check_open(&request.shared.installation, None).await?;
    }
    match request.surface {
        Surface::Public => public(&mut request).await,
        Surface::Operator => operator(&mut request).await,
        Surface::Hooks => hook(request).await,
        Surface::Open => open(&mut request).await,
    }
}

async fn public(request: &mut Request) -> Outcome {
    let installation = request.shared.installation.clone();
    let presented = bearer(&request.head.headers).unwrap_or_default();
    let caller = installation.entrance().caller(presented).await?;
    request.who.recognized();
    request.who.company(caller.company());
    if let Some(key) = caller.key() {
        request.who.key(key);
    }
    let moved = installation.halted().await?.cell_of(caller.company());
    if let Some(answer) = handed_on(request, caller.company(), moved).await? {
        return Ok(answer);
    }
    let (route, operation, path) = route(request)?;
    let recado = installation.as_caller(&caller, operation, Some(from(request)));
    let recado = with_stale_listings(recado, &request.head.headers);
    let Endpoint::Public { scope, run } = route.endpoint else {
        return Err(ErrorResponse::not_found());
    };
    if let Err(denied) = caller.require(scope) {
        recado.audit().note_denial(Some(caller.company()), denied.code()).await;
        return Err(ErrorResponse::rejected(&denied));
    }
    let query = QueryString::parse(request.head.uri.query());
    if writes(&request.head) {
        check_open(&recado, Some(caller.company())).await?;
    }
    let export = route.export && ListQuery::is_export(query.params());
    charge(&recado, &caller, export).await?;
    let key = match route.idempotent {
        true => idempotency::key(&request.head.headers, route, &path)?,
        false => None,
    };
    let limit = request.shared.options.limits.public_body;
    let call = |sent: RequestParts| {
        let RequestParts { params, body, items, bytes, file } = sent;
        let (recado, who) = (recado.clone(), caller.clone());
        let (accept, qr_painter, wanted) = (Accept::default(), None, Wanted::Whole);
        run(Call {
            recado,
            who,
            path,
            params,
            body,
            items,
            bytes,
            file,
            accept,
            qr_painter,
            wanted,
        })
    };
    let company = caller.company();
    let sent = receive(request, route, &query, &recado, company, limit).await?;
    let file = Arrived::of(&recado, company, &sent);
    let outcome = match key {
        None => file.passed_on(understand(route, query, sent), call).await,
        Some(key) => {
            let hash = hash_of(&sent.compared());
            let answer = || file.passed_on(understand(route, query, sent), call);
            idempotency::once(&recado, company, key, hash, answer).await
        }
    };
    file.end().await;
    dated(outcome, &recado)
}

/// A file that came with a call. Unless the call's handler gets it, it is removed.
struct Arrived<'a> {
    recado: &'a Recado,
    company: CompanyId,
    file: Option<UploadId>,
    is_passed_on: AtomicBool,
}

impl<'a> Arrived<'a> {
    fn of(recado: &'a Recado, company: CompanyId, sent: &Sent) -> Self {
        Self { recado, company, file: sent.file(), is_passed_on: AtomicBool::new(false) }
    }

    async fn passed_on<F: Future<Output = Outcome>>(
        &self,
        parts: Result<RequestParts, ErrorResponse>,
        call: impl FnOnce(RequestParts) -> F,
    ) -> Outcome {
        let parts = parts?;
        self.is_passed_on.store(true, Ordering::Relaxed);
        call(parts).await
    }

    async fn end(&self) {
        if let Some(id) = self.file
            && !self.is_passed_on.load(Ordering::Relaxed)
        {
            self.recado.uploads().release(self.company, id).await;
        }
    }
}

/// Refuses what writes while the installation, or the company, is closed (D76). A closure that has
/// just begun is noticed by the commit.
pub(crate) async fn check_open(
    installation: &Installation,
    company: Option<CompanyId>,
) -> Result<(), ErrorResponse> {
    // Without the store the commit fails anyway.
    let Ok(halted) = installation.halted().await else { return Ok(()) };
    let is_closed = company.map_or(halted.is_closed(), |company| halted.is_closed_for(company));
    if is_closed { Err(ErrorResponse::moving()) } else { Ok(()) }
}

/// Charges a call to the allowances of its key (8, D12).
pub(crate) async fn charge(
    installation: &Installation,
    caller: &Caller,
    export: bool,
) -> Result<(), ErrorResponse> {
    match installation.entrance().charge(caller, export).await? {
        RateDecision::Allowed => Ok(()),
        RateDecision::Limited { retry_after } => Err(ErrorResponse::rate_limited(retry_after)),
    }
}

async fn operator(request: &mut Request) -> Outcome {
    let called = request.entry.as_ref().and_then(|(entry, _)| entry.route(&request.head.method));
    let called = called.map(|(_, operation)| OperationName::of(operation));
    let operator = operators::admit(&request.shared, &request.head, called).await?;
    request.who.recognized();
    let (route, operation, path) = route(request)?;
    let recado = request.shared.installation.as_operator(&operator, operation, Some(from(request)));
    let recado = with_stale_listings(recado, &request.head.headers);
    if let Some(action) = route.operator_action()
        && let Err(denied) = operator.require(action)
    {
        recado.audit().note_denial(operator.company(), denied.code()).await;
        return Err(ErrorResponse::rejected(&denied));
    }
    let limit = request.shared.options.limits.operator_body;
    let query = QueryString::parse(request.head.uri.query());
    match route.endpoint {
        Endpoint::Company { run, .. } => {
            let company = company(&recado, &operator, &path, &request.who).await?;
            let moved = recado.halted().await?.cell_of(company.id);
            if let Some(answer) = handed_on(request, company.id, moved).await? {
                return Ok(answer);
            }
            if writes(&request.head) {
                check_open(&recado, Some(company.id)).await?;
            }
            let sent = receive(request, route, &query, &recado, company.id, limit).await?;
            let arrived = Arrived::of(&recado, company.id, &sent);
            let accept = Accept::of(&request.head.headers);
            let wanted = Wanted::of(&request.head.method, &request.head.headers);
            let qr_painter = request.shared.options.qr_painter.clone();
            let exports = request.shared.exports.clone();
            let (own, who) = (recado.clone(), Operated { company, by: operator, exports });
            let outcome = arrived.passed_on(understand(route, query, sent), |parts| {
                let RequestParts { params, body, items, bytes, file } = parts;
                let recado = own;
                run(Call {
                    recado,
                    who,
                    path,
                    params,
                    body,
                    items,
                    bytes,
                    file,
                    accept,
                    qr_painter,
                    wanted,
                })
            });
            let outcome = outcome.await;
            arrived.end().await;
            dated(outcome, &recado)
        }
        Endpoint::Operator { run, .. } => {
            let sent = Sent::Bytes(receive_bytes(request, route, limit).await?);
            let RequestParts { params, body, items, bytes, file } = understand(route, query, sent)?;
            let who = operator;
            let (accept, qr_painter, wanted) = (Accept::default(), None, Wanted::Whole);
            let own = recado.clone();
            let outcome = run(Call {
                recado: own,
                who,
                path,
                params,
                body,
                items,
                bytes,
                file,
                accept,
                qr_painter,
                wanted,
            });
            dated(outcome.await, &recado)
        }
        Endpoint::Public { .. } | Endpoint::Hook(_) | Endpoint::Open(_) => {
            Err(ErrorResponse::not_found())
        }
    }
}

/// The company of the path. One that the operator does not reach looks missing (R381).
async fn company(
    recado: &Recado,
    operator: &Operator,
    path: &PathParts,
    who: &Who,
) -> Result<Company, ErrorResponse> {
    let id = path.id("company_id", CompanyId::parse);
    if !operator.reaches(id) {
        recado.audit().note_denial(operator.company(), Code::NotFound).await;
    }
    let company = recado.access().company_for(operator, id).await?;
    who.company(company.id);
    Ok(company)
}

/// A hook authenticates its callers and reads its body itself (D13).
async fn hook(mut request: Request) -> Outcome {
    let (route, operation, path) = route(&mut request)?;
    let Endpoint::Hook(run) = route.endpoint else { return Err(ErrorResponse::not_found()) };
    let from = from(&request);
    let recado = request.shared.outside(operation, from);
    if let Some(answer) = elsewhere(&recado, &mut request, &path).await? {
        return Ok(answer);
    }
    let Request { shared, head, body, who, .. } = request;
    let client = client_of(&head, &shared.options.trusted_proxies);
    let query = QueryString::parse(head.uri.query());
    let raw_query = head.uri.query().map(str::to_owned);
    let headers = head.headers;
    let body_timeout = shared.options.limits.body_timeout;
    let budget = shared.budget.clone();
    run(HookCall {
        recado,
        client,
        path,
        headers,
        query,
        raw_query,
        who,
        body,
        body_timeout,
        budget,
    })
    .await
}

async fn open(request: &mut Request) -> Outcome {
    let (route, operation, path) = route(request)?;
    let recado = request.shared.outside(operation, from(request));
    let Endpoint::Open(run) = route.endpoint else { return Err(ErrorResponse::not_found()) };
    if let Some(answer) = elsewhere(&recado, request, &path).await? {
        return Ok(answer);
    }
    let shared = request.shared.clone();
    let head = request.head.method == Method::HEAD;
    let client = client_of(&request.head, &shared.options.trusted_proxies);
    let wanted = Wanted::of(&request.head.method, &request.head.headers);
    let headers = std::mem::take(&mut request.head.headers);
    run(OpenCall { recado, shared, path, headers, head, client, wanted }).await
}

/// What names a company in the path of a call that shows no key.
fn name_in(path: &PathParts) -> Option<NameGiven<'_>> {
    let part = |name| Some(path.text(name)).filter(|text| !text.is_empty());
    let company = part("company_id").and_then(CompanyId::parse).map(NameGiven::Company);
    company
        .or_else(|| part("connection_id").map(NameGiven::Connection))
        .or_else(|| part("slug").map(NameGiven::Endpoint))
        .or_else(|| part("token").map(NameGiven::Template))
        .or_else(|| part("code").map(NameGiven::Link))
}

/// What the cell answers that has the company of a path which shows no key; `None` if it is here.
async fn elsewhere(
    recado: &Recado,
    request: &mut Request,
    path: &PathParts,
) -> Result<Option<Answer>, ErrorResponse> {
    let Some(name) = name_in(path) else { return Ok(None) };
    match recado.halts().cell_of(name).await? {
        Some((company, cell)) => handed_on(request, company, Some(cell)).await,
        None => Ok(None),
    }
}

/// What the cell answers that a company was moved to. `None` if the company is here, or this
/// process does not know where that cell answers.
///
/// R460.
async fn handed_on(
    request: &mut Request,
    company: CompanyId,
    moved: Option<Cell>,
) -> Result<Option<Answer>, ErrorResponse> {
    let shared = request.shared.clone();
    let Some(cell) = moved.filter(|cell| shared.forwarder.knows(*cell)) else {
        return Ok(None);
    };
    request.who.company(company);
    let call = Forwarded {
        cell,
        is_operators: request.surface == Surface::Operator,
        head: &request.head,
        body: std::mem::replace(&mut request.body, body::empty()),
        trusted: &shared.options.trusted_proxies,
    };
    shared.forwarder.forward(call).await.map(Some)
}

/// The route of the request, and its operation: 404 for the path, then 405 for the method.
fn route(
    request: &mut Request,
) -> Result<(&'static Route, OperationName, PathParts), ErrorResponse> {
    let (entry, path) = request.entry.take().ok_or_else(ErrorResponse::not_found)?;
    match entry.route(&request.head.method) {
        Some((route, operation)) => Ok((route, OperationName::of(operation), path)),
        None => Err(ErrorResponse::method_not_allowed(entry.allow())),
    }
}

/// The parts of a request besides its path.
struct RequestParts {
    params: Params,
    body: Map<String, Value>,
    items: Vec<Value>,
    bytes: Vec<u8>,
    file: Option<UploadId>,
}

/// A body as it was sent.
enum Sent {
    Bytes(Vec<u8>),
    Form(FormBody),
}

impl Sent {
    fn file(&self) -> Option<UploadId> {
        match self {
            Self::Bytes(_) => None,
            Self::Form(form) => form.file.as_ref().map(|file| file.id),
        }
    }

    /// By what it is compared with a repeat of the call (D37).
    fn compared(&self) -> Cow<'_, [u8]> {
        match self {
            Self::Bytes(bytes) => Cow::Borrowed(bytes),
            Self::Form(form) => Cow::Owned(form.compared()),
        }
    }
}

/// The body as it was sent: size, then encoding (D6). A file in it is stored.
async fn receive(
    request: &mut Request,
    route: &Route,
    query: &QueryString,
    recado: &Recado,
    company: CompanyId,
    json_limit: usize,
) -> Result<Sent, ErrorResponse> {
    let is_form = is_form(&request.head.headers);
    if route.reads != BodyFormat::File && !(is_form && route.reads == BodyFormat::JsonOrForm) {
        return receive_bytes(request, route, json_limit).await.map(Sent::Bytes);
    }
    let body = std::mem::replace(&mut request.body, body::empty());
    let reading = FileReading {
        recado,
        bodies: &request.shared.file_bodies,
        company,
        pause: request.shared.options.limits.body_timeout,
    };
    let headers = &request.head.headers;
    let form = if is_form {
        reading.form(headers, body).await?
    } else {
        // The name stands in the query, which is checked first: nothing is stored in vain.
        let params = query.clone().checked(route.query.iter().map(|param| param.name))?;
        reading.raw(headers, body, params.text("filename")?).await?
    };
    Ok(Sent::Form(form))
}

/// A body that is read into memory.
async fn receive_bytes(
    request: &mut Request,
    route: &Route,
    json_limit: usize,
) -> Result<Vec<u8>, ErrorResponse> {
    let limits = &request.shared.options.limits;
    let bound = match route.reads {
        BodyFormat::Document => Bound { bytes: limits.document, time: limits.document_timeout },
        BodyFormat::Nothing
        | BodyFormat::Json
        | BodyFormat::OptionalJson
        | BodyFormat::Array
        | BodyFormat::File
        | BodyFormat::JsonOrForm => Bound { bytes: json_limit, time: limits.body_timeout },
    };
    let headers = &request.head.headers;
    if route.reads == BodyFormat::Nothing {
        body::check_declared(headers, bound.bytes)?;
        return Ok(Vec::new());
    }
    let body = std::mem::replace(&mut request.body, body::empty());
    Ok(body::receive(headers, body, bound).await?)
}

/// Parameters, then the body (D6).
fn understand(
    route: &Route,
    query: QueryString,
    sent: Sent,
) -> Result<RequestParts, ErrorResponse> {
    let params = query.checked(route.query.iter().map(|param| param.name))?;
    let file = sent.file();
    let (body, items, bytes) = (Map::new(), Vec::new(), Vec::new());
    let mut parts = RequestParts { params, body, items, bytes, file };
    let bytes = match sent {
        Sent::Form(form) => {
            parts.body = form.fields;
            return Ok(parts);
        }
        Sent::Bytes(bytes) => bytes,
    };
    match route.reads {
        BodyFormat::Json | BodyFormat::JsonOrForm => parts.body = body::parse_object(&bytes)?,
        BodyFormat::OptionalJson if bytes.is_empty() => {}
        BodyFormat::OptionalJson => parts.body = body::parse_object(&bytes)?,
        BodyFormat::Array => parts.items = body::parse_array(&bytes)?,
        BodyFormat::Nothing | BodyFormat::Document | BodyFormat::File => parts.bytes = bytes,
    }
    Ok(parts)
}
