//! Pages without a browser: a request in, HTML out, on a core in memory.

use std::sync::atomic::{AtomicU64, Ordering};

use http::header::{ACCEPT_LANGUAGE, COOKIE, HOST, LOCATION};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use recado_core::access::{Member, MemberDraft, Operator, OperatorRole};
use recado_testkit::{Kit, kit::body};
use serde_json::json;

use crate::csrf::CsrfToken;
use crate::{Console, ConsoleOptions};

/// The password of every member.
pub(crate) const PASSWORD: &str = "a long password of tests";

/// A console over a core in memory, with a company.
pub(crate) struct Site {
    /// The core, its company and its clock.
    pub(crate) kit: Kit,
    /// The console.
    pub(crate) console: Console,
    sessions: AtomicU64,
}

/// A browser in which a member is signed in.
pub(crate) struct Browser<'a> {
    site: &'a Site,
    session: String,
    /// The member.
    pub(crate) member: Member,
    /// What every request says besides.
    pub(crate) headers: HeaderMap,
}

/// An answer with its text.
#[derive(Debug)]
pub(crate) struct Shown {
    /// Its status.
    pub(crate) status: StatusCode,
    /// Its headers.
    pub(crate) headers: HeaderMap,
    /// Its body.
    pub(crate) html: String,
}

impl Shown {
    /// Where it leads.
    pub(crate) fn location(&self) -> &str {
        self.headers.get(LOCATION).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Fails unless it is a page with this text.
    #[track_caller]
    pub(crate) fn has(&self, text: &str) -> &Self {
        assert!(self.html.contains(text), "no {text:?} in {}: {}", self.status, self.html);
        self
    }

    /// Fails if it has this text.
    #[track_caller]
    pub(crate) fn lacks(&self, text: &str) -> &Self {
        assert!(!self.html.contains(text), "{text:?} in {}", self.html);
        self
    }
}

impl Site {
    /// A console with everything in memory.
    pub(crate) async fn new() -> Self {
        Self::of(Kit::new().await)
    }

    /// A console over this kit.
    pub(crate) fn of(kit: Kit) -> Self {
        Self::with(kit, ConsoleOptions::default())
    }

    /// A console over this kit with these options.
    pub(crate) fn with(kit: Kit, options: ConsoleOptions) -> Self {
        let console = Console::new(kit.app.clone(), options);
        Self { kit, console, sessions: AtomicU64::new(0) }
    }

    /// A browser in which a member with this role is signed in.
    pub(crate) async fn as_role(&self, role: OperatorRole) -> Browser<'_> {
        let n = self.sessions.fetch_add(1, Ordering::Relaxed);
        let company = self.kit.company.id;
        let draft = MemberDraft::parse(&body(json!({ "display_name": format!("Member {n}") })));
        let draft = draft.expect("a member's name");
        let member = self.kit.app.access().create_member(company, draft).await.expect("a member");
        let accounts = self.kit.app.accounts();
        let email = format!("member-{n}@example.com");
        let login = body(json!({ "email": email, "role": role }));
        let link = accounts.invite(&Operator::ROOT, company, member.id, &login).await;
        let token = link.expect("a link").token;
        accounts.accept_link(token.expose(), PASSWORD).await.expect("a password");
        let new = accounts.sign_in(&email, PASSWORD, None, None).await.expect("a session");
        let session = new.token.expose().to_owned();
        Browser { site: self, session, member, headers: HeaderMap::new() }
    }

    /// A browser in which an owner is signed in.
    pub(crate) async fn owner(&self) -> Browser<'_> {
        self.as_role(OperatorRole::Owner).await
    }

    /// What somebody gets who is not signed in.
    pub(crate) async fn get(&self, path: &str) -> Shown {
        self.send(Request::get(path).header(HOST, "crm.example"), String::new()).await
    }

    /// What the console answers.
    pub(crate) async fn send(&self, request: http::request::Builder, body: String) -> Shown {
        let request = request.body(Full::new(bytes::Bytes::from(body))).expect("a request");
        let response = self.console.answer(request).await.expect("an answer");
        let (head, body) = response.into_parts();
        let bytes = body.collect().await.expect("a body").to_bytes();
        let html = String::from_utf8_lossy(&bytes).into_owned();
        Shown { status: head.status, headers: head.headers, html }
    }
}

impl Browser<'_> {
    /// The value of the form's hidden field.
    pub(crate) fn csrf(&self) -> String {
        CsrfToken::of(&self.session).expose().to_owned()
    }

    /// A request with the cookie.
    pub(crate) fn request(&self, method: Method, path: &str) -> http::request::Builder {
        let mut request = Request::builder().method(method).uri(path).header(HOST, "crm.example");
        request = request.header(COOKIE, format!("recado-session={}", self.session));
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        request
    }

    /// The same browser, which prefers Portuguese.
    pub(crate) fn in_portuguese(mut self) -> Self {
        self.headers.insert(ACCEPT_LANGUAGE, HeaderValue::from_static("pt-BR"));
        self
    }

    /// A page.
    pub(crate) async fn get(&self, path: &str) -> Shown {
        self.site.send(self.request(Method::GET, path), String::new()).await
    }

    /// A form, sent as a page of the console sends it.
    pub(crate) async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Shown {
        let mut body = form_urlencoded::Serializer::new(String::new());
        body.append_pair("csrf", &self.csrf()).extend_pairs(fields);
        let request = self.request(Method::POST, path).header("sec-fetch-site", "same-origin");
        self.site.send(request, body.finish()).await
    }
}
