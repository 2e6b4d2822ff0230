//! What a person does in a browser. Everything waits until the page has come so far, for a bounded
//! time, and says what was missing.

use std::future::Future;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::session::{Element, Session};

/// How long a page may take to come so far.
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser at one site.
#[derive(Debug)]
pub(crate) struct Browser {
    /// The session of the protocol.
    pub(crate) session: Session,
    /// The scheme, host and port of the site.
    pub(crate) origin: String,
}

impl Browser {
    /// A browser with an empty profile.
    pub(crate) async fn at(site: SocketAddr) -> Self {
        let [one] = Self::many_at(site).await;
        one
    }

    /// Browsers with an empty profile each.
    pub(crate) async fn many_at<const N: usize>(site: SocketAddr) -> [Self; N] {
        let sessions = Session::start_many().await;
        let all = sessions.map(|session| Self { session, origin: format!("http://{site}") });
        for one in &all {
            one.desk().await;
        }
        all
    }

    /// Opens a path.
    pub(crate) async fn goto(&self, path: &str) {
        let url = format!("{}{path}", self.origin);
        self.session.must("POST", "url", json!({ "url": url })).await;
    }

    /// Loads the page again.
    pub(crate) async fn reload(&self) {
        self.session.must("POST", "refresh", json!({})).await;
    }

    /// The path and the query of the page.
    pub(crate) async fn path(&self) -> String {
        let path = self.js("return location.pathname + location.search", json!([])).await;
        path.as_str().unwrap_or_default().to_owned()
    }

    /// The text of the page that a person sees.
    pub(crate) async fn text(&self) -> String {
        let script = "return document.body ? document.body.innerText : ''";
        match self.session.script(script, json!([])).await {
            Ok(text) => text.as_str().unwrap_or_default().to_owned(),
            Err(refused) => format!("(no text: {refused})"),
        }
    }

    /// What the page wrote to the console of the developer tools, since this was last asked.
    pub(crate) async fn log(&self) -> Vec<String> {
        let lines = self.session.command("POST", "se/log", json!({"type": "browser"})).await;
        let lines = lines.ok().and_then(|lines| lines.as_array().cloned()).unwrap_or_default();
        lines.iter().map(|line| format!("{}: {}", line["level"], line["message"])).collect()
    }

    /// What the page's own policy kept it from, and errors of its scripts, since this was asked
    /// last.
    pub(crate) async fn broken(&self) -> Vec<String> {
        let mut log = self.log().await;
        log.retain(|line| {
            ["Content Security Policy", "Uncaught", "Error"].iter().any(|one| line.contains(one))
        });
        log
    }

    /// The value of a script's `return`, which must not throw.
    pub(crate) async fn js(&self, script: &str, args: Value) -> Value {
        match self.session.script(script, args).await {
            Ok(value) => value,
            Err(refused) => panic!("{refused}\nin {script}\n{}", self.state().await),
        }
    }

