//! Listings from a hot standby (R462).

use std::time::Duration;

use async_trait::async_trait;
use recado_core::store::StoreError;
use recado_core::{Replica, Timestamp};

use crate::conninfo::{ConnectionParameters, SessionAttrs};
use crate::pool::{Options, PostgresStore};
use crate::session::rows;

/// The time of the last commit that was replayed, in milliseconds; null at a primary.
const REPLAYED: &str = "SELECT CASE WHEN pg_is_in_recovery() THEN \
    floor(extract(epoch FROM pg_last_xact_replay_timestamp()) * 1000)::bigint END";
/// Commits note their time just before they are written, so that one may be replayed after another
/// one that is this much later.
const OUT_OF_ORDER: Duration = Duration::from_millis(100);

/// How long a read waits for a connection at most.
const PATIENCE: Duration = Duration::from_secs(1);

impl PostgresStore {
    /// The store of a hot standby, for listings. It connects when it is read; of several hosts, to
    /// the first standby that answers, whatever `target_session_attrs` and `load_balance_hosts`
    /// say. All connections lead to one standby, so that reads see at least what it said to show.
    /// Reads fail as soon as it was looked for in vain: the database answers them instead.
    ///
    /// R462.
    ///
    /// # Errors
    ///
    /// [`StoreError::Corrupt`] for certificates that cannot be used.
    pub fn of_standby(
        parameters: ConnectionParameters,
        mut options: Options,
    ) -> Result<Self, StoreError> {
        let mut target = parameters.0;
        target.balance = false;
        target.session = SessionAttrs::Standby;
        options.wait_timeout = options.wait_timeout.min(PATIENCE);
        Self::unconnected(ConnectionParameters(target), options, Duration::ZERO)
    }
}

#[async_trait]
impl Replica for PostgresStore {
    async fn shows_until(&self) -> Result<Option<Timestamp>, StoreError> {
        let rows = rows(&self.pool, REPLAYED, Vec::new()).await?;
        let replayed = rows.first().and_then(|row| row.get::<_, Option<i64>>(0));
        Ok(replayed.map(|at| Timestamp::from_millis(at).minus(OUT_OF_ORDER)))
    }
}
