//! A second factor that is being set up (R400).

use crate::secret::SecretText;

/// A second factor that is being set up, shown this once.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NewTotp {
    /// The secret, as people type it.
    pub secret: SecretText,
    /// The `otpauth` address, for a QR code.
    pub url: SecretText,
}
