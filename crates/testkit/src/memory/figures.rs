//! Figures of the whole installation.

use std::collections::BTreeMap;

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::campaigns::{Campaign, CampaignStatus};
use recado_core::connections::Connection;
use recado_core::deliveries::{Delivery, QueueKey};
use recado_core::events::JournalPosition;
use recado_core::figures::{ConnectionFigures, DueFigures, FigureQuery, FigureReads, Figures};
use recado_core::jobs::Job;
use recado_core::messages::Message;
use recado_core::store::{RowKey, StoreError};
use recado_core::webhooks::{Webhook, WebhookState};

use super::{MemoryStore, State};

impl State {
    fn connection_figures(&self) -> Vec<ConnectionFigures> {
        let mut all: BTreeMap<_, ConnectionFigures> = BTreeMap::new();
        for connection in self.rows.all::<Connection>() {
            let Connection { gateway, kind, is_active, status, updated_at, .. } = connection;
            let heard_at = connection.last_heard_at.unwrap_or(*updated_at);
            let key = (gateway.as_str(), kind.as_str(), *is_active, status.as_str());
            let figures = all.entry(key).or_insert_with(|| ConnectionFigures {
                gateway: gateway.clone(),
                kind: *kind,
                is_active: *is_active,
                status: *status,
                count: 0,
                changed_at: *updated_at,
                heard_at,
            });
            figures.count += 1;
            figures.changed_at = figures.changed_at.min(*updated_at);
            figures.heard_at = figures.heard_at.min(heard_at);
        }
        all.into_values().collect()
    }

    /// The queues of active webhooks that have pending deliveries.
    fn active_queues(&self) -> Vec<QueueKey> {
        let pending = self.rows.all::<Delivery>().filter(|known| known.queued_at().is_some());
        let of = |known: &Delivery| QueueKey { company: known.company, webhook: known.webhook };
        let mut keys: Vec<QueueKey> = pending.map(of).collect();
        keys.sort_unstable();
        keys.dedup();
        keys.retain(|key| {
            let row = RowKey::Webhook { company: key.company, id: key.webhook };
            let webhook = self.rows.get::<Webhook>(&row);
            webhook.is_some_and(|webhook| webhook.state == WebhookState::Active)
        });
        keys
    }

    fn delivery_figures(&self, now: Timestamp, most: u32) -> DueFigures {
        let queues = self.active_queues().into_iter().map(|key| self.queue(key));
        let queues: Vec<Vec<_>> = queues.collect();
        let heads = queues.iter().flat_map(|queue| {
            let fresh = queue.iter().find(|(.., delivery)| delivery.is_fresh());
            let tried = queue.iter().find(|(.., delivery)| !delivery.is_fresh());
            [fresh, tried].into_iter().flatten().filter_map(|(.., delivery)| delivery.due_at)
        });
        let counted = || queues.iter().flatten().take(most as usize);
        DueFigures {
            pending: counted().count() as u64,
            due: counted().filter(|(queued_at, ..)| *queued_at <= now).count() as u64,
            oldest: heads.filter(|due_at| *due_at <= now).min(),
        }
    }

    fn job_figures(&self, now: Timestamp, most: u32) -> DueFigures {
        let claimable = self.rows.all::<Job>().filter(|job| job.is_claimable(now));
        let mut due: Vec<Timestamp> = claimable.map(|job| job.due_at).collect();
        due.sort_unstable();
        due.truncate(most as usize);
        let count = due.len() as u64;
        DueFigures { pending: count, due: count, oldest: due.first().copied() }
    }
}

#[async_trait]
impl FigureReads for MemoryStore {
    async fn figures(&self, query: &FigureQuery) -> Result<Figures, StoreError> {
        let state = self.state();
        let (from, to) = query.left_sent;
        let is_running = |campaign: &&Campaign| campaign.status == CampaignStatus::Running;
        let is_left = |message: &&Message| {
            (from..=to).contains(&message.created_at) && state.is_left_sent(message)
        };
        Ok(Figures {
            connections: state.connection_figures(),
            deliveries: state.delivery_figures(query.now, query.most),
            jobs: state.job_figures(query.now, query.most),
            campaigns: state.rows.all::<Campaign>().filter(is_running).count() as u64,
            left_sent: state.rows.all::<Message>().filter(is_left).count() as u64,
            journal: JournalPosition(state.newest_event),
        })
    }
}
