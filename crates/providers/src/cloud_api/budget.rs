//! The time of a send, all its steps together.

use std::time::Duration;

use recado_core::transport::Transport;

/// What is kept for the request that sends, at most.
const LONGEST_SEND: Duration = Duration::from_secs(10);

/// The time limit of a send that uploads a file first.
pub(super) struct TimeBudget<'a> {
    transport: &'a dyn Transport,
    began: Option<Duration>,
    whole: Duration,
    has_upload: bool,
}

impl<'a> TimeBudget<'a> {
    pub(super) fn new(transport: &'a dyn Transport, whole: Duration, has_upload: bool) -> Self {
        Self { transport, began: transport.elapsed(), whole, has_upload }
    }

    pub(super) const fn transport(&self) -> &'a dyn Transport {
        self.transport
    }

    /// What is kept for the request that sends.
    fn kept(&self) -> Duration {
        (self.whole / 4).min(LONGEST_SEND)
    }

    fn taken(&self) -> Option<Duration> {
        let (began, now) = self.began.zip(self.transport.elapsed())?;
        Some(now.saturating_sub(began))
    }

    /// How long an upload may take from now on.
    pub(super) fn before_the_send(&self) -> Duration {
        let taken = self.taken().unwrap_or_default();
        self.whole.saturating_sub(self.kept()).saturating_sub(taken)
    }

    /// Whether there is time for one more upload. Without a clock nobody knows.
    pub(super) fn allows_another(&self) -> bool {
        self.taken().is_some() && !self.before_the_send().is_zero()
    }

    /// How long the request that sends may take. Without a clock, an upload counts with all the
    /// time that it was given.
    pub(super) fn for_the_send(&self) -> Duration {
        match self.taken() {
            Some(taken) => self.whole.saturating_sub(taken),
            None if self.has_upload => self.kept(),
            None => self.whole,
        }
    }
}
