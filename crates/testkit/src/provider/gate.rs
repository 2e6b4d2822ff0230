//! Makes sends wait.

use tokio::sync::watch;

/// Makes sends wait. Dropping the gate opens it.
#[derive(Debug)]
#[must_use = "a gate that is dropped is open"]
pub struct Gate {
    pub(super) open: watch::Sender<bool>,
    pub(super) asked: watch::Receiver<usize>,
}

impl Gate {
    /// Waits until `count` sends were requested, whether they wait or not.
    pub async fn reached(&self, count: usize) {
        let asked = self.asked.clone().wait_for(|asked| *asked >= count).await.map(|_| ());
        asked.expect("the provider outlives its gates");
    }

    /// Lets all sends pass: those that wait and later ones.
    pub fn open(&self) {
        self.open.send_replace(true);
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.open();
    }
}
