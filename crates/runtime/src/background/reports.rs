//! Passing the simulated gateway's reports to the core, as a real gateway would by its webhook.

use std::time::Duration;

use futures_util::future::join_all;
use recado_core::inbox::InboxError;
use recado_core::{Error, Recado};
use recado_providers::simulated::{ReportBatch, Reports};
use tokio::sync::watch;

use super::loops::backoff;
use crate::causes::causes;

/// How often a batch is tried.
const ATTEMPTS: u32 = 5;
/// The wait before the first repetition.
const PAUSE: Duration = Duration::from_millis(100);

/// Passes on reports until the stop.
pub(super) async fn run(recado: Recado, mut reports: Reports, mut stop: watch::Receiver<bool>) {
    while !*stop.borrow() {
        tokio::select! {
            _ = stop.changed() => {}
            batches = reports.next() => match batches {
                Some(batches) => {
                    join_all(batches.into_iter().map(|batch| hand_on(&recado, batch))).await;
                }
                None => return,
            },
        }
    }
}

/// Passes on one batch; repeats it while the store fails, as gateways repeat their calls.
async fn hand_on(recado: &Recado, batch: ReportBatch) {
    let count = batch.events.len();
    for attempt in 1..=ATTEMPTS {
        let events = batch.events.clone();
        let error = match recado.inbox().receive(batch.company, batch.connection, events).await {
            Ok(_) => return,
            // The connection was deleted, so its reports are not needed.
            Err(Error::Rejected(InboxError::NotFound) | Error::Denied(_)) => return,
            Err(error) => error,
        };
        tracing::warn!(attempt, count, error = causes(&error), "reports were not taken");
        if attempt < ATTEMPTS {
            tokio::time::sleep(backoff(PAUSE, attempt)).await;
        }
    }
}
