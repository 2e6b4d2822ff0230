//! Document stores in memory, and one that fails on demand.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use recado_core::documents::{FileError, FileReader, Files};

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A document store in memory. Clones are handles on the same files.
#[derive(Clone, Debug, Default)]
pub struct MemoryFiles(Arc<Mutex<BTreeMap<String, Arc<Vec<u8>>>>>);

/// Bytes that stay as they were opened.
struct Opened(Arc<Vec<u8>>);

impl AsRef<[u8]> for Opened {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl MemoryFiles {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps a file at once.
    pub fn keep(&self, key: &str, bytes: Vec<u8>) {
        locked(&self.0).insert(key.to_owned(), Arc::new(bytes));
    }

    /// The keys of all files, sorted.
    pub fn keys(&self) -> Vec<String> {
        locked(&self.0).keys().cloned().collect()
    }

    /// Deletes a file, as an accident would.
    pub fn lose(&self, key: &str) {
        locked(&self.0).remove(key);
    }
}

#[async_trait]
impl Files for MemoryFiles {
    async fn put(&self, key: &str, bytes: Vec<u8>) -> Result<(), FileError> {
        locked(&self.0).insert(key.to_owned(), Arc::new(bytes));
        Ok(())
    }

    async fn open(&self, key: &str, from: u64) -> Result<Option<FileReader>, FileError> {
        let bytes = locked(&self.0).get(key).cloned();
        Ok(bytes.map(|bytes| FileReader::of_bytes(Opened(bytes), from)))
    }

    async fn size(&self, key: &str) -> Result<Option<u64>, FileError> {
        Ok(locked(&self.0).get(key).map(|bytes| bytes.len() as u64))
    }

    async fn copy(&self, from: &str, to: &str) -> Result<bool, FileError> {
        let mut files = locked(&self.0);
        let Some(bytes) = files.get(from).cloned() else { return Ok(false) };
        files.insert(to.to_owned(), bytes);
        Ok(true)
    }

    async fn remove(&self, key: &str) -> Result<(), FileError> {
        locked(&self.0).remove(key);
        Ok(())
    }
}

/// An operation of a document store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileOp {
    /// [`Files::put`].
    Put,
    /// [`Files::open`]; what is read afterwards does not fail.
    Open,
    /// [`Files::size`].
    Size,
    /// [`Files::copy`].
    Copy,
    /// [`Files::remove`].
    Remove,
}

/// Whether a failing operation takes effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailureAt {
    /// The operation fails before it takes effect.
    #[default]
    Before,
    /// The operation takes effect, and then its answer is lost.
    After,
}

/// Which operations fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Plan {
    #[default]
    Nothing,
    /// The n-th operation from now, counted from 0.
    Nth(u64),
    /// The n-th operation from now and all that follow.
    From(u64),
    /// Every operation of one kind.
    Every(FileOp),
}

#[derive(Debug, Default)]
struct Faults {
    plan: Plan,
    at: FailureAt,
    /// The number of operations since the plan was made.
    seen: u64,
    /// The number of failed operations since the plan was made.
    failed: u64,
}

/// A document store that fails on demand. Clones share one plan.
#[derive(Clone)]
pub struct FaultyFiles {
    inner: Arc<dyn Files>,
    faults: Arc<Mutex<Faults>>,
}

impl std::fmt::Debug for FaultyFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FaultyFiles").field("faults", &self.faults).finish_non_exhaustive()
    }
}

impl FaultyFiles {
    /// Wraps a store. No operation fails until a failure is set.
    pub fn new(inner: impl Files + 'static) -> Self {
        Self { inner: Arc::new(inner), faults: Arc::default() }
    }

    /// Makes the `n`-th operation from now fail, counted from 0.
    pub fn fail_nth(&self, n: u64, at: FailureAt) {
        self.plan(Plan::Nth(n), at);
    }

    /// Makes the `n`-th operation from now, counted from 0, and all later ones fail until
    /// [`FaultyFiles::heal`].
    pub fn fail_from(&self, n: u64, at: FailureAt) {
        self.plan(Plan::From(n), at);
    }

    /// Makes every operation of a kind fail until [`FaultyFiles::heal`].
    pub fn fail_every(&self, op: FileOp, at: FailureAt) {
        self.plan(Plan::Every(op), at);
    }

    /// Ends all failures.
    pub fn heal(&self) {
        self.plan(Plan::Nothing, FailureAt::Before);
    }

    /// How many operations failed since the last plan was made.
    pub fn failed(&self) -> u64 {
        locked(&self.faults).failed
    }

    /// How many operations there were since the last plan was made.
    pub fn seen(&self) -> u64 {
        locked(&self.faults).seen
    }

    fn plan(&self, plan: Plan, at: FailureAt) {
        *locked(&self.faults) = Faults { plan, at, seen: 0, failed: 0 };
    }

    fn planned(&self, op: FileOp) -> Option<FailureAt> {
        let mut faults = locked(&self.faults);
        let number = faults.seen;
        faults.seen += 1;
        let fails = match faults.plan {
            Plan::Nothing => false,
            Plan::Nth(n) => number == n,
            Plan::From(n) => number >= n,
            Plan::Every(kind) => kind == op,
        };
        if fails {
            faults.failed += 1;
        }
        fails.then_some(faults.at)
    }

    async fn run<T>(
        &self,
        op: FileOp,
        work: impl Future<Output = Result<T, FileError>> + Send,
    ) -> Result<T, FileError> {
        match self.planned(op) {
            None => work.await,
            Some(FailureAt::Before) => Err(FileError(format!("{op:?} failed on demand"))),
            Some(FailureAt::After) => {
                work.await?;
                Err(FileError(format!("the answer of {op:?} was lost on demand")))
            }
        }
    }
}

#[async_trait]
impl Files for FaultyFiles {
    async fn put(&self, key: &str, bytes: Vec<u8>) -> Result<(), FileError> {
        self.run(FileOp::Put, self.inner.put(key, bytes)).await
    }

    async fn open(&self, key: &str, from: u64) -> Result<Option<FileReader>, FileError> {
        self.run(FileOp::Open, self.inner.open(key, from)).await
    }

    async fn size(&self, key: &str) -> Result<Option<u64>, FileError> {
        self.run(FileOp::Size, self.inner.size(key)).await
    }

    async fn copy(&self, from: &str, to: &str) -> Result<bool, FileError> {
        self.run(FileOp::Copy, self.inner.copy(from, to)).await
    }

    async fn remove(&self, key: &str) -> Result<(), FileError> {
        self.run(FileOp::Remove, self.inner.remove(key)).await
    }
}
