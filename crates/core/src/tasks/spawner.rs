//! Who runs the work.

use std::future::Future;
use std::pin::Pin;

/// Work that answers nothing.
pub type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Runs work apart from those who wait for it. The core has no runtime of its own.
pub trait Spawner: Send + Sync {
    /// Begins to run `work` and answers a future that ends with it. Dropping that future stops
    /// nothing: the work is run to its end. A panic of the work ends the work alone.
    fn spawn(&self, work: Work) -> Work;
}
