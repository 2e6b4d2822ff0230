//! Dark or light.

/// The colours of the pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Theme {
    /// As the browser prefers.
    #[default]
    Auto,
    /// Dark.
    Dark,
    /// Light.
    Light,
}

impl Theme {
    /// The cookie with the choice.
    pub(crate) const COOKIE: &'static str = "recado-theme";
    /// Every theme.
    pub(crate) const ALL: [Self; 3] = [Self::Auto, Self::Light, Self::Dark];

    /// The word it is written as.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Dark => "dark",
            Self::Light => "light",
        }
    }

    /// The theme of a word; `Auto` for any other.
    pub(crate) fn of(word: Option<&str>) -> Self {
        Self::ALL.into_iter().find(|theme| Some(theme.as_str()) == word).unwrap_or_default()
    }
}
