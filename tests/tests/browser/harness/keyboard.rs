//! The keyboard, and whether it reaches everything.

use serde_json::{Value, json};

use super::browser::Browser;

/// The Tab key in the protocol.
pub(crate) const TAB: &str = "\u{e004}";
/// The Shift key in the protocol.
pub(crate) const SHIFT: &str = "\u{e008}";
/// The Enter key in the protocol.
pub(crate) const ENTER: &str = "\u{e007}";
/// The Control key in the protocol.
pub(crate) const CONTROL: &str = "\u{e009}";

/// Marks what a person can act on and begins to watch the focus.
const WATCH: &str = r"
    const shown = one => one.checkVisibility({visibilityProperty: true})
        && !one.closest('[inert]') && !one.disabled;
    const controls = [...document.querySelectorAll('a[href], area[href], button, input, select, '
        + 'textarea, summary, [tabindex], [contenteditable=true], audio[controls], '
        + 'video[controls]')].filter(one =>
        shown(one) && one.tabIndex >= 0 && one.type !== 'hidden' && !one.matches('iframe'));
    const watch = {controls, reached: new Set(), faint: new Set()};
    document.addEventListener('focusin', event => {
        const one = event.target;
        watch.reached.add(one);
        const look = getComputedStyle(one);
        const outlined = look.outlineStyle !== 'none' && parseFloat(look.outlineWidth) > 0;
        if (!outlined && look.boxShadow === 'none') watch.faint.add(one);
    });
    window.keyboardWatch = watch;
    if (document.activeElement) document.activeElement.blur();
    window.scrollTo(0, 0);
    return controls.length;
";

/// What the focus did not reach. One radio button stands for its group.
const MISSED: &str = r"
    const watch = window.keyboardWatch;
    const group = one => one.type === 'radio' && watch.controls.some(other =>
        other.type === 'radio' && other.name === one.name && watch.reached.has(other));
    return watch.controls.filter(one => one.isConnected && !watch.reached.has(one) && !group(one))
        .map(one => one.outerHTML.slice(0, 160));
";

/// Everything that keeps a page from being used without a mouse.
const OTHER: &str = r"
    const watch = window.keyboardWatch;
    const name = one => one.outerHTML.slice(0, 160);
    const out = [...watch.faint].map(one => 'the focus is not seen on ' + name(one));
    for (const one of document.querySelectorAll('[tabindex]'))
        if (one.tabIndex > 0) out.push('an order of its own: ' + name(one));
    for (const one of document.querySelectorAll('[hx-get],[hx-post],[hx-put],[hx-delete]')) {
        const trigger = one.getAttribute('hx-trigger') ?? '';
        const natural = one.matches('form, input, select, textarea');
        const clicked = trigger.includes('click') || (trigger === '' && !natural);
        if (clicked && one.tabIndex < 0 && one.checkVisibility())
            out.push('only a mouse clicks on ' + name(one));
    }
    return out;
";

impl Browser {
    /// Presses keys one after another.
    pub(crate) async fn press(&self, keys: &[&str]) {
        let mut actions = Vec::new();
        for key in keys {
            actions.push(json!({"type": "keyDown", "value": key}));
            actions.push(json!({"type": "keyUp", "value": key}));
        }
        self.keys(actions).await;
    }

    /// Types a text where the focus is.
    pub(crate) async fn press_each(&self, text: &str) {
        let keys: Vec<String> = text.chars().map(String::from).collect();
        self.press(&keys.iter().map(String::as_str).collect::<Vec<_>>()).await;
    }

    /// Presses a key while another one is held.
    pub(crate) async fn chord(&self, held: &str, key: &str) {
        let down = |key: &str| json!({"type": "keyDown", "value": key});
        let up = |key: &str| json!({"type": "keyUp", "value": key});
        self.keys(vec![down(held), down(key), up(key), up(held)]).await;
    }

    async fn keys(&self, actions: Vec<Value>) {
        let keyboard = json!({"type": "key", "id": "keyboard", "actions": actions});
        self.session.must("POST", "actions", json!({"actions": [keyboard]})).await;
    }

    /// What cannot be done without a mouse on this page. Goes through it with Tab, from its
    /// beginning.
    pub(crate) async fn needs_a_mouse(&self) -> Vec<String> {
        let count = self.js(WATCH, json!([])).await.as_u64().expect("a number");
        let list = |value: Value| -> Vec<String> {
            let all = value.as_array().cloned().unwrap_or_default();
            all.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect()
        };
        // Boxes that scroll and players have stops of their own.
        let mut left = count * 2 + 30;
        let mut missed = list(self.js(MISSED, json!([])).await);
        while !missed.is_empty() && left > 0 {
            let step = left.min(25);
            self.press(&vec![TAB; usize::try_from(step).expect("a few")]).await;
            left -= step;
            missed = list(self.js(MISSED, json!([])).await);
        }
        let mut all: Vec<String> =
            missed.into_iter().map(|one| format!("Tab does not reach {one}")).collect();
        all.extend(list(self.js(OTHER, json!([])).await));
        all
    }
}
