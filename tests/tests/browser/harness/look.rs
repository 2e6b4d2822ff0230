//! What a page is looked at with: window, theme, language.

use serde_json::json;

use super::browser::Browser;

/// The width of a phone in CSS pixels.
const PHONE: u32 = 390;

/// The colours that a person prefers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Theme {
    /// Dark text on light ground.
    Light,
    /// Light text on dark ground.
    Dark,
}

/// The language that a person prefers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    /// English.
    English,
    /// Portuguese of Brazil.
    Portuguese,
}

impl Language {
    /// Its code.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Portuguese => "pt-BR",
        }
    }
}

impl Browser {
    /// The size of what the window shows, in CSS pixels.
    pub(crate) async fn window(&self, width: u32, height: u32) {
        let size = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false,
        });
        self.session.tools("Emulation.setDeviceMetricsOverride", size).await;
    }

    /// The window of a browser on a desk.
    pub(crate) async fn desk(&self) {
        self.window(1280, 800).await;
    }

    /// Waits until what was changed of the window or the theme is drawn.
    pub(crate) async fn settled(&self) {
        let script = "const done = arguments[0]; \
            requestAnimationFrame(() => requestAnimationFrame(() => done(true)))";
        let drawn = self.session.later(script, json!([])).await;
        drawn.unwrap_or_else(|refused| panic!("nothing is drawn: {refused}"));
    }

    /// A phone.
    pub(crate) async fn phone(&self) {
        let size = json!({"width": PHONE, "height": 844, "deviceScaleFactor": 1, "mobile": true});
        self.session.tools("Emulation.setDeviceMetricsOverride", size).await;
    }

    /// The theme and the language that the browser asks for from the next request on.
    pub(crate) async fn prefers(&self, language: Language, theme: Theme) {
        let scheme = match theme {
            Theme::Light => "light",
            Theme::Dark => "dark",
        };
        let feature = json!({"name": "prefers-color-scheme", "value": scheme});
        self.session.tools("Emulation.setEmulatedMedia", json!({"features": [feature]})).await;
        self.session.tools("Network.enable", json!({})).await;
        let headers = json!({"headers": {"Accept-Language": language.code()}});
        self.session.tools("Network.setExtraHTTPHeaders", headers).await;
    }

    /// Texts that have so little room that they stand letter below letter.
    pub(crate) async fn squeezed(&self) -> Vec<String> {
        let script = "const own = one => [...one.childNodes].some(node => \
                node.nodeType === 3 && node.textContent.trim().length > 3); \
            return [...document.querySelectorAll('main *')].filter(one => own(one) \
                && one.checkVisibility() && !one.closest('.hidden, svg')).filter(one => { \
                const box = one.getBoundingClientRect(); \
                const letter = parseFloat(getComputedStyle(one).fontSize); \
                return box.width < 2.5 * letter && box.height > 3.5 * letter; \
            }).slice(0, 4).map(one => one.outerHTML.slice(0, 120))";
        let found = self.js(script, json!([])).await;
        let all = found.as_array().cloned().unwrap_or_default();
        all.iter().map(|one| one.as_str().unwrap_or_default().to_owned()).collect()
    }

    /// How wide the page is where it is wider than a phone, with what sticks out.
    pub(crate) async fn too_wide(&self) -> Option<String> {
        let script = "const root = document.documentElement; \
            const room = arguments[0]; \
            if (root.scrollWidth <= room) return null; \
            const out = [...document.querySelectorAll('body *')].filter(one => \
                one.getBoundingClientRect().right > room + 1); \
            return `${root.scrollWidth} of ${room}: ` + out.slice(0, 8).map(one => \
                one.outerHTML.slice(0, 120)).join(' | ')";
        self.js(script, json!([PHONE])).await.as_str().map(str::to_owned)
    }
}
