//! A spawner whose work runs within the waiting future.

use recado_core::{Spawner, Work};

/// Runs work inside the future that waits for it, on any runtime or none, in the same order every
/// time. Dropping that future drops the work, as the end of a process does. A test can thus end the
/// work at any step. Never use this in production, where the work must continue.
#[derive(Clone, Copy, Debug, Default)]
pub struct AttachedSpawner;

impl Spawner for AttachedSpawner {
    fn spawn(&self, work: Work) -> Work {
        work
    }
}
