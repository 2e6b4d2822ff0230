//! Requests of somebody who is signed in, one connection each.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::stores::AnyError;
use crate::target::Target;

/// What was answered.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) head: String,
    /// The body as it was sent: compressed, and in chunks if the server chose so.
    pub(super) body: Vec<u8>,
    pub(super) took: Duration,
}

/// Somebody with a cookie at a server.
#[derive(Clone, Debug)]
pub(super) struct Site {
    pub(super) target: Target,
    pub(super) cookie: String,
}

impl Site {
    /// Somebody without a cookie.
    pub(super) fn new(target: &Target) -> Self {
        Self { target: target.clone(), cookie: String::new() }
    }

    /// The head of a request.
    pub(super) fn head(&self, method: &str, path: &str, more: &str) -> String {
        let host = self.target.address();
        format!(
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\ncookie: {}\r\norigin: http://{host}\r\n\
             sec-fetch-site: same-origin\r\n{more}\r\n",
            self.cookie
        )
    }

    /// Opens a page, which must be there.
    ///
    /// # Errors
    ///
    /// When it is not.
    pub(super) async fn get(&self, path: &str) -> Result<Answer, AnyError> {
        let answer = self.ask(self.head("GET", path, "connection: close\r\n"), "").await?;
        if answer.status == 200 {
            return Ok(answer);
        }
        Err(format!("GET {path}: {}", answer.head).into())
    }

    /// Sends a form.
    ///
    /// # Errors
    ///
    /// When the connection breaks.
    pub(super) async fn post(&self, path: &str, form: &str) -> Result<Answer, AnyError> {
        let more = format!(
            "connection: close\r\ncontent-type: application/x-www-form-urlencoded\r\n\
             content-length: {}\r\n",
            form.len()
        );
        self.ask(self.head("POST", path, &more), form).await
    }

    async fn ask(&self, head: String, body: &str) -> Result<Answer, AnyError> {
        let begun = Instant::now();
        let mut stream = TcpStream::connect(self.target.address()).await?;
        stream.set_nodelay(true)?;
        stream.write_all(format!("{head}{body}").as_bytes()).await?;
        let mut all = Vec::new();
        stream.read_to_end(&mut all).await?;
        let took = begun.elapsed();
        let end = all.windows(4).position(|end| end == b"\r\n\r\n").ok_or("no answer")? + 4;
        let body = all.split_off(end);
        let head = String::from_utf8_lossy(&all).into_owned();
        let status = head.get(9..12).and_then(|digits| digits.parse().ok()).ok_or("no status")?;
        Ok(Answer { status, head, body, took })
    }

    /// The bytes of a page with its scripts and styles, with their heads.
    ///
    /// # Errors
    ///
    /// When a part is missing.
    async fn weight(&self, page: &Answer, html: &str) -> Result<usize, AnyError> {
        let mut weight = page.head.len() + page.body.len();
        for part in parts(html) {
            let part = self.get(part).await?;
            weight += part.head.len() + part.body.len();
        }
        Ok(weight)
    }

    /// The weights of pages: of this one, and of one of each shape that links lead to.
    ///
    /// # Errors
    ///
    /// When a part of a page is missing.
    pub(super) async fn weights(&self, first: &str) -> Result<BTreeMap<String, usize>, AnyError> {
        let mut weights = BTreeMap::new();
        let mut known = BTreeSet::from([shape(first)]);
        let mut waiting = VecDeque::from([first.to_owned()]);
        while let Some(path) = waiting.pop_front() {
            let page = self.ask(self.head("GET", &path, "connection: close\r\n"), "").await?;
            // A file, or a page about something that this company has not.
            if page.status != 200 || !page.head.to_lowercase().contains("content-type: text/html") {
                continue;
            }
            let html = String::from_utf8_lossy(&page.body).into_owned();
            weights.insert(shape(&path), self.weight(&page, &html).await?);
            waiting.extend(links(&html).filter(|link| known.insert(shape(link))));
        }
        Ok(weights)
    }
}

/// The pages that links of a page lead to.
fn links(html: &str) -> impl Iterator<Item = String> {
    let targets = html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let own = targets.filter(|target| target.starts_with("/console/") && !is_part(target));
    own.map(|target| {
        let target = target.replace("&amp;", "&");
        target.split('#').next().unwrap_or_default().to_owned()
    })
}

/// The path of a page without ids and query: pages of one shape differ by their records only.
fn shape(path: &str) -> String {
    let path = path.split('?').next().unwrap_or_default();
    let is_id = |segment: &str| segment.len() == 36 && segment.matches('-').count() == 4;
    let segments = path.split('/').map(|segment| if is_id(segment) { "{id}" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

fn is_part(path: &str) -> bool {
    path.starts_with("/console/assets/")
}

/// The scripts and styles that a page names.
fn parts(html: &str) -> Vec<&str> {
    let named = html.split(['"', '\'']).filter(|text| is_part(text));
    let mut parts: Vec<&str> = named.collect();
    parts.sort_unstable();
    parts.dedup();
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_page_count_once() {
        let html = "<link href=\"/console/assets/a.css\"><script src=\"/console/assets/b.js\">\
            </script><link href=\"/console/assets/a.css\"><a href=\"/console/inbox\">";
        assert_eq!(parts(html), ["/console/assets/a.css", "/console/assets/b.js"]);
    }

    #[test]
    fn links_are_followed_to_one_page_of_each_shape() {
        let id = "01a19b7c-a680-78b4-a652-e44da7f29e26";
        let html = format!(
            "<link href=\"/console/assets/a.css\"><a href=\"/console/inbox/{id}?a=1&amp;b=2#end\">\
             <a href=\"https://example.org/\"><a href=\"/console/contacts\">"
        );
        let found: Vec<String> = links(&html).collect();
        assert_eq!(found, [format!("/console/inbox/{id}?a=1&b=2"), "/console/contacts".to_owned()]);
        assert_eq!(shape(&found[0]), "/console/inbox/{id}");
    }
}
