//! What the core refuses, in the language of a page (R421). The core's own sentences are English.

use recado_core::contacts::Warning;
use recado_core::{Code, Rejection};

use super::{Language, Value};

/// What a use case refused: its code, its sentence, and what it says of fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// The stable code.
    pub(crate) code: Code,
    /// The core's own sentence. It is English, and more exact than the words of the code.
    sentence: String,
    /// Each field with what is wrong with it, in the core's words.
    reasons: Vec<(String, String)>,
}

impl Refused {
    /// What is refused by this.
    pub(crate) fn of(rejection: &dyn Rejection) -> Self {
        let details = rejection.details().unwrap_or_default();
        let reasons = details.get("reasons").and_then(serde_json::Value::as_object);
        let text = |reason: &serde_json::Value| reason.as_str().unwrap_or_default().to_owned();
        let reasons = reasons.into_iter().flatten();
        let reasons = reasons.map(|(field, reason)| (field.clone(), text(reason))).collect();
        Self { code: rejection.code(), sentence: rejection.to_string(), reasons }
    }

    /// What is refused with this code, where only a sentence is known besides.
    pub(crate) fn told(code: Code, sentence: impl Into<String>) -> Self {
        Self { code, sentence: sentence.into(), reasons: Vec::new() }
    }

    /// The core's sentence, for a page in the language of the core.
    pub(crate) fn sentence(&self, language: Language) -> Option<&str> {
        language.is_of_the_core().then_some(self.sentence.as_str())
    }

    /// R421. Each field with what is wrong with it.
    pub(crate) fn reasons(&self, language: Language) -> Vec<(String, String)> {
        let said = |(field, reason): &(String, String)| (field.clone(), language.reason(reason));
        self.reasons.iter().map(said).collect()
    }

    /// R421. All of it as one text: the core's sentence, or the words of the code and the fields.
    pub(crate) fn words(&self, language: Language) -> String {
        if let Some(sentence) = self.sentence(language) {
            return sentence.to_owned();
        }
        let mut words = language.code(self.code);
        for (field, reason) in self.reasons(language) {
            words.push_str(&format!(" {field}: {reason}"));
        }
        words
    }
}

impl Language {
    /// Whether the core's sentences are in this language.
    const fn is_of_the_core(self) -> bool {
        matches!(self, Self::English)
    }

    /// What happened, by the code, and what to do about it.
    pub(crate) fn code(self, code: Code) -> String {
        self.word_of("code", &code.as_str().to_lowercase())
    }

    /// A refusal as one text.
    pub(crate) fn refused(self, rejection: &dyn Rejection) -> String {
        Refused::of(rejection).words(self)
    }

    /// What a call that was accepted is warned of.
    pub(crate) fn warning(self, warning: &Warning) -> String {
        match self.is_of_the_core() {
            true => warning.message.to_string(),
            false => self.word_of("warning", &warning.code.to_lowercase()),
        }
    }

    /// R421. What is wrong with a field. The core has no list of its reasons: those that forms of
    /// the console get have words here, found by their beginnings; all others share one text.
    pub(crate) fn reason(self, reason: &str) -> String {
        if self.is_of_the_core() {
            return reason.to_owned();
        }
        let parts: Vec<&str> = reason.split_whitespace().collect();
        let known = self.known_reason(&parts).or_else(|| {
            // A reason may begin with the name of what it is about within the field.
            let (name, rest) = parts.split_first()?;
            Some(format!("{name}: {}", self.known_reason(rest)?))
        });
        known.unwrap_or_else(|| self.text("reason-other"))
    }

    /// The words for the longest beginning of a reason that has some.
    fn known_reason(self, parts: &[&str]) -> Option<String> {
        (1..=parts.len()).rev().find_map(|end| {
            let (known, rest) = parts.split_at(end);
            let (key, numbers) = keyed(&known.join(" "));
            let key = format!("reason-{key}");
            let mut values: Vec<(&str, Value<'_>)> = vec![("rest", rest.join(" ").into())];
            values.extend(["n", "m"].into_iter().zip(numbers.into_iter().map(Value::from)));
            let words = self.text_with(&key, &values);
            (words != key).then_some(words)
        })
    }
}

/// The key of a reason: its words, with `n` for each number; and the numbers, as Portuguese writes
/// them.
pub(super) fn keyed(reason: &str) -> (String, Vec<String>) {
    let mut key = String::new();
    let mut numbers: Vec<String> = Vec::new();
    let mut chars = reason.chars().peekable();
    while let Some(c) = chars.next() {
        if c.is_ascii_digit() {
            let mut number = String::from(c);
            while let Some(more) = chars.next_if(|c| c.is_ascii_digit() || *c == ',') {
                number.push(if more == ',' { '.' } else { more });
            }
            numbers.push(number.trim_end_matches('.').to_owned());
            key.push('n');
        } else if c.is_ascii_alphabetic() {
            key.push(c.to_ascii_lowercase());
        } else if !key.is_empty() && !key.ends_with('-') {
            key.push('-');
        }
    }
    (key.trim_end_matches('-').to_owned(), numbers)
}

#[cfg(test)]
mod tests;
