//! Pairing a phone with a QR connection.

use std::time::Duration;

use super::{ConnectionStatus, Connections};
use crate::audit::RecordRef;
use crate::code::Code;
use crate::connections::Connection;
use crate::error::{Error, NotFound, Rejection};
use crate::gateway::{Pairing, PairingCode, ProviderError};
use crate::ids::{CompanyId, ConnectionId};
use crate::store::{RecordsExt, StoreError};

/// How soon a gateway that is preparing a code may have one.
const PREPARED: Duration = Duration::from_secs(2);

/// Why there is no pairing code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PairingError {
    /// The company has no such connection.
    #[error("no such connection")]
    NotFound,
    /// Its gateway pairs no phones.
    #[error("the connection's gateway pairs no phones")]
    Unsupported,
    /// A phone is paired; unpair it at the gateway or on the phone first.
    #[error("a phone is paired with the connection already")]
    AlreadyPaired,
    /// The gateway is preparing a code; request it again after the wait.
    #[error("the gateway is getting a code ready")]
    Preparing,
    /// The gateway refused or failed. Try again, or correct the settings.
    #[error("the gateway gave no code: {0}")]
    Provider(String),
}

impl Rejection for PairingError {
    fn code(&self) -> Code {
        match self {
            Self::NotFound => Code::NotFound,
            Self::Unsupported => Code::ValidationError,
            Self::AlreadyPaired => Code::AlreadyPaired,
            Self::Preparing => Code::Unavailable,
            Self::Provider(_) => Code::ProviderError,
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        matches!(self, Self::Preparing).then_some(PREPARED)
    }
}

impl Connections<'_> {
    /// The code that a phone has to scan to be paired with a connection; it is replaced every few
    /// seconds. Starts the gateway's session if it is not running. An answer that a phone is paired
    /// is recorded as the connection's state.
    ///
    /// # Errors
    ///
    /// [`PairingError`].
    pub async fn pairing_code(
        &self,
        company: CompanyId,
        id: ConnectionId,
    ) -> Result<PairingCode, Error<PairingError>> {
        let app = self.app.clone();
        // The answer that a phone is paired is recorded even if the caller no longer waits.
        let asked =
            self.app.tasks().run(async move { app.connections().ask_code(company, id).await });
        asked.await.unwrap_or_else(|cut_off| Err(Error::Store(StoreError::unavailable(cut_off))))
    }

    async fn ask_code(
        &self,
        company: CompanyId,
        id: ConnectionId,
    ) -> Result<PairingCode, Error<PairingError>> {
        let connection = self.app.store().get::<Connection>((company, id)).await?;
        let connection = connection.ok_or(Error::Rejected(PairingError::NotFound))?;
        let reported = match self.app.provider(&connection.gateway) {
            Some(provider) => provider.pairing(self.app.gateway_transport(), &connection).await,
            None => Err(ProviderError::Unsupported),
        };
        match reported {
            Ok(Pairing::Code(code)) => {
                // R386.
                let record = RecordRef::new("connection", id);
                self.app.audit().note_read(company, [record]).await?;
                Ok(code)
            }
            Ok(Pairing::Preparing) => Err(Error::Rejected(PairingError::Preparing)),
            Ok(Pairing::Paired) => {
                let recorded = self.set_status(company, id, ConnectionStatus::Connected).await;
                recorded.map_err(|error| error.map(|NotFound| PairingError::NotFound))?;
                Err(Error::Rejected(PairingError::AlreadyPaired))
            }
            Err(ProviderError::Unsupported) => Err(Error::Rejected(PairingError::Unsupported)),
            Err(ProviderError::Failed(reason)) => {
                let reason = self.app.masked(&connection, &reason);
                Err(Error::Rejected(PairingError::Provider(reason)))
            }
        }
    }
}
