//! Values that are printed in full in counterexamples.

use std::fmt;
use std::ops::Deref;

use proptest::prelude::*;

/// A value whose `Debug` form is complete, although the type's own leaves out personal data.
/// Secrets stay hidden.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shown<T>(pub T);

impl<T: fmt::Debug> fmt::Debug for Shown<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() { write!(f, "{:-#?}", self.0) } else { write!(f, "{:-?}", self.0) }
    }
}

impl<T> Deref for Shown<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// The values of a strategy, for `proptest!`: a counterexample shows them in full.
pub fn shown<S: Strategy>(strategy: S) -> impl Strategy<Value = Shown<S::Value>> {
    strategy.prop_map(Shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;
    use crate::contacts::{Contact, Email, Identifier, Platform};
    use crate::ids::{CompanyId, ContactId};
    use crate::secret::SecretText;

    fn contact() -> Contact {
        let (company, id) = (CompanyId::new(uuid::Uuid::nil()), ContactId::new(uuid::Uuid::nil()));
        let identifier = Identifier::parse("5534991230001").expect("acceptable");
        let now = Timestamp::from_millis(0);
        let mut contact = Contact::new(id, company, Platform::whatsapp(), identifier, None, now);
        contact.name = "Ana".to_owned();
        contact.email = Email::parse("ana@example.com").ok();
        contact
    }

    #[test]
    fn a_value_hides_in_logs_and_shows_itself_in_counterexamples() {
        let contact = contact();
        for text in ["Ana", "5534991230001", "ana@example.com"] {
            assert!(!format!("{contact:?} {contact:#?}").contains(text), "{text}");
            for shown in [format!("{:?}", Shown(&contact)), format!("{:#?}", Shown(&contact))] {
                assert!(shown.contains(text), "{text} is not in {shown}");
            }
        }
    }

    #[test]
    fn secrets_show_themselves_nowhere() {
        let secret = SecretText::new("hunter2".to_owned());
        assert_eq!(format!("{:?}", Shown(secret)), "***");
    }
}
