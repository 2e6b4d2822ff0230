//! Counts of what happened in all runs, so that the tests can check that every kind of failure
//! occurred.

use std::collections::BTreeMap;

use recado_core::gateway::MessageKind;

use crate::kinds;

/// Counts over runs.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub runs: u64,
    /// Requests that send, and those of them that were accepted.
    pub requests: u64,
    pub accepted: u64,
    /// Accepted messages, by the name of their gateway and by their kind.
    pub kinds: BTreeMap<(&'static str, MessageKind), u64>,
    /// Messages that are no texts, and those with a file that were sent.
    pub other_kinds: u64,
    pub files: u64,
    /// Calls that sent a file: an upload, one from an address, one that came with the call.
    pub uploaded: u64,
    pub fetched: u64,
    pub received: u64,
    /// Messages by their final status.
    pub sent: u64,
    pub failed: u64,
    pub uncertain: u64,
    /// Messages that were accepted and are still uncertain in the end.
    pub unproved: u64,
    /// Messages that were uncertain and proved later.
    pub proved: u64,
    /// Processes that died, and sends under way in them.
    pub died: u64,
    pub cut_off: u64,
    /// Repeats that got the remembered answer, and those that were refused.
    pub replayed: u64,
    pub held_off: u64,
    /// Webhooks that were accepted.
    pub webhooks: u64,
    /// Requests that arrived after their sender had stopped waiting.
    pub late: u64,
    /// Sends that were not stored, and so not made.
    pub not_stored: u64,
}

impl Tally {
    pub fn add(&mut self, other: &Self) {
        let pairs = [
            (&mut self.runs, other.runs),
            (&mut self.requests, other.requests),
            (&mut self.accepted, other.accepted),
            (&mut self.other_kinds, other.other_kinds),
            (&mut self.files, other.files),
            (&mut self.uploaded, other.uploaded),
            (&mut self.fetched, other.fetched),
            (&mut self.received, other.received),
            (&mut self.sent, other.sent),
            (&mut self.failed, other.failed),
            (&mut self.uncertain, other.uncertain),
            (&mut self.unproved, other.unproved),
            (&mut self.proved, other.proved),
            (&mut self.died, other.died),
            (&mut self.cut_off, other.cut_off),
            (&mut self.replayed, other.replayed),
            (&mut self.held_off, other.held_off),
            (&mut self.webhooks, other.webhooks),
            (&mut self.late, other.late),
            (&mut self.not_stored, other.not_stored),
        ];
        for (sum, count) in pairs {
            *sum += count;
        }
        for (kind, count) in &other.kinds {
            *self.kinds.entry(*kind).or_default() += count;
        }
    }

    /// Asserts that every kind of failure has occurred often.
    pub fn assert_enough(&self) {
        let counts = [
            ("other_kinds", self.other_kinds),
            ("files", self.files),
            ("uploaded", self.uploaded),
            ("fetched", self.fetched),
            ("received", self.received),
            ("sent", self.sent),
            ("failed", self.failed),
            ("uncertain", self.uncertain),
            ("unproved", self.unproved),
            ("proved", self.proved),
            ("died", self.died),
            ("cut_off", self.cut_off),
            ("replayed", self.replayed),
            ("held_off", self.held_off),
            ("webhooks", self.webhooks),
            ("late", self.late),
            ("not_stored", self.not_stored),
        ];
        for (name, count) in counts {
            assert!(count > self.runs / 50, "{name}: {count} in {} runs", self.runs);
        }
        let carried: [(&str, &[MessageKind]); 3] = [
            ("cloud_api", &kinds::OFFICIAL),
            ("waha", &kinds::WAHA),
            ("evolution", &kinds::EVOLUTION),
        ];
        for (gateway, kinds) in carried {
            for kind in kinds {
                let count = self.kinds.get(&(gateway, *kind)).copied().unwrap_or_default();
                assert!(count > self.runs / 200, "{gateway} {kind}: {count} in {} runs", self.runs);
            }
        }
    }
}
