//! Notifications between the processes on one store.

use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::task::{Poll, Waker};

use async_trait::async_trait;
use recado_core::deliveries::{QueueKey, Signals};

use super::MemoryStore;

/// The notifications that each process has not received yet.
#[derive(Debug, Default)]
pub(super) struct MemorySignals {
    others: u32,
    heard: BTreeMap<u32, PendingNotifications>,
}

#[derive(Debug, Default)]
struct PendingNotifications {
    is_notified: bool,
    queues: BTreeSet<QueueKey>,
    wakers: Vec<Waker>,
}

impl MemorySignals {
    /// The number of a new process.
    pub(super) fn another_process(&mut self) -> u32 {
        self.others += 1;
        self.others
    }

    fn notify(&mut self, from: u32, queues: &[QueueKey]) {
        for process in (0..=self.others).filter(|process| *process != from) {
            let notices = self.heard.entry(process).or_default();
            notices.is_notified = true;
            notices.queues.extend(queues);
            notices.wakers.drain(..).for_each(Waker::wake);
        }
    }
}

#[async_trait]
impl Signals for MemoryStore {
    fn notify(&self, queues: &[QueueKey]) {
        self.state().notifier.notify(self.process, queues);
    }

    async fn notified(&self) -> Option<Vec<QueueKey>> {
        poll_fn(|context| {
            let mut state = self.state();
            let notices = state.notifier.heard.entry(self.process).or_default();
            if !std::mem::take(&mut notices.is_notified) {
                notices.wakers.push(context.waker().clone());
                return Poll::Pending;
            }
            let queues = std::mem::take(&mut notices.queues);
            // A notification without queues means that all queues are to be polled.
            Poll::Ready((!queues.is_empty()).then(|| queues.into_iter().collect()))
        })
        .await
    }
}
