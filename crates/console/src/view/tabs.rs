//! The parts of an area as links.

use maud::{Markup, html};

/// Links to the parts of an area: path, text, and which is shown.
pub(crate) fn tabs(label: &str, tabs: &[(&str, String)], current: &str) -> Markup {
    html! {
        nav.tabs aria-label=(label) {
            ul {
                @for (path, text) in tabs {
                    li { a href=(path) aria-current=[(*path == current).then_some("page")] { (text) } }
                }
            }
        }
    }
}
