//! Short news of what was just done, as a piece beside the one that htmx asked for.

use maud::{Markup, html};

use super::empty::Tone;

/// News within a page.
pub(crate) fn notice(tone: Tone, text: &str) -> Markup {
    let role = if tone == Tone::Bad { "alert" } else { "status" };
    html! { div.notice.(tone.class()) role=(role) { p { (text) } } }
}
