//! The order of checks: session, route, role, where a write comes from, size, content (R418).

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use http::header::CONTENT_LENGTH;
use http::request::Parts;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use recado_core::Rejection;
use recado_core::access::ClientNet;
use recado_core::audit::OperationName;

use crate::ask::{Ask, OpenAsk, PathParts};
use crate::body::{ConsoleBody, RequestBody, erase};
use crate::cookies::cookie;
use crate::csrf::{self, is_same_origin};
use crate::fields::Fields;
use crate::i18n::Language;
use crate::refusal::Refusal;
use crate::reply::{Outcome, Page, Reply, html, redirect};
use crate::route::{Access, Reads, Route, Run, Verb, find};
use crate::service::Shared;
use crate::theme::Theme;
use crate::view::layout::{self, Area};
use crate::visit::Visit;

/// The answer to a request.
pub(crate) async fn answer(
    shared: Arc<Shared>,
    request: Request<RequestBody>,
) -> Response<ConsoleBody> {
    let (head, body) = request.into_parts();
    let client = client_of(&head);
    let visit = match Visit::of(&shared, &head.headers, client, operation_of(&head)).await {
        Ok(visit) => visit,
        Err(error) => return shown(None, &head, Err(error.into())),
    };
    let outcome = checked(shared, visit.clone(), &head, body, client).await;
    shown(visit.as_ref(), &head, outcome)
}

/// What a request asks for, in the audit log: the operator API's name for it, where there is one.
fn operation_of(head: &Parts) -> OperationName {
    let is_write = !matches!(head.method, Method::GET | Method::HEAD);
    let found = find(head.uri.path());
    let routes = found.iter().flat_map(|(routes, _)| routes.iter());
    let mut routes = routes.filter(|route| (route.verb() == Verb::Post) == is_write);
    match routes.next().map(|route| (route.access(), route.path())) {
        Some((Access::Action(action), _)) => OperationName::of(action.as_str()),
        Some((_, path)) => OperationName::of(path),
        None => OperationName::of("console"),
    }
}

/// The answer when nothing else can be said.
pub(crate) fn failed() -> Response<ConsoleBody> {
    let mut response = Response::new(ConsoleBody::whole("The page could not be made.\n"));
    *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    response
}

fn client_of(head: &Parts) -> ClientNet {
    let given = head.extensions.get::<ClientNet>().copied();
    given.unwrap_or_else(|| ClientNet::of(IpAddr::V4(Ipv4Addr::UNSPECIFIED)))
}

/// R418. Runs the checks in their order, then the handler.
async fn checked(
    shared: Arc<Shared>,
    visit: Option<Visit>,
    head: &Parts,
    body: RequestBody,
    client: ClientNet,
) -> Outcome {
    let found = find(head.uri.path());
    let is_open = found
        .as_ref()
        .is_some_and(|(routes, _)| routes.iter().all(|route| route.access() == Access::Open));
    if visit.is_none() && !is_open {
        return Err(Refusal::SignIn);
    }
    let (routes, parts) = found.ok_or(Refusal::NotFound)?;
    let verb = match head.method {
        Method::GET | Method::HEAD => Verb::Get,
        Method::POST => Verb::Post,
        _ => return Err(Refusal::Method),
    };
    let route = routes.iter().find(|route| route.verb() == verb).ok_or(Refusal::Method)?;
    if let (Access::Action(action), Some(visit)) = (route.access(), &visit)
        && let Err(denied) = visit.operator.require(action)
    {
        visit.recado.audit().note_denial(Some(visit.company.id), denied.code()).await;
        return Err(Refusal::Role);
    }
    let is_write = route.verb() == Verb::Post;
    if is_write && !is_same_origin(&head.headers) {
        return Err(Refusal::Forged);
    }
    let (form, body) = receive(shared.clone(), route, head, body).await?;
    let header = head.headers.get(csrf::HEADER).and_then(|value| value.to_str().ok());
    if let (true, Some(visit), Access::Member | Access::Action(_)) =
        (is_write, &visit, route.access())
    {
        let shown = header.or_else(|| form.get(csrf::FIELD));
        // A handler that reads the body itself finds the token there.
        let is_later = route.reads() == Reads::Stream && shown.is_none();
        if !is_later && !shown.is_some_and(|shown| visit.csrf.matches(shown)) {
            return Err(Refusal::Forged);
        }
    }
    let query = Fields::parse(head.uri.query().unwrap_or_default().as_bytes());
    let (path, headers) = (PathParts(parts), head.headers.clone());
    match (route.run, visit) {
        (Run::Open(run), visit) => {
            let language = language(&head.headers);
            let theme = Theme::of(cookie(&head.headers, Theme::COOKIE));
            run(OpenAsk { visit, path, query, form, headers, client, language, theme, shared })
                .await
        }
        (Run::Member(run), Some(visit)) => {
            let is_piece = is_piece(&head.headers);
            run(Ask { visit, path, query, form, is_piece, headers, body, shared }).await
        }
        (Run::Member(_), None) => Err(Refusal::SignIn),
    }
}

