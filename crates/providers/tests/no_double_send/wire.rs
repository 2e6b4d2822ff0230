//! The network between the core and a gateway: slow, lossy, and sometimes late.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use async_trait::async_trait;
use recado_core::transport::{OutboundRequest, OutboundResponse, Transport, TransportError};

use crate::dice::Dice;
use crate::gateway::Fake;

/// The state of the network.
#[derive(Debug, Default)]
struct Log {
    /// The mark of every request that sends, in order.
    sends: Vec<String>,
    /// Requests that are still under way although their sender has stopped waiting.
    late: Vec<OutboundRequest>,
    /// How many requests that send have reached the gateway.
    arrived: usize,
    /// Whether failures are turned off.
    calm: bool,
}

/// The network to a gateway. Clones share everything.
#[derive(Clone, Debug)]
pub struct Wire {
    fake: Fake,
    dice: Dice,
    log: Arc<Mutex<Log>>,
}

/// Yields to other tasks so many times.
struct Pause(usize);

impl Future for Pause {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.0 == 0 {
            return Poll::Ready(());
        }
        self.0 -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// A request under way: it may arrive although its sender has died.
struct Travelling<'a> {
    wire: &'a Wire,
    request: Option<OutboundRequest>,
}

impl Drop for Travelling<'_> {
    fn drop(&mut self) {
        if let Some(request) = self.request.take()
            && self.wire.dice.one_in(2)
        {
            self.wire.log().late.push(request);
        }
    }
}

impl Wire {
    pub fn new(fake: Fake, dice: Dice) -> Self {
        Self { fake, dice, log: Arc::default() }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The mark of every request that sends, in order.
    pub fn sends(&self) -> Vec<String> {
        self.log().sends.clone()
    }

    /// Turns failures off.
    pub fn calm(&self) {
        self.log().calm = true;
    }

    /// How many requests that send have reached the gateway.
    pub fn arrived(&self) -> usize {
        self.log().arrived
    }

    /// Takes out a request whose sender has stopped waiting, so that the gateway gets it.
    pub fn take_late(&self) -> Option<OutboundRequest> {
        let mut log = self.log();
        if log.late.is_empty() {
            return None;
        }
        let index = self.dice.below(log.late.len());
        log.arrived += 1;
        Some(log.late.swap_remove(index))
    }

    /// Lets some time pass, in which other tasks go on.
    pub async fn pause(&self) {
        Pause(self.dice.below(3)).await;
    }

    /// Why a request that sends nothing gets no answer, if it gets none.
    pub fn lost(&self) -> Option<TransportError> {
        self.mishap().map(|(error, _)| error)
    }

    /// What happens to a request before it arrives: an error that the sender sees at once, and
    /// whether the request arrives later.
    fn mishap(&self) -> Option<(TransportError, bool)> {
        let after_sending = true;
        if self.log().calm || !self.dice.one_in(6) {
            return None;
        }
        Some(match self.dice.below(9) {
            0 => (TransportError::Refused, false),
            1 => (TransportError::Dns, false),
            2 => (TransportError::Tls, false),
            3 => (TransportError::TimedOut { after_sending: false }, false),
            4 => (TransportError::Broken { after_sending: false }, false),
            5 => (TransportError::TimedOut { after_sending }, false),
            6 => (TransportError::Broken { after_sending }, false),
            7 => (TransportError::Broken { after_sending }, true),
            _ => (TransportError::TimedOut { after_sending }, true),
        })
    }
}

#[async_trait]
impl Transport for Wire {
    async fn send(&self, request: OutboundRequest) -> Result<OutboundResponse, TransportError> {
        let is_send = self.fake.is_send(&request);
        if is_send {
            let body = request.whole_body().await.expect("its file is there");
            self.log().sends.push(self.fake.mark_in(&body));
        }
        let mut travelling = Travelling { wire: self, request: is_send.then(|| request.clone()) };
        self.pause().await;
        let mishap = self.mishap();
        travelling.request = None;
        if let Some((error, arrives)) = mishap {
            if arrives && is_send {
                self.log().late.push(request);
            }
            Pause(self.dice.below(4)).await;
            return Err(error);
        }
        if is_send {
            self.log().arrived += 1;
            if !self.log().calm {
                self.fake.script(self.fake.behaviour(&self.dice));
            }
        }
        if self.fake.is_upload(&request) && !self.log().calm {
            self.fake.script_upload(&self.dice);
        }
        let answer = self.fake.send(request).await;
        Pause(self.dice.below(5)).await;
        answer
    }

    async fn check(&self, _url: &str) -> Result<(), TransportError> {
        Ok(())
    }
}
