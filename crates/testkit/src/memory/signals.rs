//! Words between the processes on one store.

use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::task::{Poll, Waker};

use async_trait::async_trait;
use recado_core::deliveries::{Lane, Signals};

use super::MemoryStore;

/// What each process has not heard yet.
#[derive(Debug, Default)]
pub(super) struct Bells {
    others: u32,
    heard: BTreeMap<u32, Bell>,
}

#[derive(Debug, Default)]
struct Bell {
    is_rung: bool,
    lanes: BTreeSet<Lane>,
    wakers: Vec<Waker>,
}

impl Bells {
    /// The number of a process beside those that there are.
    pub(super) fn another_process(&mut self) -> u32 {
        self.others += 1;
        self.others
    }

    fn ring(&mut self, from: u32, lanes: &[Lane]) {
        for process in (0..=self.others).filter(|process| *process != from) {
            let bell = self.heard.entry(process).or_default();
            bell.is_rung = true;
            bell.lanes.extend(lanes);
            bell.wakers.drain(..).for_each(Waker::wake);
        }
    }
}

#[async_trait]
impl Signals for MemoryStore {
    fn ring(&self, lanes: &[Lane]) {
        self.state().bells.ring(self.process, lanes);
    }

    async fn rung(&self) -> Option<Vec<Lane>> {
        poll_fn(|context| {
            let mut state = self.state();
            let bell = state.bells.heard.entry(self.process).or_default();
            if !std::mem::take(&mut bell.is_rung) {
                bell.wakers.push(context.waker().clone());
                return Poll::Pending;
            }
            let lanes = std::mem::take(&mut bell.lanes);
            // A ring for nothing in particular asks to look.
            Poll::Ready((!lanes.is_empty()).then(|| lanes.into_iter().collect()))
        })
        .await
    }
}
