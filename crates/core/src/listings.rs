//! Listings read from a standby of the database (R462).

use std::pin::Pin;

use crate::clock::Timestamp;
use crate::standby::{ListingsAsOf, StandbyFigures};
use crate::store::{Reads, StoreError};
use crate::{Installation, Recado};

/// A read of a store.
type Reading<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

impl Installation {
    /// What is known of the standby; `None` without one.
    pub fn standby(&self) -> Option<StandbyFigures> {
        self.known_standby().figures()
    }

    /// Asks the standby how far it is, if that is due: beside the caller, who must not wait for it.
    pub(crate) fn follow_standby(&self) {
        let Some(standby) = self.known_standby().standby() else { return };
        if !self.known_standby().begin_asking(self.now()) {
            return;
        }
        let installation = self.clone();
        let asking = async move {
            let until = standby.replica.shows_until().await;
            installation.known_standby().told(until.unwrap_or_default());
        };
        drop(self.spawner().spawn(Box::pin(asking)));
    }
}

impl Recado {
    /// The same, whose listings may be read from the standby of the database, if it has one that is
    /// near enough: pages of contacts, of messages, of deliveries, of recipients of campaigns, of
    /// the ledger and of the audit log. They may lack what was written just before. No use case
    /// decides anything by them, and all other reads are of the database itself: exports of
    /// contacts, too, which neither skip nor repeat (D25).
    ///
    /// R462.
    #[must_use]
    pub fn with_stale_listings(mut self) -> Self {
        self.listings_as_of = Some(ListingsAsOf::default());
        self
    }

    /// Of what time the oldest state is that listings of this handle, and of its clones, have
    /// shown: what was committed before it was seen. `None` while all were read from the database
    /// itself.
    ///
    /// R462.
    pub fn listings_as_of(&self) -> Option<Timestamp> {
        self.listings_as_of.as_ref()?.oldest()
    }

    /// Reads what a listing shows, and nothing that a decision rests on: from the standby where the
    /// handle allows it and the standby is near enough, else from the database. What the standby
    /// fails to answer is read from the database, and so is everything until it answers again.
    ///
    /// R462.
    pub(crate) async fn listing<'a, T>(
        &'a self,
        read: impl Fn(&'a dyn Reads) -> Reading<'a, T> + Send + Sync,
    ) -> Result<T, StoreError> {
        if let Some(as_of) = &self.listings_as_of {
            self.follow_standby();
            let known = self.known_standby();
            if let Some((replica, state)) = known.near(self.now()) {
                let found = read(replica).await;
                known.answered(found.is_ok());
                if found.is_ok() {
                    as_of.shown(state);
                    return found;
                }
            }
        }
        read(self.store()).await
    }
}
