//! Connections: the numbers of a company through which messages are received and sent (1, D35,
//! D61).

mod check;
mod connection;
mod description;
mod draft;
mod gateway_name;
mod gateways;
mod handle;
mod heard;
mod last_heard;
mod manage;
mod missed;
mod pairing;
mod reads;
#[cfg(test)]
pub(crate) mod samples;
mod settings;
mod status_history;
mod statuses;
mod unknown_events;
mod upkeep;
mod view;

pub(crate) use check::check_connection_job;
pub use check::{CHECK_AGAIN, CHECK_AGAIN_DISCONNECTED, CHECK_AGAIN_UNANSWERED};
pub use connection::{Connection, ConnectionKind, ConnectionStatus};
pub use description::{Capability, GatewayDescription, Setting, SettingForm, SharedWebhook};
pub use draft::{ConnectionChange, ConnectionDraft, ConnectionPatch, NewConnection};
pub use gateway_name::GatewayName;
pub use gateways::{GatewayView, SettingView};
pub use handle::Connections;
pub use last_heard::HEARD_AGAIN;
pub(crate) use last_heard::LastHeard;
pub use missed::PULL_AGAIN;
pub(crate) use missed::pull_missed_job;
pub use pairing::PairingError;
pub use reads::ConnectionReads;
pub use settings::ConnectionSettings;
pub use status_history::{STATUS_SHOWN, StatusHistory, StatusSince};
pub use unknown_events::UnknownEventView;
pub use view::{ConnectionView, ShownStatus};
