//! Passwords by argon2id, on threads of their own (R395, R396).

use std::cell::RefCell;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, available_parallelism};
use std::{fmt, io};

use argon2::password_hash::phc::{Output, ParamsString, PasswordHash as Phc, Salt};
use argon2::password_hash::{CustomizedPasswordHasher, Error, PasswordVerifier};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use async_trait::async_trait;
use recado_core::accounts::{Password, PasswordHash, PasswordVerdict, Passwords};
use recado_core::store::StoreError;
use tokio::sync::{Semaphore, oneshot};

/// What OWASP recommends for argon2id: 19 MiB and two passes in one lane.
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;

/// How many computations may wait for each core: a second or two of work.
const WAITING_PER_CORE: usize = 64;

/// The most computations at once, on any machine: each thread keeps its memory.
const MOST_THREADS: usize = 4;

/// Hashes passwords with argon2id, as many at once as the machine has cores, four at most (R395).
/// Each takes some tens of milliseconds with the usual parameters, and 19 MiB of memory, which are
/// kept for the next one. At most 64 wait for each; more are refused at once, so that a flood of
/// them does not grow without bound.
#[derive(Clone, Debug)]
pub struct ArgonPasswords {
    params: Params,
    turns: Arc<Semaphore>,
    /// One for each computation that waits or is under way.
    places: Arc<Semaphore>,
    threads: Arc<HashingThreads>,
}

/// So many passwords wait to be computed that one more would wait too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TooManyWait;

impl fmt::Display for TooManyWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("too many passwords wait to be computed")
    }
}

impl std::error::Error for TooManyWait {}

impl Default for ArgonPasswords {
    fn default() -> Self {
        Self::new()
    }
}

impl ArgonPasswords {
    /// With the usual parameters.
    pub fn new() -> Self {
        Self::with(Params::new(MEMORY_KIB, PASSES, 1, None).expect("these parameters are allowed"))
    }

    /// With other parameters: KiB of memory and passes. `None` if argon2 does not allow them.
    pub fn with_cost(memory_kib: u32, passes: u32) -> Option<Self> {
        Params::new(memory_kib, passes, 1, None).ok().map(Self::with)
    }

    fn with(params: Params) -> Self {
        Self::on_cores(params, available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS))
    }

    fn on_cores(params: Params, cores: usize) -> Self {
        let places = cores.saturating_mul(WAITING_PER_CORE + 1).min(Semaphore::MAX_PERMITS);
        Self {
            params,
            turns: Arc::new(Semaphore::new(cores)),
            places: Arc::new(Semaphore::new(places)),
            threads: Arc::new(HashingThreads::new(cores)),
        }
    }

    /// Computes on one of the threads, when it is its turn; unavailable if too many wait (R395).
    async fn on_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Hasher, Params) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let places = Arc::clone(&self.places);
        let place = places.try_acquire_owned().map_err(|_| StoreError::unavailable(TooManyWait))?;
        let turn =
            Arc::clone(&self.turns).acquire_owned().await.map_err(StoreError::unavailable)?;
        let params = self.params.clone();
        // The turn goes with the work: it goes on if nobody waits for it any more.
        let (answer, answered) = oneshot::channel();
        self.threads.give(Box::new(move |hasher| {
            let _held = (turn, place);
            drop(answer.send(work(hasher, params)));
        }))?;
        answered.await.map_err(StoreError::unavailable)?
    }
}

/// A computation.
type Work = Box<dyn FnOnce(&Hasher) + Send>;

/// As many threads as may compute at once, from the first computation on. Each has memory of its
/// own: an allocator that is asked for it again and again keeps it many times over.
#[derive(Debug)]
struct HashingThreads {
    count: usize,
    /// They end when this is dropped.
    queue: Mutex<Option<mpsc::Sender<Work>>>,
}

impl HashingThreads {
    const fn new(count: usize) -> Self {
        Self { count, queue: Mutex::new(None) }
    }

    /// Hands over a computation.
    ///
    /// # Errors
    ///
    /// When no thread can be made.
    fn give(&self, work: Work) -> Result<(), StoreError> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = match &*queue {
            Some(sender) => sender,
            None => queue.insert(self.start().map_err(StoreError::unavailable)?),
        };
        sender.send(work).map_err(|_| StoreError::Unavailable(None))
    }

    fn start(&self) -> io::Result<mpsc::Sender<Work>> {
        let (sender, queue) = mpsc::channel::<Work>();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..self.count {
            let queue = Arc::clone(&queue);
            let thread = thread::Builder::new().name("recado-passwords".to_owned());
            thread.spawn(move || compute(&queue))?;
        }
        Ok(sender)
    }
}

