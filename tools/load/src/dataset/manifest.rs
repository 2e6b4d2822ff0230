//! The data that identifies a dataset.

use std::path::Path;

use recado_core::ids::{CompanyId, ConnectionId};
use serde::{Deserialize, Serialize};

/// A dataset, for the commands that measure with it. It has the key of a company that is only used
/// for measurements.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) database: String,
    pub(crate) company: CompanyId,
    pub(crate) key: String,
    pub(crate) contacts: u64,
    /// The messages, if there are any.
    #[serde(default)]
    pub(crate) messaging: Option<Messaging>,
}

/// The messages of a dataset and its connections.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Messaging {
    /// How many messages there are. Half of them are outbound and wait for reports.
    pub(crate) messages: u64,
    /// The connection without reports. It has the messages.
    pub(crate) silent: ConnectionId,
    /// The connection with reports.
    pub(crate) reporting: ConnectionId,
    /// The connection on the official API.
    pub(crate) official: ConnectionId,
    /// How many messages are on the official connection. Half of them are outbound and wait for
    /// reports.
    pub(crate) official_messages: u64,
}

impl Manifest {
    /// Reads a file that [`Manifest::write`] wrote.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub(crate) fn read(path: &Path) -> std::io::Result<Self> {
        Ok(serde_json::from_slice(&std::fs::read(path)?)?)
    }

    /// Writes it to a file.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub(crate) fn write(&self, path: &Path) -> std::io::Result<()> {
        std::fs::write(path, self.to_json())
    }

    /// One line of JSON.
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).expect("texts and numbers are JSON")
    }
}
