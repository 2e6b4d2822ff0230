//! What stands where nothing is to be shown, and short labels of states.

use maud::{Markup, html};

/// Why there is nothing, and what to do about it.
pub(crate) fn empty(text: &str) -> Markup {
    html! { p.empty { (text) } }
}

/// How a state is coloured. Its text says it as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// As it should be.
    Good,
    /// Needs somebody.
    Warn,
    /// Failed.
    Bad,
    /// None of these.
    Plain,
}

impl Tone {
    /// The class of the style sheet.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Warn => "warn",
            Self::Bad => "bad",
            Self::Plain => "plain",
        }
    }
}

/// A short label of a state.
pub(crate) fn badge(tone: Tone, text: &str) -> Markup {
    html! { span.badge.(tone.class()) { (text) } }
}
