//! Work that is done together: what comes while earlier work is under way waits, and is done as
//! one. Nothing waits for a timer. Few large batches cost less than many small ones, so another
//! lane works only while a crowd waits.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How waiting tasks are done together.
pub(crate) trait Work: Clone + Send + 'static {
    /// A task, with whoever waits for it.
    type Task: Send + 'static;

    /// How many batches are under way at once while a crowd waits; otherwise it is one.
    const LANES: usize;

    /// Takes the tasks of the next batch out of those that wait. There is at least one.
    fn take(waiting: &mut VecDeque<Self::Task>) -> Vec<Self::Task>;

    /// Does the tasks of a batch, and answers them.
    fn run(&self, batch: Vec<Self::Task>) -> impl Future<Output = ()> + Send;
}

/// How many waiting tasks are a crowd.
const CROWD: usize = 16;

struct Queue<T> {
    waiting: VecDeque<T>,
    /// How many lanes are busy.
    busy: usize,
}

impl<T> Queue<T> {
    /// How many lanes, at `most`, the tasks that wait need.
    fn lanes(&self, most: usize) -> usize {
        if self.waiting.len() < CROWD { 1 } else { most }
    }
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
            let is_free = queue.busy < queue.lanes(W::LANES);
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
        if queue.waiting.is_empty() || queue.busy > queue.lanes(W::LANES) {
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

    /// Does nothing until it may, in two lanes.
    #[derive(Clone)]
    struct Holding(Arc<tokio::sync::Semaphore>, Arc<Mutex<Vec<usize>>>);

    impl Work for Holding {
        type Task = ();
        const LANES: usize = 2;

        fn take(waiting: &mut VecDeque<()>) -> Vec<()> {
            waiting.drain(..).collect()
        }

        async fn run(&self, batch: Vec<()>) {
            self.1.lock().unwrap().push(batch.len());
            self.0.acquire().await.expect("it stays open").forget();
        }
    }

    /// R439.
    #[tokio::test]
    async fn another_lane_works_while_a_crowd_waits_and_no_longer() {
        let begun = Arc::new(Mutex::new(Vec::new()));
        let work = Holding(Arc::new(tokio::sync::Semaphore::new(0)), Arc::clone(&begun));
        let lanes = Arc::new(Lanes::<Holding>::default());
        let push = async |tasks: usize| {
            for _ in 0..tasks {
                lanes.push(&work, ());
            }
            tokio::task::yield_now().await;
        };
        push(1).await;
        push(CROWD - 1).await;
        assert_eq!(*begun.lock().unwrap(), [1]);
        push(1).await;
        assert_eq!(*begun.lock().unwrap(), [1, CROWD]);
        // One lane takes what came meanwhile, the other one ends.
        push(2).await;
        work.0.add_permits(2);
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        assert_eq!(*begun.lock().unwrap(), [1, CROWD, 2]);
        assert_eq!(lanes.queue().busy, 1);
        work.0.add_permits(1);
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        assert_eq!(lanes.queue().busy, 0);
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
