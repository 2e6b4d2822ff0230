//! What the alerts of docs/alerts.md need to know, as metrics (R281).

mod certificates;
mod der;
mod disk;
mod figures;
mod sends;
mod standby;
mod store;
mod store_use;

pub(crate) use certificates::Certificates;
pub(crate) use disk::Volumes;
pub(crate) use figures::Watch;
pub(crate) use sends::counted;
pub(crate) use store::TimedStore;
pub(crate) use store_use::StoreUse;

/// Registers descriptions of the metrics that the alerts are about (R282), and counters that begin
/// at 0; a recorder has to be installed before.
pub(crate) fn describe() {
    certificates::describe();
    disk::describe();
    figures::describe();
    sends::describe();
    crate::signals::describe();
    standby::describe();
    store::describe();
    store_use::describe();
}

/// A number as a gauge has it.
#[expect(clippy::cast_precision_loss, reason = "a gauge is a float; counts are far below 2^52")]
fn float(number: u64) -> f64 {
    number as f64
}