/// The form, or the body for a handler that reads it itself.
fn receive<'a>(
    shared: Arc<Shared>,
    route: &'a Route,
    head: &'a Parts,
    body: RequestBody,
) -> futures_util::future::BoxFuture<'a, Result<(Fields, RequestBody), Refusal>> {
    Box::pin(received(shared, route, head, body))
}

async fn received(
    shared: Arc<Shared>,
    route: &Route,
    head: &Parts,
    body: RequestBody,
) -> Result<(Fields, RequestBody), Refusal> {
    let nothing = || erase(http_body_util::Empty::new());
    match route.reads() {
        Reads::Nothing => Ok((Fields::default(), nothing())),
        Reads::Stream => Ok((Fields::default(), body)),
        Reads::Form => {
            let limit = shared.options.form_bytes;
            let length = head.headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
            let declared = length.and_then(|length| length.parse::<u64>().ok());
            if declared.is_some_and(|length| length > limit as u64) {
                return Err(Refusal::TooLarge);
            }
            let reading = whole(body, limit);
            let read = tokio::time::timeout(shared.options.body_timeout, reading).await;
            let read = read.map_err(|_| Refusal::Unreadable)??;
            Ok((Fields::parse(&read), nothing()))
        }
    }
}

/// The bytes of a body, at most `limit` of them.
async fn whole(mut body: RequestBody, limit: usize) -> Result<Vec<u8>, Refusal> {
    let mut read = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return Err(Refusal::Unreadable) };
        let Ok(data) = frame.into_data() else { continue };
        if read.len() + data.len() > limit {
            return Err(Refusal::TooLarge);
        }
        read.extend_from_slice(&data);
    }
    Ok(read)
}

/// Whether htmx asks for a piece of a page, and not for a whole one.
fn is_piece(headers: &HeaderMap) -> bool {
    headers.contains_key("hx-request")
        && !headers.contains_key("hx-boosted")
        && !headers.contains_key("hx-history-restore-request")
}

fn language(headers: &HeaderMap) -> Language {
    Language::of(cookie(headers, Language::COOKIE), headers)
}

/// The answer as it is sent.
fn shown(visit: Option<&Visit>, head: &Parts, outcome: Outcome) -> Response<ConsoleBody> {
    let is_piece = is_piece(&head.headers);
    match outcome {
        Ok(Reply::Raw(response)) => response,
        Ok(Reply::Goto(path)) => redirect(&path, head.headers.contains_key("hx-request")),
        Ok(Reply::Piece(status, markup)) => html(status, markup),
        Ok(Reply::Page(page)) => match visit {
            Some(visit) => html(page.status, layout::page(visit, &page)),
            None => failed(),
        },
        Err(Refusal::SignIn) => sign_in_first(head, is_piece),
        Err(refusal) => refused(visit, head, is_piece, refusal),
    }
}

/// Leads to the page to sign in, and from there back. Only reading a page leads back.
fn sign_in_first(head: &Parts, is_piece: bool) -> Response<ConsoleBody> {
    let is_page = head.method == Method::GET && !head.headers.contains_key("hx-request");
    if !is_page {
        let mut response = redirect("/console/sign-in", true);
        *response.status_mut() = StatusCode::UNAUTHORIZED;
        return response;
    }
    let wanted = head.uri.path_and_query().map_or("/console", |path| path.as_str());
    let next: String = form_urlencoded::byte_serialize(wanted.as_bytes()).collect();
    redirect(&format!("/console/sign-in?next={next}"), is_piece)
}

fn refused(
    visit: Option<&Visit>,
    head: &Parts,
    is_piece: bool,
    refusal: Refusal,
) -> Response<ConsoleBody> {
    let status = refusal.status();
    if let Refusal::Internal(cause) = &refusal {
        tracing::error!(path = head.uri.path(), cause, "a page of the console failed");
    }
    let language = visit.map_or_else(|| language(&head.headers), |visit| visit.language);
    let body = layout::refusal(language, &refusal);
    match visit {
        _ if is_piece => html(status, body),
        Some(visit) => {
            let title = language.text(refusal.key());
            html(status, layout::page(visit, &Page { area: Area::None, title, body, status }))
        }
        None => {
            let theme = Theme::of(cookie(&head.headers, Theme::COOKIE));
            let title = language.text(refusal.key());
            html(status, layout::bare(language, theme, &title, body))
        }
    }
}
