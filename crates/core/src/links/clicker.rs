//! The client of a visit, without its address (R205).

use std::fmt;

use hmac::Mac;

use crate::access::ClientNet;
use crate::contacts::CursorKey;
use crate::ids::CompanyId;
use crate::secret::masked;

/// A client that follows the links of a company. It is a keyed hash of the client's address, as
/// limits may be kept in a database, where the addresses of people who click do not belong (R205).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Clicker([u8; 16]);

impl Clicker {
    /// The client with this address, under the installation's key.
    pub(crate) fn of(key: &CursorKey, company: CompanyId, client: ClientNet) -> Self {
        let mac = key.mac_of(b"recado client of a link", company, client.to_string().as_bytes());
        let mut hash = [0; 16];
        hash.copy_from_slice(&mac.finalize().into_bytes()[..16]);
        Self(hash)
    }

    /// As text, for the key of a limit.
    pub(crate) fn as_text(self) -> String {
        uuid::Uuid::from_bytes(self.0).simple().to_string()
    }
}

impl fmt::Debug for Clicker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        masked(f, "Clicker", "***", &self.as_text())
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use uuid::Uuid;

    use super::*;
    use crate::access::RateKey;
    use crate::secret::SecretBytes;

    fn clicker(key: u8, company: u128, address: &str) -> Clicker {
        let address: IpAddr = address.parse().expect("an address");
        let company = CompanyId::new(Uuid::from_u128(company));
        Clicker::of(&CursorKey::new(SecretBytes::new([key; 32])), company, ClientNet::of(address))
    }

    /// R205.
    #[test]
    fn a_client_is_the_same_in_every_process_and_nobody_can_tell_its_address() {
        let client = clicker(1, 1, "203.0.113.7");
        assert_eq!(client, clicker(1, 1, "203.0.113.7"));
        for other in [
            clicker(2, 1, "203.0.113.7"),
            clicker(1, 2, "203.0.113.7"),
            clicker(1, 1, "203.0.113.8"),
        ] {
            assert_ne!(client, other);
        }
        let shown = [client.as_text(), format!("{client:?}"), RateKey::Clicker(client).to_string()];
        assert!(shown.iter().all(|text| !text.contains("203")), "{shown:?}");
    }
}