/// Computes until nothing can come any more.
fn compute(queue: &Mutex<mpsc::Receiver<Work>>) {
    let hasher = Hasher::default();
    loop {
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(work) = next else { return };
        // A panic fails this computation: whoever waits for it gets no answer.
        let _panicked = catch_unwind(AssertUnwindSafe(|| work(&hasher)));
    }
}

/// Computes argon2 in memory that is used again.
#[derive(Default)]
struct Hasher {
    memory: RefCell<Vec<Block>>,
}

impl CustomizedPasswordHasher<Phc> for Hasher {
    type Params = Params;

    fn hash_password_customized(
        &self,
        password: &[u8],
        salt: &[u8],
        algorithm: Option<&str>,
        version: Option<u32>,
        params: Params,
    ) -> Result<Phc, Error> {
        let algorithm = algorithm.map(Algorithm::try_from).transpose()?.unwrap_or_default();
        let version = version.map(Version::try_from).transpose()?.unwrap_or_default();
        let mut memory = self.memory.borrow_mut();
        if memory.len() < params.block_count() {
            memory.resize(params.block_count(), Block::default());
        }
        let length = params.output_len().unwrap_or(Params::DEFAULT_OUTPUT_LEN);
        let mut buffer = [0; Output::MAX_LENGTH];
        let output = buffer.get_mut(..length).ok_or(Error::OutputSize)?;
        let argon = Argon2::new(algorithm, version, params.clone());
        argon.hash_password_into_with_memory(password, salt, output, &mut *memory)?;
        Ok(Phc {
            algorithm: algorithm.ident(),
            version: Some(version.into()),
            params: ParamsString::try_from(&params)?,
            salt: Some(Salt::new(salt)?),
            hash: Some(Output::new(output)?),
        })
    }
}

fn hashed(
    hasher: &Hasher,
    params: Params,
    password: &Password,
    salt: &[u8],
) -> Result<Phc, StoreError> {
    let password = password.expose().as_bytes();
    let id = Some(Algorithm::Argon2id.as_str());
    let version = Some(Version::V0x13.into());
    let made = hasher.hash_password_customized(password, salt, id, version, params);
    made.map_err(StoreError::unavailable)
}

/// Whether a hash takes less work to compute than one of these parameters.
fn is_weak(hash: &Phc, params: &Params) -> bool {
    let Ok(used) = Params::try_from(hash) else { return true };
    hash.algorithm.as_str() != Algorithm::Argon2id.as_str()
        || used.m_cost() < params.m_cost()
        || used.t_cost() < params.t_cost()
}

#[async_trait]
impl Passwords for ArgonPasswords {
    async fn hash(&self, password: &Password, salt: [u8; 16]) -> Result<PasswordHash, StoreError> {
        let password = password.clone();
        let made =
            self.on_thread(move |hasher, params| hashed(hasher, params, &password, &salt)).await?;
        Ok(PasswordHash::from_stored(made.to_string()))
    }

