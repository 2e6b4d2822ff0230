//! Work that is done together: what comes while earlier work is under way waits, and is done as
//! one. Nothing waits for a timer. Few large batches cost less than many small ones, so another
//! lane works only while a crowd waits. A batch that only waits for the disk occupies no lane.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// How waiting tasks are done together.
pub(crate) trait Work: Clone + Send + Sync + 'static {
    /// A task, with whoever waits for it.
    type Task: Send + 'static;

    /// How many batches are worked on at once while crowds wait; otherwise it is one.
    const LANES: usize;

    /// Takes the tasks of the next batch out of those that wait. There is at least one.
    fn take(waiting: &mut VecDeque<Self::Task>) -> Vec<Self::Task>;

    /// Does the tasks of a batch, and answers them.
    fn run(&self, batch: Vec<Self::Task>, lane: LaneHold) -> impl Future<Output = ()> + Send;
}

/// The lane of a batch. The next batch is begun when this is dropped.
pub(crate) struct LaneHold(
    #[expect(dead_code, reason = "the other end sees that it is dropped")] oneshot::Sender<()>,
);

/// How many waiting tasks are a crowd. There is a lane more for each.
const CROWD: usize = 32;

/// How many batches that have left their lanes may be under way. If the disk stalls, the rest
/// waits here rather than in connections to the database.
const LEFT: usize = 2;

struct Queue<T> {
    waiting: VecDeque<T>,
    /// How many lanes are busy.
    busy: usize,
    /// How many batches are under way, those that have left their lanes included.
    under_way: usize,
}

impl<T> Queue<T> {
    /// Whether the tasks that wait need one more lane than are busy, at `most`.
    fn needs_lane(&self, most: usize) -> bool {
        !self.waiting.is_empty()
            && self.busy < most.min(1 + self.waiting.len() / CROWD)
            && self.under_way < most + LEFT
    }
}

/// The tasks that wait in this process.
pub(crate) struct Lanes<W: Work>(Mutex<Queue<W::Task>>);

impl<W: Work> Default for Lanes<W> {
    fn default() -> Self {
        Self(Mutex::new(Queue { waiting: VecDeque::new(), busy: 0, under_way: 0 }))
    }
}

impl<W: Work> Lanes<W> {
    fn queue(&self) -> MutexGuard<'_, Queue<W::Task>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a task. If a lane is free, it is begun at once. A task whose batch is gone, because it
    /// panicked or its runtime has ended, is dropped.
    pub(crate) fn push(self: &Arc<Self>, work: &W, task: W::Task) {
        self.queue().waiting.push_back(task);
        self.begin(work);
    }

    /// Begins batches for the lanes that are free.
    fn begin(self: &Arc<Self>, work: &W) {
        loop {
            let batch = {
                let mut queue = self.queue();
                if !queue.needs_lane(W::LANES) {
                    return;
                }
                queue.busy += 1;
                queue.under_way += 1;
                W::take(&mut queue.waiting)
            };
            let (hold, left) = oneshot::channel();
            let place = Place { lanes: Arc::clone(self), work: work.clone(), is_busy: true };
            let running = work.clone();
            tokio::spawn(
                place.watch(left, async move { running.run(batch, LaneHold(hold)).await }),
            );
        }
    }
}

/// The place of a batch among those that are under way.
struct Place<W: Work> {
    lanes: Arc<Lanes<W>>,
    work: W,
    is_busy: bool,
}

impl<W: Work> Place<W> {
    /// Waits for the end of a batch, and begins the next one when it leaves its lane.
    async fn watch(
        mut self,
        left: oneshot::Receiver<()>,
        batch: impl Future<Output = ()> + Send + 'static,
    ) {
        let batch = std::pin::pin!(batch);
        match futures_util::future::select(left, batch).await {
            futures_util::future::Either::Left((_, batch)) => {
                self.leave();
                self.lanes.begin(&self.work);
                batch.await;
            }
            futures_util::future::Either::Right(((), _)) => {}
        }
    }

    fn leave(&mut self) {
        if std::mem::take(&mut self.is_busy) {
            self.lanes.queue().busy -= 1;
        }
    }
}

impl<W: Work> Drop for Place<W> {
    /// However the batch has ended, nobody is left waiting for its lane.
    fn drop(&mut self) {
        self.leave();
        self.lanes.queue().under_way -= 1;
        match tokio::runtime::Handle::try_current() {
            Ok(_) => self.lanes.begin(&self.work),
            // Nothing works any more.
            Err(_) => self.lanes.queue().waiting.clear(),
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

        async fn run(&self, batch: Vec<Self::Task>, _: LaneHold) {
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

        async fn run(&self, batch: Vec<()>, _: LaneHold) {
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

    /// Leaves its lane at once, and does nothing until it may.
    #[derive(Clone)]
    struct Flushing(Arc<tokio::sync::Semaphore>, Arc<Mutex<usize>>);

    impl Work for Flushing {
        type Task = ();
        const LANES: usize = 1;

        fn take(waiting: &mut VecDeque<()>) -> Vec<()> {
            waiting.drain(..1).collect()
        }

        async fn run(&self, _: Vec<()>, lane: LaneHold) {
            *self.1.lock().unwrap() += 1;
            drop(lane);
            self.0.acquire().await.expect("it stays open").forget();
        }
    }

    /// R439.
    #[tokio::test]
    async fn a_batch_that_waits_for_the_disk_keeps_few_others_waiting() {
        let begun = Arc::new(Mutex::new(0));
        let work = Flushing(Arc::new(tokio::sync::Semaphore::new(0)), Arc::clone(&begun));
        let lanes = Arc::new(Lanes::<Flushing>::default());
        let settled = async || {
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
            *begun.lock().unwrap()
        };
        for _ in 0..10 {
            lanes.push(&work, ());
        }
        assert_eq!(settled().await, 1 + LEFT);
        work.0.add_permits(1);
        assert_eq!(settled().await, 2 + LEFT);
        work.0.add_permits(9);
        assert_eq!(settled().await, 10);
        let queue = lanes.queue();
        assert_eq!((queue.busy, queue.under_way), (0, 0));
    }

    #[tokio::test]
    async fn a_panic_leaves_nobody_waiting_and_later_tasks_are_done() {
        let (lanes, work) = (Arc::default(), Adding(Arc::default()));
        let failing = ask(&lanes, &work, 0);
        tokio::task::yield_now().await;
        let behind = ask(&lanes, &work, 1);
        assert!(failing.await.is_err());
        assert_eq!(behind.await, Ok(2));
        assert_eq!(ask(&lanes, &work, 2).await, Ok(3));
    }
}
