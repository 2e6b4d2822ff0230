//! Parts of the forms about contacts.

use crate::visit::Visit;

/// Values and texts of a choice.
pub(super) fn pairs<'a>(all: impl Iterator<Item = (String, &'a String)>) -> Vec<(String, String)> {
    all.map(|(value, text)| (value, text.clone())).collect()
}

/// The same with the choice of none of them before.
pub(super) fn any(visit: &Visit, options: Vec<(String, String)>) -> Vec<(String, String)> {
    std::iter::once((String::new(), visit.t("contacts-any"))).chain(options).collect()
}
