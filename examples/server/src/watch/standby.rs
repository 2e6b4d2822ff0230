//! The standby of which listings are read (R462).

use metrics::{Unit, counter, describe_counter, describe_gauge, gauge};
use recado_core::Installation;

const LAG: &str = "recado_standby_lag_seconds";
const READS: &str = "recado_standby_reads_total";

pub(super) fn describe() {
    describe_gauge!(
        LAG,
        Unit::Seconds,
        "How far the standby was behind when it was last asked; infinite while it cannot be used."
    );
    describe_counter!(
        READS,
        Unit::Count,
        "Reads of listings from the standby, by result; the database answers what it fails to."
    );
}

/// Sets what is known; nothing without a standby.
pub(super) fn record(installation: &Installation) {
    let Some(standby) = installation.standby() else { return };
    let lag = standby.shows_until.map(|until| installation.now().since(until).as_secs_f64());
    gauge!(LAG).set(lag.unwrap_or(f64::INFINITY));
    counter!(READS, "result" => "ok").absolute(standby.reads);
    counter!(READS, "result" => "failed").absolute(standby.failures);
}
