//! What a connection's gateway sent and Recado did not understand, for the operator (X9).

use serde::Serialize;
use serde_json::Value;

use super::{Connection, Connections};
use crate::Timestamp;
use crate::error::{Error, NotFound};
use crate::gateway::{KeptQuery, LISTED_EVENTS, UnknownEvent, UnknownReason};
use crate::ids::{CompanyId, ConnectionId, UnknownEventId};
use crate::store::{RecordsExt, StoreError};

/// An event that was not understood, as it came (X9).
#[derive(Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct UnknownEventView {
    /// Its id.
    pub id: UnknownEventId,
    /// What the gateway calls it; of one that could not be read, why.
    pub kind: String,
    /// Why it was not understood.
    pub reason: UnknownReason,
    /// When it came.
    pub received_at: Timestamp,
    /// The provider's id of the message that it is about; null if that is not known.
    pub provider_message_id: Option<String>,
    /// What was received, as the gateway wrote it; a string if it is not JSON, or was cut.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub body: Value,
}

impl std::fmt::Debug for UnknownEventView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { id, kind, reason, .. } = self;
        write!(f, "UnknownEventView({id}, {kind:?}, {})", reason.as_str())
    }
}

impl From<&UnknownEvent> for UnknownEventView {
    fn from(event: &UnknownEvent) -> Self {
        Self {
            id: event.id,
            kind: event.kind.clone(),
            reason: event.reason,
            received_at: event.received_at,
            provider_message_id: event.provider_id.as_ref().map(|id| id.as_str().to_owned()),
            body: event.body.json().unwrap_or_else(|| Value::from(event.body.expose())),
        }
    }
}

impl Connections<'_> {
    /// What a connection's gateway sent and Recado did not understand, the newest first; at most
    /// 200 (X9).
    ///
    /// # Errors
    ///
    /// [`NotFound`] when the company has no such connection.
    pub async fn unknown_events(
        &self,
        company: CompanyId,
        id: ConnectionId,
    ) -> Result<Vec<UnknownEventView>, Error<NotFound>> {
        if self.app.store().get::<Connection>((company, id)).await?.is_none() {
            return Err(Error::Rejected(NotFound));
        }
        let query = KeptQuery::newest(id, LISTED_EVENTS);
        let kept = self.app.store().unknown_events(company, &query).await?;
        Ok(kept.events.iter().map(|event| UnknownEventView::from(event.value())).collect())
    }

    /// How many events of a connection are kept because they were not understood.
    pub(super) async fn not_understood(
        &self,
        company: CompanyId,
        id: ConnectionId,
    ) -> Result<u64, StoreError> {
        let query = KeptQuery::newest(id, 0);
        Ok(self.app.store().unknown_events(company, &query).await?.total)
    }
}
