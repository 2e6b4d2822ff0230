//! Running processes.

use recado_core::workers::Worker;

use crate::record::record;

record! {
    Worker in "workers" key(id) {
        id,
        leased_until,
        runs_deliveries("dispatches"),
    }
}
