//! What an agent does in the inbox, by what an agent sees.

use serde_json::json;

use crate::harness::Browser;

/// The field to answer in.
pub(crate) const ANSWER: &str = "#answer textarea";
/// The button that sends what stands in it.
pub(crate) const SEND: &str = "#answer form[action$='/reply'] button";

impl Browser {
    /// Opens the conversation of somebody from the list.
    pub(crate) async fn open_conversation(&self, name: &str) {
        self.goto("/console/inbox").await;
        self.click_named("main a", name).await;
        self.find(ANSWER).await;
    }

    /// Answers in the open conversation.
    pub(crate) async fn answer(&self, words: &str) {
        self.fill(ANSWER, words).await;
        self.click(SEND).await;
        self.sees_in("#messages", words).await;
    }

    /// Notes when these words are seen first.
    pub(crate) async fn watch_for(&self, words: &str) {
        let script = "const words = arguments[0]; window.sawAt = null; \
            const look = () => { \
                if (!window.sawAt && document.body.innerText.includes(words)) \
                    window.sawAt = Date.now(); }; \
            new MutationObserver(look).observe(document.body, \
                {subtree: true, childList: true, characterData: true}); look();";
        self.js(script, json!([words])).await;
    }

    /// Notes when the server answers to a form that htmx sends.
    pub(crate) async fn watch_answers(&self) {
        let script = "window.answeredAt = null; document.addEventListener('htmx:afterRequest', \
            event => { const verb = event.detail.requestConfig.verb; \
                if (verb === 'post') window.answeredAt = Date.now(); });";
        self.js(script, json!([])).await;
    }

    /// When the words that were watched for were seen, in milliseconds.
    pub(crate) async fn saw_at(&self) -> i64 {
        let found = self.until_js("sight of the words", "return window.sawAt", json!([])).await;
        found.as_i64().expect("a time")
    }

    /// When the server answered to the last form, in milliseconds.
    pub(crate) async fn answered_at(&self) -> i64 {
        let script = "const page = performance.getEntriesByType('navigation')[0]; \
            return Math.round(window.answeredAt ?? performance.timeOrigin + page.responseStart)";
        self.js(script, json!([])).await.as_i64().expect("a time")
    }

    /// Marks the page, to see later that it is still the same one.
    pub(crate) async fn mark(&self) {
        self.js("window.marked = true", json!([])).await;
    }

    /// Whether the page was not loaded again since it was marked.
    pub(crate) async fn is_marked(&self) -> bool {
        self.js("return window.marked === true", json!([])).await == true
    }
}
