//! What adapters of [`Signals`](super::Signals) have in common: the queues of notifications, their
//! text on the wire, and their collection (R455, R463).

use std::collections::BTreeSet;
use std::fmt::Write;
use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use uuid::Uuid;

use super::QueueKey;
use crate::ids::{CompanyId, WebhookId};

/// The most queues of received notifications that are collected.
const MOST_RECEIVED: usize = 10_000;

/// The queues that a notification is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotifiedQueues {
    /// These.
    These(BTreeSet<QueueKey>),
    /// All of them have to be polled.
    All,
}

impl Default for NotifiedQueues {
    /// None.
    fn default() -> Self {
        Self::These(BTreeSet::new())
    }
}

impl NotifiedQueues {
    /// The length of a queue in a text, in bytes: two ids in hexadecimal digits.
    pub const QUEUE_LENGTH: usize = 64;

    /// What [`Signals::notified`](super::Signals::notified) answers.
    pub fn into_queues(self) -> Option<Vec<QueueKey>> {
        match self {
            Self::These(queues) => Some(queues.into_iter().collect()),
            Self::All => None,
        }
    }

    /// The text of a notification, which has hexadecimal digits only. An empty text means all
    /// queues.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        if let Self::These(queues) = self {
            text.reserve_exact(queues.len() * Self::QUEUE_LENGTH);
            for key in queues {
                let (company, webhook) = (key.company.uuid().simple(), key.webhook.uuid().simple());
                let _ = write!(text, "{company}{webhook}");
            }
        }
        text
    }

    /// Reads a text: all queues if it is empty or cannot be read.
    pub fn of_text(text: &[u8]) -> Self {
        let key = |text: &[u8]| {
            let (company, webhook) = text.split_at_checked(Self::QUEUE_LENGTH / 2)?;
            Some(QueueKey {
                company: CompanyId::new(Uuid::try_parse_ascii(company).ok()?),
                webhook: WebhookId::new(Uuid::try_parse_ascii(webhook).ok()?),
            })
        };
        let queues = text.chunks(Self::QUEUE_LENGTH).map(key).collect::<Option<BTreeSet<_>>>();
        queues.filter(|queues| !queues.is_empty()).map_or(Self::All, Self::These)
    }

    fn is_nothing(&self) -> bool {
        matches!(self, Self::These(queues) if queues.is_empty())
    }

    /// Adds others, up to so many in all; whether that changed anything.
    fn add(&mut self, others: Self, most: usize) -> bool {
        match (&mut *self, others) {
            (Self::All, _) => false,
            (_, Self::All) => {
                *self = Self::All;
                true
            }
            (Self::These(queues), Self::These(others)) => {
                let before = queues.len();
                queues.extend(others);
                let is_changed = queues.len() > before;
                if queues.len() > most {
                    *self = Self::All;
                }
                is_changed
            }
        }
    }
}

#[derive(Debug, Default)]
struct Collected {
    queues: NotifiedQueues,
    wakers: Vec<Waker>,
}

/// Collects the queues of notifications until they are taken.
#[derive(Debug)]
pub struct NotificationQueue {
    collected: Mutex<Collected>,
    most: usize,
}

impl NotificationQueue {
    /// Collects at most so many queues. If there are more, all queues are to be polled.
    pub fn new(most: usize) -> Self {
        Self { collected: Mutex::default(), most }
    }

    /// For notifications that are received.
    pub fn for_received() -> Self {
        Self::new(MOST_RECEIVED)
    }

    /// Adds the queues of a call of [`Signals::notify`](super::Signals::notify): none means all.
    pub fn notify(&self, queues: &[QueueKey]) {
        self.add(match queues {
            [] => NotifiedQueues::All,
            queues => NotifiedQueues::These(queues.iter().copied().collect()),
        });
    }

    /// Adds queues.
    pub fn add(&self, queues: NotifiedQueues) {
        let mut collected = self.lock();
        if !collected.queues.add(queues, self.most) {
            return;
        }
        let wakers = std::mem::take(&mut collected.wakers);
        drop(collected);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// The collected queues, as soon as there is one. A caller that stops waiting loses none.
    pub async fn take(&self) -> NotifiedQueues {
        poll_fn(|context| self.poll_take(context)).await
    }

    fn poll_take(&self, context: &Context<'_>) -> Poll<NotifiedQueues> {
        let mut collected = self.lock();
        if !collected.queues.is_nothing() {
            return Poll::Ready(std::mem::take(&mut collected.queues));
        }
        let waker = context.waker();
        if !collected.wakers.iter().any(|other| other.will_wake(waker)) {
            collected.wakers.push(waker.clone());
        }
        Poll::Pending
    }

    fn lock(&self) -> MutexGuard<'_, Collected> {
        self.collected.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::task::Wake;

    use futures_util::FutureExt;

    use super::*;

    fn key(n: u128) -> QueueKey {
        QueueKey {
            company: CompanyId::new(Uuid::from_u128(n)),
            webhook: WebhookId::new(Uuid::from_u128(n << 64)),
        }
    }

    fn some(queues: impl IntoIterator<Item = QueueKey>) -> NotifiedQueues {
        NotifiedQueues::These(queues.into_iter().collect())
    }

    /// R463.
    #[test]
    fn a_text_is_read_as_it_was_written() {
        for queues in [some((1..=124).map(key)), some([key(7)]), NotifiedQueues::All] {
            assert_eq!(NotifiedQueues::of_text(queues.to_text().as_bytes()), queues);
        }
        assert_eq!(some((1..=124).map(key)).to_text().len(), 124 * NotifiedQueues::QUEUE_LENGTH);
    }

    #[test]
    fn a_text_that_cannot_be_read_stands_for_all() {
        let length = NotifiedQueues::QUEUE_LENGTH;
        for text in ["", "x", "é", &"g".repeat(length), &"0".repeat(length + 1)] {
            assert_eq!(NotifiedQueues::of_text(text.as_bytes()), NotifiedQueues::All);
        }
    }

    #[test]
    fn more_queues_than_fit_are_all_queues() {
        let notified = NotificationQueue::new(3);
        notified.notify(&[1, 2].map(key));
        notified.notify(&[2, 3].map(key));
        assert_eq!(notified.take().now_or_never(), Some(some((1..=3).map(key))));
        notified.notify(&[1, 2, 3, 4].map(key));
        notified.notify(&[key(1)]);
        assert_eq!(notified.take().now_or_never(), Some(NotifiedQueues::All));
        notified.notify(&[]);
        assert_eq!(notified.take().now_or_never(), Some(NotifiedQueues::All));
        assert_eq!(notified.take().now_or_never(), None);
    }

    /// Counts how often it is woken.
    #[derive(Default)]
    struct Counted(Mutex<u32>);

    impl Wake for Counted {
        fn wake(self: std::sync::Arc<Self>) {
            *self.0.lock().expect("nobody panics") += 1;
        }
    }

    #[test]
    fn all_who_wait_are_woken_once_and_remembered_once() {
        let notified = NotificationQueue::for_received();
        let counts = [(); 2].map(|()| std::sync::Arc::new(Counted::default()));
        for count in &counts {
            let waker = Waker::from(count.clone());
            for _ in 0..3 {
                assert!(notified.poll_take(&Context::from_waker(&waker)).is_pending());
            }
        }
        assert_eq!(notified.lock().wakers.len(), 2);
        notified.notify(&[key(1)]);
        notified.notify(&[key(1)]);
        assert_eq!(counts.map(|count| *count.0.lock().expect("nobody panics")), [1, 1]);
    }
}
