//! What a connection is doing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use crate::places::Place;

/// A head is expected, or has begun.
pub(super) const HEAD: u8 = 0;
/// A request is being answered.
pub(super) const BUSY: u8 = 1;
/// All of the answer is made, and not all of it written.
pub(super) const WRITING: u8 = 2;
/// The same, and the next head has begun.
pub(super) const WRITING_AND_HEAD: u8 = 3;
/// The next head may begin.
const IDLE: u8 = 4;

/// What a connection is doing; set by the service and its [`TimedIo`], and told to its place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Phase(Arc<Doing>);

#[derive(Debug, Default)]
struct Doing {
    now: AtomicU8,
    /// Odd while a file is the last answer, and another number for each.
    answer: AtomicU64,
    place: Option<Place>,
}

impl Phase {
    /// The phases of the connection that has this place.
    pub(crate) fn of(place: Place) -> Self {
        Self(Arc::new(Doing { place: Some(place), ..Doing::default() }))
    }

    /// A request was read and is being answered; its body has a limit of its own.
    pub(crate) fn busy(&self) {
        self.set(BUSY);
        if let Some(place) = &self.0.place {
            place.busy();
        }
    }

    /// The head of the answer is made. A file has to be read at the pace (R192).
    pub(crate) fn answers(&self, is_file: bool) {
        let last = self.0.answer.load(Ordering::Relaxed);
        let next = last + if is_file { 1 + last % 2 } else { last % 2 };
        self.0.answer.store(next, Ordering::Relaxed);
    }

    /// The whole answer was handed over to be written.
    pub(crate) fn answered(&self) {
        self.set(WRITING);
    }

    /// Nothing is under way any more.
    pub(crate) fn idle(&self) {
        self.rest(IDLE);
    }

    /// Whether nothing is lost if the connection is closed now.
    pub(crate) fn is_idle(&self) -> bool {
        matches!(self.get(), HEAD | IDLE)
    }

    /// Whether a request is being answered, and its answer not made yet.
    pub(crate) fn is_busy(&self) -> bool {
        self.get() == BUSY
    }

    /// Ends when the connection is asked to make room for another.
    pub(crate) async fn asked_to_go(&self) {
        match &self.0.place {
            Some(place) => place.asked_to_go().await,
            None => std::future::pending().await,
        }
    }

    /// Everything was written. Returns whether that ends an answer.
    pub(super) fn written(&self) -> bool {
        match self.get() {
            WRITING => self.rest(IDLE),
            WRITING_AND_HEAD => self.rest(HEAD),
            _ => return false,
        }
        true
    }

    /// Bytes were read. The first ones after an idle time begin a head.
    pub(super) fn read(&self) -> bool {
        match self.get() {
            IDLE => self.set(HEAD),
            WRITING => self.set(WRITING_AND_HEAD),
            _ => return false,
        }
        true
    }

    fn rest(&self, phase: u8) {
        self.set(phase);
        if let Some(place) = &self.0.place {
            place.idle();
        }
    }

    fn set(&self, phase: u8) {
        self.0.now.store(phase, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> u8 {
        self.0.now.load(Ordering::Relaxed)
    }

    /// The number of the answer that is being written, if it is a file.
    pub(super) fn file(&self) -> Option<u64> {
        let answer = self.0.answer.load(Ordering::Relaxed);
        (answer % 2 == 1).then_some(answer)
    }
}
