//! A browser reduced to HTTP: cookies, and forms as a page of the console sends them. For what a
//! real browser does not let happen.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::SocketAddr;

use recado_console::{Reads, Route, Verb};
use recado_tests::http::form;
use recado_tests::{Request, ScriptedAnswer};

/// Somebody with cookies.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    /// The site.
    pub(crate) addr: SocketAddr,
    /// The cookies by their names.
    pub(crate) cookies: BTreeMap<String, String>,
    /// The token of the last page's forms.
    pub(crate) csrf: String,
}

impl Visitor {
    /// Somebody who was never there.
    pub(crate) fn at(addr: SocketAddr) -> Self {
        Self { addr, cookies: BTreeMap::new(), csrf: String::new() }
    }

    /// A request with the cookies.
    pub(crate) fn request(&self, method: &str, path: &str) -> Request {
        let pairs: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = Request::new(method, path).header("accept-language", "en");
        if pairs.is_empty() { request } else { request.header("cookie", pairs.join("; ")) }
    }

    /// A form of a page of the console, with its token.
    pub(crate) fn form(&self, path: &str, fields: &[(&str, &str)]) -> Request {
        let mut fields = fields.to_vec();
        fields.push(("csrf", &self.csrf));
        self.request("POST", path)
            .header("origin", format!("http://{}", self.addr))
            .header("sec-fetch-site", "same-origin")
            .header("content-type", "application/x-www-form-urlencoded")
            .body(encoded(&fields))
    }

    /// A form with a file, with its token.
    pub(crate) fn upload(&self, path: &str, name: &str, file: &[u8]) -> Request {
        let mut request = self.form(path, &[]);
        request.headers.retain(|(known, _)| known != "content-type");
        let request = request.header("content-type", "multipart/form-data; boundary=xyz");
        request.body(form(&[("csrf", self.csrf.as_str())], name, file))
    }

    /// What a route reads, with the token of the last page: a form, or one with a file.
    pub(crate) fn whatever(&self, route: &Route, path: &str) -> Request {
        match (route.verb(), route.reads()) {
            (Verb::Get, _) => self.request("GET", path),
            (Verb::Post, Reads::Stream) => self.upload(path, "a.txt", b"text"),
            (Verb::Post, _) => self.form(path, &[]),
        }
    }

    /// Opens a page. Redirections are not followed.
    pub(crate) async fn get(&mut self, path: &str) -> ScriptedAnswer {
        let answer = self.request("GET", path).send(self.addr).await;
        self.learn(&answer);
        answer
    }

    /// Sends a form as a page of the console does.
    pub(crate) async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> ScriptedAnswer {
        let answer = self.form(path, fields).send(self.addr).await;
        self.learn(&answer);
        answer
    }

    /// Keeps the cookies and the token of an answer.
    pub(crate) fn learn(&mut self, answer: &ScriptedAnswer) {
        for line in answer.headers.get_all("set-cookie") {
            let line = line.to_str().expect("a cookie in ASCII");
            let pair = line.split(';').next().unwrap_or_default();
            let (name, value) = pair.split_once('=').expect("a name and a value");
            if line.contains("Max-Age=0") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        let page = String::from_utf8_lossy(&answer.body);
        let token = page.split("name=\"csrf\" value=\"").nth(1);
        if let Some(token) = token.and_then(|rest| rest.split('"').next()) {
            self.csrf = token.to_owned();
        }
    }
}

/// The body of a form.
pub(crate) fn encoded(fields: &[(&str, &str)]) -> String {
    let pairs = fields.iter().map(|(name, value)| format!("{}={}", escaped(name), escaped(value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// A text within a query.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            write!(out, "%{byte:02X}").expect("a string takes every text");
        }
    }
    out
}

/// The text of an answer.
pub(crate) fn page(answer: &ScriptedAnswer) -> String {
    String::from_utf8_lossy(&answer.body).into_owned()
}
