//! Wrong operator tokens (R181).

use super::{ClientNet, Entrance, Gcra, RateCheck, RateDecision, RateKey};
use crate::store::StoreError;

/// How many operator tokens a client may try at once, and in a minute.
const GUESSES_PER_MINUTE: u32 = 20;

impl Entrance<'_> {
    /// Whether the operator token that a client shows may be looked at: a client may show 20 wrong
    /// ones a minute. A wrong one is charged to that; a right one waits for its turn like a wrong
    /// one, but is not charged, so that many at once are no guesses (R181).
    ///
    /// # Errors
    ///
    /// When the shared state cannot be reached.
    pub async fn check_operator_token(
        &self,
        client: ClientNet,
        is_right: bool,
    ) -> Result<RateDecision, StoreError> {
        let guesses = Gcra::per_minute(GUESSES_PER_MINUTE);
        let allowance = if is_right { guesses.uncounted() } else { guesses };
        let check = RateCheck { key: RateKey::OperatorGuess(client), allowance };
        self.app.limiter().check(&[check], self.app.now()).await
    }
}
