//! Work that ends with whoever waits for it.

use recado_core::{Spawner, Work};

/// Runs work inside the future that waits for it: on any runtime or none, in the same order every
/// time. Dropping that future drops the work, as a process that dies does; so a test can let one die
/// at any step. Never for production, where work has to go on.
#[derive(Clone, Copy, Debug, Default)]
pub struct AttachedSpawner;

impl Spawner for AttachedSpawner {
    fn spawn(&self, work: Work) -> Work {
        work
    }
}
