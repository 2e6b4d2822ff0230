//! Connections: the numbers of a company through which messages come and go (1, D35, D61).

mod check;
mod connection;
mod draft;
mod handle;
mod manage;
mod missed;
mod pairing;
mod reads;
mod settings;
mod unknown;
mod upkeep;
mod view;

pub(crate) use check::check_connection_job;
pub use check::{CHECK_AGAIN, CHECK_AGAIN_DISCONNECTED, CHECK_AGAIN_UNANSWERED};
pub use connection::{Connection, ConnectionKind, ConnectionStatus, Gateway};
pub use draft::{ConnectionChange, ConnectionDraft, ConnectionPatch, NewConnection};
pub use handle::Connections;
pub use missed::PULL_AGAIN;
pub(crate) use missed::pull_missed_job;
pub use pairing::PairingError;
pub use reads::ConnectionReads;
pub use settings::{ConnectionSettings, GatewayField, SettingKind};
pub use unknown::UnknownKindView;
pub use view::ConnectionView;
