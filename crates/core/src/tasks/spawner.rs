//! The interface to the runtime that runs the work.

use std::future::Future;
use std::pin::Pin;

/// Work without a result.
pub type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Runs work independently of its callers. The core has no runtime of its own.
pub trait Spawner: Send + Sync {
    /// Begins to run `work` and returns a future that ends with it. Dropping that future does not
    /// stop the work. A panic of the work ends this work only.
    fn spawn(&self, work: Work) -> Work;
}
