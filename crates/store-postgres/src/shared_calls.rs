//! Calls of one kind that several callers make at the same time, as one.

use std::collections::VecDeque;
use std::sync::Arc;

use recado_core::store::StoreError;
use tokio::sync::oneshot;

use crate::error::shared_failure;
use crate::lanes::{Lanes, Work};
use crate::pool::Pool;

/// A call that can be made together with others of its kind (R440).
///
/// Each of them sees everything that was committed before it was asked for: a statement is sent
/// after the calls that it answers have come.
pub(crate) trait SharedCall: Send + Sized + 'static {
    /// Its answer.
    type Answer: Send;

    /// How many calls are made together at most.
    const MOST: usize = 64;

    /// The answers to all calls, in their order.
    fn answer_all(
        pool: &Pool,
        calls: Vec<Self>,
    ) -> impl Future<Output = Result<Vec<Self::Answer>, StoreError>> + Send;
}

/// The calls of one kind that wait in this process.
pub(crate) struct SharedCalls<C: SharedCall> {
    lanes: Arc<Lanes<Answering<C>>>,
}

impl<C: SharedCall> Default for SharedCalls<C> {
    fn default() -> Self {
        Self { lanes: Arc::default() }
    }
}

impl<C: SharedCall> Clone for SharedCalls<C> {
    fn clone(&self) -> Self {
        Self { lanes: Arc::clone(&self.lanes) }
    }
}

impl<C: SharedCall> SharedCalls<C> {
    /// Makes a call, with others if some wait.
    ///
    /// # Errors
    ///
    /// When the database cannot be reached, or answers something unexpected.
    pub(crate) async fn make(&self, pool: &Pool, call: C) -> Result<C::Answer, StoreError> {
        let (answer, answered) = oneshot::channel();
        self.lanes.push(&Answering(pool.clone(), std::marker::PhantomData), (call, answer));
        answered.await.map_err(|_| StoreError::Unavailable(None))?
    }
}

/// How calls are answered.
struct Answering<C>(Pool, std::marker::PhantomData<fn(C)>);

impl<C> Clone for Answering<C> {
    fn clone(&self) -> Self {
        Self(self.0.clone(), std::marker::PhantomData)
    }
}

impl<C: SharedCall> Work for Answering<C> {
    type Task = (C, oneshot::Sender<Result<C::Answer, StoreError>>);

    const LANES: usize = 2;

    fn take(waiting: &mut VecDeque<Self::Task>) -> Vec<Self::Task> {
        let most = waiting.len().min(C::MOST);
        waiting.drain(..most).collect()
    }

    async fn run(&self, batch: Vec<Self::Task>) {
        let (calls, callers): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
        match C::answer_all(&self.0, calls).await {
            Ok(answers) => {
                for (caller, answer) in callers.into_iter().zip(answers) {
                    // The caller may have stopped waiting.
                    drop(caller.send(Ok(answer)));
                }
            }
            Err(error) => {
                let error = Arc::new(error);
                for caller in callers {
                    drop(caller.send(Err(shared_failure(&error))));
                }
            }
        }
    }
}