    async fn compare(
        &self,
        password: &Password,
        hash: Option<&PasswordHash>,
    ) -> Result<PasswordVerdict, StoreError> {
        let (password, hash) = (password.clone(), hash.cloned());
        self.on_thread(move |hasher, params| {
            let Some(hash) = hash else {
                hashed(hasher, params, &password, &[0; 16])?;
                return Ok(PasswordVerdict::Wrong);
            };
            let hash = Phc::new(hash.expose()).map_err(StoreError::corrupt)?;
            match hasher.verify_password(password.expose().as_bytes(), &hash) {
                Ok(()) if is_weak(&hash, &params) => Ok(PasswordVerdict::RightAndWeak),
                Ok(()) => Ok(PasswordVerdict::Right),
                Err(Error::PasswordInvalid) => Ok(PasswordVerdict::Wrong),
                Err(error) => Err(StoreError::corrupt(error)),
            }
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use argon2::password_hash::PasswordHasher;
    use futures_util::future::join_all;
    use recado_core::contacts::Email;

    use super::*;

    fn password(text: &str) -> Password {
        Password::choose(text, &Email::parse("ana@example.org").unwrap()).unwrap()
    }

    /// R395.
    #[tokio::test]
    async fn a_hash_is_a_phc_string_and_is_weak_once_the_parameters_grew() {
        let small = ArgonPasswords::with_cost(16, 1).unwrap();
        let (right, wrong) = (password("nove sapos azuis"), password("dez sapos azuis"));
        let hash = small.hash(&right, [7; 16]).await.unwrap();
        assert!(hash.expose().starts_with("$argon2id$v=19$m=16,t=1,p=1$"), "{}", hash.expose());
        assert_eq!(small.compare(&right, Some(&hash)).await.unwrap(), PasswordVerdict::Right);
        assert_eq!(small.compare(&wrong, Some(&hash)).await.unwrap(), PasswordVerdict::Wrong);
        assert_eq!(small.compare(&right, None).await.unwrap(), PasswordVerdict::Wrong);
        let grown = ArgonPasswords::with_cost(16, 2).unwrap();
        assert_eq!(
            grown.compare(&right, Some(&hash)).await.unwrap(),
            PasswordVerdict::RightAndWeak
        );
        let none = PasswordHash::from_stored("hunter2".to_owned());
        assert!(small.compare(&right, Some(&none)).await.is_err());
    }

    /// R395.
    #[test]
    fn memory_that_was_used_before_makes_the_same_hashes() {
        let hasher = Hasher::default();
        for (kib, passes, length) in [(64, 2, None), (16, 1, Some(16)), (32, 3, Some(64))] {
            let params = Params::new(kib, passes, 1, length).unwrap();
            let plain = Argon2::new(Algorithm::Argon2id, Version::V0x13, params.clone());
            let plain = plain.hash_password_with_salt(b"nove sapos azuis", &[7; 16]).unwrap();
            let id = Some(Algorithm::Argon2id.as_str());
            let version = Some(Version::V0x13.into());
            let made = hasher
                .hash_password_customized(b"nove sapos azuis", &[7; 16], id, version, params)
                .unwrap();
            assert_eq!(made.to_string(), plain.to_string());
            assert!(hasher.verify_password(b"nove sapos azuis", &plain).is_ok());
            assert!(hasher.verify_password(b"dez sapos azuis", &plain).is_err());
        }
    }

    /// R395.
    #[tokio::test]
    async fn all_computations_share_as_many_threads_as_there_are_cores() {
        let two_cores = ArgonPasswords::on_cores(Params::new(16, 1, 1, None).unwrap(), 2);
        let ids = (0..50).map(|_| two_cores.on_thread(|_, _| Ok(thread::current().id())));
        let ids: HashSet<_> = join_all(ids).await.into_iter().map(Result::unwrap).collect();
        assert!(ids.len() <= 2, "{ids:?}");
    }

    /// R395.
    #[tokio::test]
    async fn a_computation_that_panics_fails_alone() {
        let one_core = ArgonPasswords::on_cores(Params::new(16, 1, 1, None).unwrap(), 1);
        for _ in 0..3 {
            let failed = one_core.on_thread(|_, _| -> Result<(), _> { panic!("a defect") }).await;
            assert!(matches!(failed, Err(StoreError::Unavailable(_))), "{failed:?}");
        }
        assert_eq!(one_core.on_thread(|_, _| Ok(7)).await.unwrap(), 7);
    }

    /// R395.
    #[tokio::test]
    async fn work_beyond_the_waiting_places_is_refused_and_a_place_is_free_after_its_work() {
        let params = Params::new(16, 1, 1, None).unwrap();
        let one_core = ArgonPasswords::on_cores(params, 1);
        let turn = Arc::clone(&one_core.turns).acquire_owned().await.unwrap();
        let secret = password("nove sapos azuis");
        let mut waiting: Vec<_> =
            (0..=WAITING_PER_CORE).map(|_| Box::pin(one_core.compare(&secret, None))).collect();
        for work in &mut waiting {
            assert!(futures_util::poll!(work).is_pending());
        }
        let refused = one_core.compare(&secret, None).await;
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
        // One caller goes away, and its place is another's.
        waiting.pop();
        waiting.push(Box::pin(one_core.compare(&secret, None)));
        assert!(futures_util::poll!(waiting.last_mut().unwrap()).is_pending());
        drop(turn);
        for work in waiting {
            assert_eq!(work.await.unwrap(), PasswordVerdict::Wrong);
        }
        assert_eq!(one_core.compare(&secret, None).await.unwrap(), PasswordVerdict::Wrong);
    }
}
