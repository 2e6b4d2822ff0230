//! Passwords for tests: hashes of the form of real ones, cheap to compute and counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use recado_core::accounts::{Password, PasswordHash, PasswordVerdict, Passwords};
use recado_core::store::StoreError;
use sha2::{Digest, Sha256};

/// Hashes passwords by one SHA-256, written as argon2id is. Clones share what they count.
#[derive(Clone, Debug, Default)]
pub struct TestPasswords(Arc<State>);

#[derive(Debug, Default)]
struct State {
    passes: AtomicU32,
    hashed: AtomicU32,
    compared: AtomicU32,
}

impl TestPasswords {
    /// With the least parameters.
    pub fn new() -> Self {
        Self::default()
    }

    /// Raises the parameters of new hashes by one.
    pub fn raise(&self) {
        self.0.passes.fetch_add(1, Ordering::Relaxed);
    }

    /// How many hashes were made, and how many passwords were compared, with a hash or without.
    pub fn counted(&self) -> (u32, u32) {
        (self.0.hashed.load(Ordering::Relaxed), self.0.compared.load(Ordering::Relaxed))
    }

    fn prefix(&self) -> String {
        format!("$argon2id$v=19$m=8,t={},p=1$", 1 + self.0.passes.load(Ordering::Relaxed))
    }
}

/// What stands behind the parameters: salt and hash.
fn tail(password: &Password, salt: &str) -> String {
    let digest = Sha256::digest(format!("{salt}:{}", password.expose()));
    let hash: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{salt}${hash}")
}

#[async_trait]
impl Passwords for TestPasswords {
    async fn hash(&self, password: &Password, salt: [u8; 16]) -> Result<PasswordHash, StoreError> {
        self.0.hashed.fetch_add(1, Ordering::Relaxed);
        let salt: String = salt.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(PasswordHash::from_stored(format!("{}{}", self.prefix(), tail(password, &salt))))
    }

    async fn compare(
        &self,
        password: &Password,
        hash: Option<&PasswordHash>,
    ) -> Result<PasswordVerdict, StoreError> {
        self.0.compared.fetch_add(1, Ordering::Relaxed);
        let Some(hash) = hash else { return Ok(PasswordVerdict::Wrong) };
        let parts: Vec<&str> = hash.expose().splitn(5, '$').collect();
        let kept = parts.get(4).ok_or_else(|| StoreError::corrupt("no hash of a password"))?;
        let salt = kept.split('$').next().unwrap_or_default();
        if *kept != tail(password, salt) {
            return Ok(PasswordVerdict::Wrong);
        }
        let is_new = hash.expose().starts_with(&self.prefix());
        Ok(if is_new { PasswordVerdict::Right } else { PasswordVerdict::RightAndWeak })
    }
}
