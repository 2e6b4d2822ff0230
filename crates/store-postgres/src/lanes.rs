//! Work that is done together: what comes while earlier work is under way waits, and is done as
//! one. Nothing waits for a timer.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How waiting tasks are done together.
pub(crate) trait Work: Clone + Send + 'static {
    /// A task, with whoever waits for it.
    type Task: Send + 'static;

    /// How many batches are under way at once.
    const LANES: usize;

    /// Takes the tasks of the next batch out of those that wait. There is at least one.
    fn take(waiting: &mut VecDeque<Self::Task>) -> Vec<Self::Task>;

    /// Does the tasks of a batch, and answers them.
    fn run(&self, batch: Vec<Self::Task>) -> impl Future<Output = ()> + Send;
}

struct Queue<T> {
    waiting: VecDeque<T>,
    /// How many lanes are busy.
    busy: usize,
}

/// The tasks that wait in this process.
pub(crate) struct Lanes<W: Work>(Mutex<Queue<W::Task>>);

impl<W: Work> Default for Lanes<W> {
    fn default() -> Self {
        Self(Mutex::new(Queue { waiting: VecDeque::new(), busy: 0 }))
    }
}

impl<W: Work> Lanes<W> {
    fn queue(&self) -> MutexGuard<'_, Queue<W::Task>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a task. If a lane is free, it is begun at once. A task whose lane is gone, because it
    /// panicked or its runtime has ended, is dropped.
    pub(crate) fn push(self: &Arc<Self>, work: &W, task: W::Task) {
        let is_free = {
            let mut queue = self.queue();
            queue.waiting.push_back(task);
            let is_free = queue.busy < W::LANES;
            queue.busy += usize::from(is_free);
            is_free
        };
        if is_free {
            let lane = Lane { lanes: Arc::clone(self), work: work.clone(), has_ended: false };
            tokio::spawn(lane.run());
        }
    }
}

/// Works until nothing waits.
struct Lane<W: Work> {
    lanes: Arc<Lanes<W>>,
    work: W,
    has_ended: bool,
}

impl<W: Work> Lane<W> {
    async fn run(mut self) {
        while let Some(batch) = self.next() {
            self.work.run(batch).await;
        }
    }

    fn next(&mut self) -> Option<Vec<W::Task>> {
        let mut queue = self.lanes.queue();
        if queue.waiting.is_empty() {
            queue.busy -= 1;
            self.has_ended = true;
            return None;
        }
        Some(W::take(&mut queue.waiting))
    }
}

impl<W: Work> Drop for Lane<W> {
    /// Nobody is left waiting for a lane that did not end by itself.
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        let mut queue = self.lanes.queue();
        queue.busy -= 1;
        if queue.busy == 0 {
            queue.waiting.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    /// Adds one to numbers, and panics at zero.
    #[derive(Clone)]
    struct Adding(Arc<Mutex<Vec<usize>>>);

    impl Work for Adding {
        type Task = (u32, oneshot::Sender<u32>);
        const LANES: usize = 1;

        fn take(waiting: &mut VecDeque<Self::Task>) -> Vec<Self::Task> {
            waiting.drain(..).collect()
        }

        async fn run(&self, batch: Vec<Self::Task>) {
            tokio::task::yield_now().await;
            self.0.lock().unwrap().push(batch.len());
            for (number, answer) in batch {
                assert_ne!(number, 0, "a panic for the test");
                assert!(answer.send(number + 1).is_ok(), "it is waited for");
            }
        }
    }

    fn ask(lanes: &Arc<Lanes<Adding>>, work: &Adding, number: u32) -> oneshot::Receiver<u32> {
        let (answer, answered) = oneshot::channel();
        lanes.push(work, (number, answer));
        answered
    }

    #[tokio::test]
    async fn what_comes_while_a_batch_is_under_way_is_the_next_batch() {
        let (lanes, work) = (Arc::default(), Adding(Arc::default()));
        let first = ask(&lanes, &work, 1);
        tokio::task::yield_now().await;
        let later: Vec<_> = (2..10).map(|number| ask(&lanes, &work, number)).collect();
        assert_eq!(first.await, Ok(2));
        for (number, answer) in (2..10).zip(later) {
            assert_eq!(answer.await, Ok(number + 1));
        }
        assert_eq!(*work.0.lock().unwrap(), [1, 8]);
        assert_eq!(ask(&lanes, &work, 10).await, Ok(11));
    }

    #[tokio::test]
    async fn a_panic_leaves_nobody_waiting_and_later_tasks_are_done() {
        let (lanes, work) = (Arc::default(), Adding(Arc::default()));
        let failing = ask(&lanes, &work, 0);
        tokio::task::yield_now().await;
        let behind = ask(&lanes, &work, 1);
        assert!(failing.await.is_err());
        assert!(behind.await.is_err());
        assert_eq!(ask(&lanes, &work, 2).await, Ok(3));
    }
}
