//! Wrong operator tokens (R181).

use super::{Access, ClientNet, Gcra, RateCheck, RateDecision, RateKey};
use crate::store::StoreError;

/// How many operator tokens a client may try at once, and in a minute.
const GUESSES_PER_MINUTE: u32 = 20;

impl Access<'_> {
    /// Charges an operator token that a client tries to the client's allowance, 20 a minute (R181).
    ///
    /// # Errors
    ///
    /// When the shared state cannot be reached.
    pub async fn charge_operator_guess(
        &self,
        client: ClientNet,
    ) -> Result<RateDecision, StoreError> {
        let allowance = Gcra::per_minute(GUESSES_PER_MINUTE);
        let check = RateCheck { key: RateKey::OperatorGuess(client), allowance };
        self.app.limiter().check(&[check], self.app.now()).await
    }
}
