//! The rules that need no citation, each with its reason. An entry is right only if no test of the
//! rule is possible.

const EXEMPT: &[(&str, &str)] = &[("2.6", "Only names where the values are listed.")];

/// Why a rule needs no citation, if it needs none.
pub(crate) fn reason(name: &str) -> Option<&'static str> {
    EXEMPT.iter().find(|(exempt, _)| *exempt == name).map(|(_, reason)| *reason)
}

/// The rules that are exempt.
pub(crate) fn names() -> impl Iterator<Item = &'static &'static str> {
    EXEMPT.iter().map(|(name, _)| name)
}
