//! Which addresses a client may call.

use std::net::SocketAddr;

use recado_core::gateway::GatewayDestinations;
use recado_core::transport::{Host, is_special};

/// The addresses that a client may call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Ordinary public ones (D54): for addresses that customers set.
    #[default]
    Public,
    /// Those of gateways (R230).
    Gateways(GatewayDestinations),
    /// All, private and other special ones too: for development only.
    Everything,
}

impl Reach {
    /// Whether a call to `host` may be made to this address of it.
    pub(crate) fn permits(&self, host: &Host, address: SocketAddr) -> bool {
        match self {
            Self::Public => !is_special(address.ip()),
            Self::Gateways(destinations) => destinations.permits(host, address),
            Self::Everything => true,
        }
    }
}
