//! The id that a provider gave a message (D31).

use std::fmt::{self, Write};

use sha2::{Digest, Sha256};

use crate::ids::ConnectionId;

/// Who reacts, or votes, where it is the company itself (X6, X7).
pub(crate) const OWN: &str = "own";

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
        Self(format!("\t{}", hexadecimal(hash)))
    }

    /// The id under which the one reaction, or vote, of a person on the message of this id is found
    /// (X6, X7): a tab, the word, and a SHA-256 in hexadecimal digits. A provider's id never has
    /// this form. `person` tells persons of one chat apart.
    #[must_use]
    pub(crate) fn standing(&self, connection: ConnectionId, word: &str, person: &str) -> Self {
        let hash = Sha256::new().chain_update(connection.to_string()).chain_update(&self.0);
        let hash = hash.chain_update("\t").chain_update(person);
        Self(format!("\t{word}{}", hexadecimal(hash)))
    }
}

impl ProviderMessageId {
    /// The id under which the company's own reaction to the message of this id is found (X7).
    #[must_use]
    pub(crate) fn own_reaction(&self, connection: ConnectionId) -> Self {
        self.standing(connection, "reaction", OWN)
    }
}

fn hexadecimal(hash: Sha256) -> String {
    let mut digits = String::with_capacity(64);
    for byte in hash.finalize() {
        // Writing into a string cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

impl fmt::Debug for ProviderMessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