    /// Asks until there is an answer.
    pub(crate) async fn until<T, F: Future<Output = Option<T>>>(
        &self,
        what: &str,
        mut look: impl FnMut() -> F,
    ) -> T {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(found) = look().await {
                return found;
            }
            if Instant::now() > deadline {
                panic!("in {PATIENCE:?} there was no {what}\n{}", self.state().await);
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
    }

    /// Waits until a script returns something that is not false, null or empty, and returns it.
    pub(crate) async fn until_js(&self, what: &str, script: &str, args: Value) -> Value {
        self.until(what, || async {
            let found = self.session.script(script, args.clone()).await.ok()?;
            let nothing = matches!(&found, Value::Null | Value::Bool(false))
                || found.as_str().is_some_and(str::is_empty);
            (!nothing).then_some(found)
        })
        .await
    }

    /// Where the browser is and what it shows, for the message of a failed test.
    pub(crate) async fn state(&self) -> String {
        let url = self.session.command("GET", "url", Value::Null).await;
        let text: String = self.text().await.chars().take(3_000).collect();
        format!("at {url:?}\n--- text\n{text}\n--- log\n{}", self.log().await.join("\n"))
    }

    /// Waits for an element that is shown.
    pub(crate) async fn find(&self, css: &str) -> Element {
        self.find_named(css, "").await
    }

    /// Waits for an element that is shown and whose text or label contains these words.
    pub(crate) async fn find_named(&self, css: &str, words: &str) -> Element {
        let script = "return [...document.querySelectorAll(arguments[0])].find(one => \
            one.checkVisibility({visibilityProperty: true}) && [one.textContent, one.value, \
            one.ariaLabel, one.title].some(text => (text ?? '').includes(arguments[1])))";
        let what = format!("{css} with {words:?}");
        let found = self.until_js(&what, script, json!([css, words])).await;
        Element::of(&found).expect("an element")
    }

    /// Waits until the page shows these words.
    pub(crate) async fn sees(&self, words: &str) {
        self.sees_in("body", words).await;
    }

    /// Waits until what a selector finds shows these words.
    pub(crate) async fn sees_in(&self, css: &str, words: &str) {
        let script = "return [...document.querySelectorAll(arguments[0])].some(one => \
            one.innerText.includes(arguments[1]))";
        self.until_js(&format!("{words:?} in {css}"), script, json!([css, words])).await;
    }

    /// The same for what takes longer than a page.
    pub(crate) async fn sees_in_within(&self, most: Duration, css: &str, words: &str) {
        let deadline = Instant::now() + most;
        while Instant::now() + PATIENCE < deadline {
            let script = "return [...document.querySelectorAll(arguments[0])].some(one => \
                one.innerText.includes(arguments[1]))";
            if self.js(script, json!([css, words])).await == true {
                return;
            }
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
        self.sees_in(css, words).await;
    }

    /// Waits until what a selector finds does not show these words.
    pub(crate) async fn loses(&self, css: &str, words: &str) {
        let script = "return ![...document.querySelectorAll(arguments[0])].some(one => \
            one.innerText.includes(arguments[1]))";
        self.until_js(&format!("{css} without {words:?}"), script, json!([css, words])).await;
    }

    /// Clicks on what a selector finds.
    pub(crate) async fn click(&self, css: &str) {
        self.click_named(css, "").await;
    }

    /// Clicks on the element that a selector finds and whose text or label contains these words.
    pub(crate) async fn click_named(&self, css: &str, words: &str) {
        self.act(css, words, "click", json!({})).await;
    }

    /// Replaces the text of a field.
    pub(crate) async fn fill(&self, css: &str, text: &str) {
        self.act(css, "", "clear", json!({})).await;
        self.type_in(css, text).await;
    }

    /// Types into a field.
    pub(crate) async fn type_in(&self, css: &str, text: &str) {
        self.act(css, "", "value", json!({ "text": text })).await;
    }

    /// Gives a file to a field, which need not be shown.
    pub(crate) async fn attach(&self, css: &str, file: &Path) {
        let path = file.to_str().expect("a path in UTF-8");
        self.until(&format!("{css} for a file"), || async {
            let field = self.session.all(css).await.into_iter().next()?;
            self.session.on(&field, "value", json!({ "text": path })).await.ok()
        })
        .await;
    }

    async fn act(&self, css: &str, words: &str, command: &str, body: Value) {
        self.until(&format!("{css} with {words:?} to {command}"), || async {
            let element = self.find_named(css, words).await;
            match self.session.on(&element, command, body.clone()).await {
                Ok(_) => Some(()),
                Err(refused) if refused.may_pass() => None,
                Err(refused) => panic!("{command} on {css}: {refused}"),
            }
        })
        .await;
    }

    /// The value of a field.
    pub(crate) async fn value(&self, css: &str) -> String {
        let element = self.find(css).await;
        let value = self.js("return arguments[0].value", json!([element.reference()])).await;
        value.as_str().unwrap_or_default().to_owned()
    }

    /// A picture of what the window shows, as PNG.
    pub(crate) async fn picture(&self) -> Vec<u8> {
        let picture = self.session.must("GET", "screenshot", Value::Null).await;
        STANDARD.decode(picture.as_str().unwrap_or_default()).expect("Base64")
    }
}
