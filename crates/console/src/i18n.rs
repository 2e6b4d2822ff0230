//! The languages of the pages, from fluent files that are compiled in (R421).

use std::sync::LazyLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource};
use http::HeaderMap;
use http::header::ACCEPT_LANGUAGE;

pub(crate) use fluent_bundle::FluentValue as Value;

mod refused;

pub(crate) use refused::Refused;

/// A language of the pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Language {
    /// English.
    #[default]
    English,
    /// Portuguese as in Brazil.
    Portuguese,
}

/// One file for each area in each language.
macro_rules! files {
    ($language:literal) => {
        &[
            include_str!(concat!("../i18n/", $language, "/common.ftl")),
            include_str!(concat!("../i18n/", $language, "/codes.ftl")),
            include_str!(concat!("../i18n/", $language, "/reasons.ftl")),
            include_str!(concat!("../i18n/", $language, "/sign_in.ftl")),
            include_str!(concat!("../i18n/", $language, "/inbox.ftl")),
            include_str!(concat!("../i18n/", $language, "/thread.ftl")),
            include_str!(concat!("../i18n/", $language, "/contacts.ftl")),
            include_str!(concat!("../i18n/", $language, "/campaigns.ftl")),
            include_str!(concat!("../i18n/", $language, "/templates.ftl")),
            include_str!(concat!("../i18n/", $language, "/connections.ftl")),
            include_str!(concat!("../i18n/", $language, "/integration.ftl")),
            include_str!(concat!("../i18n/", $language, "/operation.ftl")),
            include_str!(concat!("../i18n/", $language, "/account.ftl")),
        ]
    };
}

const ENGLISH: &[&str] = files!("en");
const PORTUGUESE: &[&str] = files!("pt-BR");

type Bundle = FluentBundle<FluentResource>;

fn bundle(tag: &str, files: &[&str]) -> Bundle {
    let mut bundle = FluentBundle::new_concurrent(vec![tag.parse().expect("a language tag")]);
    // Pages mark texts of others by themselves.
    bundle.set_use_isolating(false);
    for file in files {
        let resource = FluentResource::try_new((*file).to_owned()).unwrap_or_else(|(part, _)| part);
        // A key that stands twice stays as it is first; a test finds it.
        let _ = bundle.add_resource(resource);
    }
    bundle
}

static BUNDLES: LazyLock<[Bundle; 2]> =
    LazyLock::new(|| [bundle("en", ENGLISH), bundle("pt-BR", PORTUGUESE)]);

impl Language {
    /// The cookie with the choice.
    pub(crate) const COOKIE: &'static str = "recado-language";
    /// Every language.
    pub(crate) const ALL: [Self; 2] = [Self::English, Self::Portuguese];

    /// Its tag.
    pub(crate) const fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Portuguese => "pt-BR",
        }
    }

    /// Its own name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::Portuguese => "Português (Brasil)",
        }
    }

    /// R421. The language that was chosen, or else the one that the browser prefers.
    pub(crate) fn of(choice: Option<&str>, headers: &HeaderMap) -> Self {
        if let Some(chosen) = Self::ALL.into_iter().find(|known| Some(known.tag()) == choice) {
            return chosen;
        }
        let lines = headers.get_all(ACCEPT_LANGUAGE).iter().filter_map(|line| line.to_str().ok());
        let mut wanted: Vec<(f32, Self)> = lines
            .flat_map(|line| line.split(','))
            .filter_map(|part| {
                let mut parts = part.split(';').map(str::trim);
                let tag = parts.next()?.to_ascii_lowercase();
                let weight = parts.find_map(|part| part.strip_prefix("q=")?.parse().ok());
                let language = match tag.split('-').next()? {
                    "pt" => Self::Portuguese,
                    "en" => Self::English,
                    _ => return None,
                };
                Some((weight.unwrap_or(1.0), language)).filter(|(weight, _)| *weight > 0.0)
            })
            .collect();
        wanted.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        wanted.first().map_or_else(Self::default, |(_, language)| *language)
    }

    fn bundle(self) -> &'static Bundle {
        match self {
            Self::English => &BUNDLES[0],
            Self::Portuguese => &BUNDLES[1],
        }
    }

    /// The text of a key.
    pub(crate) fn text(self, key: &str) -> String {
        self.text_with(key, &[])
    }

    /// The text of a key with these values in it. A key that is missing is its own text.
    pub(crate) fn text_with(self, key: &str, values: &[(&str, Value<'_>)]) -> String {
        let Some(pattern) = self.bundle().get_message(key).and_then(|message| message.value())
        else {
            return key.to_owned();
        };
        let mut args = FluentArgs::new();
        for (name, value) in values {
            args.set(*name, value.clone());
        }
        let mut errors = Vec::new();
        self.bundle().format_pattern(pattern, Some(&args), &mut errors).into_owned()
    }

    /// The text of a word of an enumeration: `word_of("message-status", "sent")` is the key
    /// `message-status-sent`. A word without a text is shown as it is.
    pub(crate) fn word_of(self, group: &str, word: &str) -> String {
        self.word_if_any(group, word).unwrap_or_else(|| word.to_owned())
    }

    /// The text of a word, if it has one.
    pub(crate) fn word_if_any(self, group: &str, word: &str) -> Option<String> {
        let key = format!("{group}-{}", word.replace(['_', '.'], "-"));
        let text = self.text(&key);
        (text != key).then_some(text)
    }

    /// Whether there is a text for a key.
    #[cfg(test)]
    pub(crate) fn has(self, key: &str) -> bool {
        self.bundle().has_message(key)
    }
}

#[cfg(test)]
mod tests;
