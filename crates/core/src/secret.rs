//! Values that must never be printed.

use std::fmt;

use subtle::ConstantTimeEq;

/// Whether to print a value in full that logs must not contain: only with `{:-?}`, which tests use.
/// Secrets are never printed.
fn is_shown(f: &fmt::Formatter<'_>) -> bool {
    cfg!(any(test, feature = "show-values")) && f.sign_minus()
}

/// Prints a value that logs must not contain: its name with a replacement.
pub(crate) fn masked(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    mask: impl fmt::Display,
    value: &dyn fmt::Debug,
) -> fmt::Result {
    if is_shown(f) { write!(f, "{name}({value:?})") } else { write!(f, "{name}({mask})") }
}

/// Prints some fields of a struct, and the others only with `{:-?}`.
pub(crate) fn partly<'f, 'a>(
    f: &'f mut fmt::Formatter<'a>,
    name: &str,
    shown: &[(&str, &dyn fmt::Debug)],
    hidden: &[(&str, &dyn fmt::Debug)],
) -> fmt::Result {
    let all = is_shown(f);
    let mut printed = f.debug_struct(name);
    for (name, value) in shown {
        printed.field(name, value);
    }
    if !all {
        return printed.finish_non_exhaustive();
    }
    for (name, value) in hidden {
        printed.field(name, value);
    }
    printed.finish()
}

/// `Debug` of a struct of which logs may contain only some fields. Every field has to be named.
macro_rules! hides {
    ($Type:ident {
        shows { $($shown:ident),+ $(,)? }
        hides { $($hidden:ident),+ $(,)? }
        $(never shows { $($never:ident),+ })?
    }) => {
        impl std::fmt::Debug for $Type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let Self { $($shown,)+ $($hidden,)+ $($($never: _,)+)? } = self;
                $crate::secret::partly(
                    f,
                    stringify!($Type),
                    &[$((stringify!($shown), $shown as &dyn std::fmt::Debug)),+],
                    &[$((stringify!($hidden), $hidden as &dyn std::fmt::Debug)),+],
                )
            }
        }
    };
}
pub(crate) use hides;

/// A secret text. Prints as `***`; compared in constant time.
#[derive(Clone)]
pub struct SecretText(String);

impl SecretText {
    /// Wraps a secret.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The secret itself, to be shown once or signed with.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether `given` is this secret, compared in constant time. Nothing matches an empty secret,
    /// so that a token that was never set admits no caller.
    pub fn matches(&self, given: &str) -> bool {
        !self.0.is_empty() && self.is(given)
    }

    fn is(&self, other: &str) -> bool {
        self.0.as_bytes().ct_eq(other.as_bytes()).into()
    }
}

impl PartialEq for SecretText {
    fn eq(&self, other: &Self) -> bool {
        self.is(&other.0)
    }
}

impl Eq for SecretText {}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Secret bytes, such as a signing key. Prints as `***`.
#[derive(Clone)]
pub struct SecretBytes(Vec<u8>);

impl SecretBytes {
    /// Wraps secret bytes.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// The bytes themselves.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl PartialEq for SecretBytes {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for SecretBytes {}

impl fmt::Debug for SecretBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_matches_an_empty_secret() {
        assert!(SecretText::new("hunter2").matches("hunter2"));
        assert!(!SecretText::new("hunter2").matches(""));
        assert!(!SecretText::new("").matches(""));
        assert_eq!(SecretText::new(""), SecretText::new(""));
    }

    #[test]
    fn a_secret_prints_as_stars() {
        let secret = SecretText::new("hunter2");
        assert_eq!(format!("{secret} {secret:?} {:?}", SecretBytes::new(*b"abc")), "*** *** ***");
    }
}
