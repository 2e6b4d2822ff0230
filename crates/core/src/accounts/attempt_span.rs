//! What attempts to sign in are counted by (R398).

use crate::keyed_hash::keyed_hash;

keyed_hash! {
    /// The hash of an address that somebody tries to sign in with, whether a login has it or not.
    LoginEmailHash of "login email"
}

/// Over which time the wrong attempts of one address are counted. After five in a quarter of an
/// hour each further one waits three minutes; after twenty in four hours, twelve (R398).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AttemptSpan {
    /// Fifteen minutes.
    Quarter,
    /// Four hours.
    Hours,
}

impl AttemptSpan {
    pub(super) const ALL: [Self; 2] = [Self::Quarter, Self::Hours];

    /// A word for it, in the key of the limit.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Quarter => "quarter",
            Self::Hours => "hours",
        }
    }
}
