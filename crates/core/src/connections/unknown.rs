//! Events of a connection's gateway that its adapter did not recognize, for the operator.

use crate::connections::Connection;
use crate::store::RecordsExt;
use serde::Serialize;
use serde_json::Value;

use super::Connections;
use crate::Timestamp;
use crate::error::{Error, NotFound};
use crate::gateway::UnknownKind;
use crate::ids::{CompanyId, ConnectionId};

/// A kind of event that the adapter does not recognize.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct UnknownKindView {
    /// What the gateway calls it.
    pub kind: String,
    /// The shape of the newest one: its field names, with letters and digits of the values masked.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub shape: Value,
    /// How many came.
    pub seen: u64,
    /// When the first one came.
    pub first_at: Timestamp,
    /// When the newest one came.
    pub last_at: Timestamp,
}

impl From<&UnknownKind> for UnknownKindView {
    fn from(known: &UnknownKind) -> Self {
        Self {
            kind: known.kind.clone(),
            shape: known.shape.clone(),
            seen: known.seen,
            first_at: known.first_at,
            last_at: known.last_at,
        }
    }
}

impl Connections<'_> {
    /// The kinds of events that a connection's gateway sent and its adapter did not recognize, the
    /// newest first; at most 200.
    ///
    /// # Errors
    ///
    /// [`NotFound`] when the company has no such connection.
    pub async fn unknown_kinds(
        &self,
        company: CompanyId,
        id: ConnectionId,
    ) -> Result<Vec<UnknownKindView>, Error<NotFound>> {
        if self.app.store().get::<Connection>((company, id)).await?.is_none() {
            return Err(Error::Rejected(NotFound));
        }
        let kinds = self.app.store().unknown_kinds(company, id).await?;
        Ok(kinds.iter().map(|kind| UnknownKindView::from(&**kind)).collect())
    }
}
