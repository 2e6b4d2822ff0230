//! How often a wrong password may be tried (R398).

use std::net::IpAddr;
use std::time::Duration;

use super::{Accounts, AttemptSpan, LoginEmailHash};
use crate::access::{ClientNet, Gcra, RateCheck, RateDecision, RateKey};
use crate::store::StoreError;

/// How many wrong attempts one client may make in a quarter of an hour.
const OF_CLIENT: u32 = 30;
const QUARTER: Duration = Duration::from_secs(15 * 60);

/// How many wrong attempts at one address may be made in a span (R398).
const fn allowance(span: AttemptSpan) -> Gcra {
    match span {
        AttemptSpan::Quarter => Gcra::over(QUARTER, 5),
        AttemptSpan::Hours => Gcra::over(Duration::from_secs(4 * 60 * 60), 20),
    }
}

/// What attempts are counted by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempt {
    email: Option<LoginEmailHash>,
    client: Option<ClientNet>,
}

impl Attempt {
    /// An attempt that shows no address: it is counted by who asks alone.
    pub(super) fn of_client(client: Option<IpAddr>) -> Self {
        Self { email: None, client: client.map(ClientNet::of) }
    }

    fn checks(self, map: impl Fn(Gcra) -> Gcra) -> Vec<RateCheck> {
        let spans = self.email.into_iter().flat_map(|email| {
            AttemptSpan::ALL.map(|span| (RateKey::SignIn(email, span), allowance(span)))
        });
        let client = self
            .client
            .map(|client| (RateKey::SignInClient(client), Gcra::over(QUARTER, OF_CLIENT)));
        let all = spans.chain(client);
        all.map(|(key, allowance)| RateCheck { key, allowance: map(allowance) }).collect()
    }
}

impl Accounts<'_> {
    /// An attempt to show the password of an address.
    pub(super) async fn attempt(
        &self,
        email: &str,
        client: Option<IpAddr>,
    ) -> Result<Attempt, StoreError> {
        let key = self.app.hash_key().await?;
        let email = LoginEmailHash::of(key, email.as_bytes());
        Ok(Attempt { email: Some(email), ..Attempt::of_client(client) })
    }

    /// The wait before an attempt is looked at; `None` for none. A wrong one is charged. A right
    /// one waits for its turn like a wrong one but is not charged, so that many at once are no
    /// guesses (R398).
    pub(super) async fn wait_for(
        &self,
        attempt: Attempt,
        is_right: bool,
    ) -> Result<Option<Duration>, StoreError> {
        let checks = attempt.checks(|gcra| if is_right { gcra.uncounted() } else { gcra });
        Ok(match self.app.limiter().check(&checks, self.app.now()).await? {
            RateDecision::Allowed => None,
            RateDecision::Limited { retry_after } => Some(retry_after),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    /// How long the attempt after so many wrong ones waits, each made as soon as it may be.
    fn wait_after(attempts: u32) -> Duration {
        let (mut now, mut states) = (Timestamp::from_millis(1_000_000), [None; 2]);
        let decide = |states: &[Option<i64>; 2], now| -> [Result<i64, Duration>; 2] {
            [0, 1].map(|n| allowance(AttemptSpan::ALL[n]).decide(states[n], now))
        };
        let longest = |decided: &[Result<i64, Duration>; 2]| {
            decided.iter().filter_map(|one| one.err()).max().unwrap_or_default()
        };
        for _ in 0..attempts {
            now = now.plus(longest(&decide(&states, now)));
            states = decide(&states, now).map(Result::ok);
        }
        longest(&decide(&states, now))
    }

    /// R398.
    #[test]
    fn the_wait_grows_with_wrong_attempts_and_never_becomes_a_lock() {
        let minutes = |n: u64| Duration::from_secs(n * 60);
        for (attempts, wait) in [(0, 0), (4, 0), (5, 3), (6, 3), (30, 12), (500, 12)] {
            assert_eq!(wait_after(attempts), minutes(wait), "{attempts}");
        }
    }
}
