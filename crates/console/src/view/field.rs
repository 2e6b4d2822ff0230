//! Fields of forms, with the errors that the use case names (7.3).

use maud::{Markup, html};
use recado_core::Rejection;

use crate::i18n::{Language, Refused};

/// What a use case says about the fields of a form.
#[derive(Clone, Debug, Default)]
pub(crate) struct FieldErrors {
    reasons: Vec<(String, String)>,
    /// What it says that is about no field of its own.
    pub(crate) whole: Option<String>,
}

impl FieldErrors {
    /// R421. The errors of a refusal in the language of the page: its field reasons, or else its
    /// words.
    pub(crate) fn of(language: Language, rejection: &dyn Rejection) -> Self {
        let refused = Refused::of(rejection);
        let reasons = refused.reasons(language);
        let whole = reasons.is_empty().then(|| refused.words(language));
        Self { reasons, whole }
    }

    /// One error, at a field.
    pub(crate) fn at(field: &str, reason: String) -> Self {
        Self { reasons: vec![(field.to_owned(), reason)], whole: None }
    }

    /// One error that is about no field.
    pub(crate) fn of_whole(reason: String) -> Self {
        Self { reasons: Vec::new(), whole: Some(reason) }
    }

    /// What is said about a field.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.reasons.iter().find(|(field, _)| field == name).map(|(_, reason)| reason.as_str())
    }

    /// All at the top of a form: what is about no field that the form shows.
    pub(crate) fn summary(&self, shown: &[&str]) -> Markup {
        let others = || self.reasons.iter().filter(|(field, _)| !shown.contains(&field.as_str()));
        html! {
            @if self.whole.is_some() || others().next().is_some() {
                div.notice.bad role="alert" {
                    @if let Some(whole) = &self.whole { p { (whole) } }
                    @for (field, reason) in others() { p { code { (field) } " " (reason) } }
                }
            }
        }
    }
}

/// A field of one line.
pub(crate) struct Field<'a> {
    /// Its name in the form.
    pub(crate) name: &'a str,
    /// What people read.
    pub(crate) label: &'a str,
    /// Its value.
    pub(crate) value: &'a str,
    /// The type of the input, such as `text` or `email`.
    pub(crate) kind: &'a str,
    /// Whether it has to be filled.
    pub(crate) is_required: bool,
}

impl Field<'_> {
    /// The field with what is said about it.
    pub(crate) fn show(&self, errors: &FieldErrors) -> Markup {
        let id = format!("field-{}", self.name);
        let error = errors.get(self.name);
        let described = error.map(|_| format!("{id}-error"));
        html! {
            div.field {
                label for=(id) { (self.label) }
                input id=(id) type=(self.kind) name=(self.name) value=(self.value)
                    required[self.is_required] aria-invalid=[error.map(|_| "true")]
                    aria-describedby=[described.as_deref()];
                @if let Some(error) = error { p.error id=[described.as_deref()] { (error) } }
            }
        }
    }
}

/// A field of several lines.
pub(crate) fn area(name: &str, label: &str, value: &str, errors: &FieldErrors) -> Markup {
    let id = format!("field-{name}");
    let error = errors.get(name);
    let described = error.map(|_| format!("{id}-error"));
    html! {
        div.field {
            label for=(id) { (label) }
            textarea id=(id) name=(name) rows="5" aria-invalid=[error.map(|_| "true")]
                aria-describedby=[described.as_deref()] { (value) }
            @if let Some(error) = error { p.error id=[described.as_deref()] { (error) } }
        }
    }
}

/// A choice of one; the pairs are value and text.
pub(crate) fn select(
    name: &str,
    label: &str,
    options: &[(String, String)],
    chosen: &str,
    errors: &FieldErrors,
) -> Markup {
    let id = format!("field-{name}");
    let error = errors.get(name);
    let described = error.map(|_| format!("{id}-error"));
    html! {
        div.field {
            label for=(id) { (label) }
            select id=(id) name=(name) aria-invalid=[error.map(|_| "true")]
                aria-describedby=[described.as_deref()] {
                @for (value, text) in options {
                    option value=(value) selected[value == chosen] { (text) }
                }
            }
            @if let Some(error) = error { p.error id=[described.as_deref()] { (error) } }
        }
    }
}

/// A box to check.
pub(crate) fn checkbox(name: &str, label: &str, is_checked: bool) -> Markup {
    html! {
        label.check {
            input type="checkbox" name=(name) value="on" checked[is_checked];
            " " (label)
        }
    }
}
