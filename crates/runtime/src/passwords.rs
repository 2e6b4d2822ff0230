//! Passwords by argon2id, on threads of their own (R395, R396).

use std::fmt;
use std::num::NonZero;
use std::sync::Arc;
use std::thread::available_parallelism;

use argon2::password_hash::phc::PasswordHash as Phc;
use argon2::password_hash::{Error, PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use async_trait::async_trait;
use recado_core::accounts::{Password, PasswordHash, PasswordVerdict, Passwords};
use recado_core::store::StoreError;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// What OWASP recommends for argon2id: 19 MiB and two passes in one lane.
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;

/// How many computations may wait for each core: a second or two of work.
const WAITING_PER_CORE: usize = 64;

/// Hashes passwords with argon2id, as many at once as the machine has cores (R395). Each takes
/// 19 MiB of memory and some tens of milliseconds with the usual parameters. At most 64 wait for
/// each core; more are refused at once, so that a flood of them does not grow without bound.
#[derive(Clone, Debug)]
pub struct ArgonPasswords {
    params: Params,
    turns: Arc<Semaphore>,
    /// One for each computation that waits or is under way.
    places: Arc<Semaphore>,
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
        Self::on_cores(params, available_parallelism().map_or(1, NonZero::get))
    }

    fn on_cores(params: Params, cores: usize) -> Self {
        let places = cores.saturating_mul(WAITING_PER_CORE + 1).min(Semaphore::MAX_PERMITS);
        Self {
            params,
            turns: Arc::new(Semaphore::new(cores)),
            places: Arc::new(Semaphore::new(places)),
        }
    }

    /// Computes on a thread that may block, when it is its turn; unavailable if too many wait
    /// (R395).
    async fn on_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce(Params) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let places = Arc::clone(&self.places);
        let place = places.try_acquire_owned().map_err(|_| StoreError::unavailable(TooManyWait))?;
        let turn =
            Arc::clone(&self.turns).acquire_owned().await.map_err(StoreError::unavailable)?;
        let params = self.params.clone();
        // The turn goes with the work: it goes on if nobody waits for it any more.
        let work = spawn_blocking(move || {
            let _held = (turn, place);
            work(params)
        });
        work.await.map_err(StoreError::unavailable)?
    }
}

fn hashed(params: Params, password: &Password, salt: &[u8]) -> Result<Phc, StoreError> {
    let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let made = argon.hash_password_with_salt(password.expose().as_bytes(), salt);
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
        let made = self.on_thread(move |params| hashed(params, &password, &salt)).await?;
        Ok(PasswordHash::from_stored(made.to_string()))
    }

    async fn compare(
        &self,
        password: &Password,
        hash: Option<&PasswordHash>,
    ) -> Result<PasswordVerdict, StoreError> {
        let (password, hash) = (password.clone(), hash.cloned());
        self.on_thread(move |params| {
            let Some(hash) = hash else {
                hashed(params, &password, &[0; 16])?;
                return Ok(PasswordVerdict::Wrong);
            };
            let hash = Phc::new(hash.expose()).map_err(StoreError::corrupt)?;
            match Argon2::default().verify_password(password.expose().as_bytes(), &hash) {
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
