//! What a copy of an installation does before it may serve (D75, D36).

use std::convert::Infallible;

use super::{HaltKind, Halts};
use crate::Timestamp;
use crate::deliveries::Shard;
use crate::store::{ChangeSet, Decided, RecordsExt, StoreError};
use crate::workers::Worker;

/// How many messages that were under way are looked at in one go.
const SWEEP: u32 = 100;

/// What [`Halts::hold_copy`] has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyHeld {
    /// The campaigns that ran or were scheduled and are paused.
    pub campaigns_paused: u64,
    /// The messages that were under way and are uncertain.
    pub sends_uncertain: u64,
}

impl Halts<'_> {
    /// Makes this installation, which is the copy of another one, one that writes to nobody by
    /// itself: it is held (D75), its running and scheduled campaigns are paused, and what was being
    /// sent when it was copied is uncertain (D36). Call it before any process serves the copy.
    ///
    /// # Errors
    ///
    /// When the store fails; call it again.
    pub async fn hold_copy(&self, reason: &str) -> Result<CopyHeld, StoreError> {
        self.hold(Some(reason)).await?;
        self.leave_processes_behind().await?;
        let mut held = CopyHeld::default();
        let shards = self.app.store().shards().await?.all().collect();
        for campaign in self.app.store().active_campaigns(&shards, Timestamp::MAX).await? {
            let paused = self.app.campaigns().pause(campaign.company, campaign.id).await;
            held.campaigns_paused += u64::from(paused.is_ok());
        }
        loop {
            let now = self.app.now();
            let found = self.app.store().abandoned_messages(now, SWEEP).await?.len() as u64;
            self.app.sending().recover().await?;
            held.sends_uncertain += found;
            if found < u64::from(SWEEP) {
                return Ok(held);
            }
        }
    }

    /// Forgets the processes of the installation that this one is a copy of: none of them works
    /// here. So does what they had closed for a move.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn leave_processes_behind(&self) -> Result<(), StoreError> {
        self.end(|halt| halt.subject.kind() == HaltKind::Writing && !halt.is_final()).await?;
        let left = self.app.decide::<_, Infallible, _>(|_| async move {
            let (mut changes, store) = (ChangeSet::new(), self.app.store());
            for worker in store.all_stored::<Worker>(()).await? {
                changes = changes.with(worker.delete());
            }
            for shard in store.all_stored::<Shard>(()).await? {
                if shard.owner.is_some() {
                    let free = Shard { owner: None, ..*shard.value() };
                    changes = changes.with(shard.update(free));
                }
            }
            Ok(Decided::new(changes, ()))
        });
        Ok(left.await?)
    }
}
