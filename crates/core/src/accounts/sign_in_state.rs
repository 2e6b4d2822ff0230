//! What a sign-in at the provider is told apart by (R432).

use crate::keyed_hash::keyed_hash;

keyed_hash! {
    /// The state of a sign-in at the provider: made of what the browser keeps.
    SignInStateHash of "sign-in state"
}
