//! The id that a provider gave a message (D31).

use std::fmt::{self, Write};

use sha2::{Digest, Sha256};

use crate::ids::ConnectionId;

/// A message's id as its provider writes it (`wamid`), unique per connection.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProviderMessageId(String);

impl ProviderMessageId {
    /// Reads 1 to 512 bytes without control characters; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let fits = (1..=512).contains(&text.len()) && !text.chars().any(char::is_control);
        fits.then(|| Self(text.to_owned()))
    }

    /// Takes a stored id back.
    pub const fn from_stored(id: String) -> Self {
        Self(id)
    }

    /// The id itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The value that replaces the id when its message is deleted with its contact (R145): a tab
    /// and 64 hexadecimal digits, the SHA-256 of the connection's id and this one. Some providers
    /// write a person's number into their ids, so the id itself must not be kept. The random part
    /// of an id prevents that it is guessed from the trace. A provider's id never has this form, as
    /// it has no control characters.
    #[must_use]
    pub fn trace(&self, connection: ConnectionId) -> Self {
        let hash = Sha256::new().chain_update(connection.to_string()).chain_update(&self.0);
        let mut trace = String::with_capacity(65);
        trace.push('\t');
        for byte in hash.finalize() {
            // Writing into a string cannot fail.
            let _ = write!(trace, "{byte:02x}");
        }
        Self(trace)
    }
}

impl fmt::Debug for ProviderMessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
