//! How much work is under way.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_channel::oneshot;

/// The work of this process that is under way.
#[derive(Debug, Default)]
pub(crate) struct UnderWay(Mutex<Count>);

#[derive(Debug, Default)]
struct Count {
    running: usize,
    /// The callers that wait until no work is under way.
    waiting: Vec<oneshot::Sender<()>>,
}

impl UnderWay {
    /// Counts one more piece of work until the returned value is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> OneUnderWay {
        self.count().running += 1;
        OneUnderWay(Arc::clone(self))
    }

    /// Waits until nothing is under way.
    pub(super) async fn finished(&self) {
        loop {
            let finished = {
                let mut count = self.count();
                if count.running == 0 {
                    return;
                }
                let (signal, finished) = oneshot::channel();
                count.waiting.push(signal);
                finished
            };
            // New work may have begun since the notification.
            let _ = finished.await;
        }
    }

    fn count(&self) -> MutexGuard<'_, Count> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One piece of work that is under way.
pub(super) struct OneUnderWay(Arc<UnderWay>);

impl Drop for OneUnderWay {
    fn drop(&mut self) {
        let mut count = self.0.count();
        count.running -= 1;
        if count.running == 0 {
            for waiting in count.waiting.drain(..) {
                // The caller may have stopped waiting.
                let _ = waiting.send(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn nothing_is_waited_for_where_nothing_is_under_way() {
        assert_eq!(Arc::<UnderWay>::default().finished().now_or_never(), Some(()));
    }

    #[test]
    fn all_that_is_under_way_is_waited_for() {
        let work = Arc::<UnderWay>::default();
        let (first, second) = (work.begin(), work.begin());
        let mut finished = Box::pin(work.finished());
        assert_eq!((&mut finished).now_or_never(), None);
        drop(first);
        assert_eq!((&mut finished).now_or_never(), None);
        drop(second);
        assert_eq!((&mut finished).now_or_never(), Some(()));
    }

    #[test]
    fn what_begins_while_somebody_waits_is_waited_for_too() {
        let work = Arc::<UnderWay>::default();
        let first = work.begin();
        let mut finished = Box::pin(work.finished());
        assert_eq!((&mut finished).now_or_never(), None);
        drop(first);
        let second = work.begin();
        assert_eq!((&mut finished).now_or_never(), None);
        drop(second);
        assert_eq!((&mut finished).now_or_never(), Some(()));
    }
}
