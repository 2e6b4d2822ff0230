//! What happens in a company as server-sent events, without contents (R423).

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderName, Response};
use http_body_util::StreamBody;
use hyper::body::Frame;
use recado_core::access::OperatorAction;
use recado_core::events::{Change, JournalPosition};
use tokio::sync::{broadcast, mpsc};
use tokio::time::{interval, timeout};

use super::seats::{AT_ONCE, Seat, true_in};
use crate::ask::Ask;
use crate::body::ConsoleBody;
use crate::refusal::Refusal;
use crate::reply::{Outcome, Reply};
use crate::service::Shared;
use crate::visit::Visit;

/// How often something is sent when nothing happens, so that a connection that broke is noticed.
const HEARTBEAT: Duration = Duration::from_secs(20);
/// How often the session and the role are looked at again.
const CHECK: Duration = Duration::from_secs(60);
/// How long a browser may take to read one event.
const SLOW: Duration = Duration::from_secs(30);
/// How many portions of the journal a page reads that was away. After more it loads itself again.
const PORTIONS: usize = 5;

/// Where a page that is made now begins to listen.
///
/// # Errors
///
/// Only of the store.
pub(crate) async fn position(visit: &Visit) -> Result<String, Refusal> {
    Ok(visit.recado.events().position_now(visit.company.id).await?)
}

/// R423. The stream of events after the one that the browser heard last, or after the position of
/// its page, or from now on.
pub(super) async fn live(ask: Ask) -> Outcome {
    let Ask { visit, query, headers, shared, .. } = ask;
    let seat = shared.listening.sit(visit.member.as_ref().map(|m| m.id), &shared.options);
    let seat = seat.ok_or(Refusal::Unavailable)?;
    let heard = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let given = heard.filter(|text| !text.is_empty()).or_else(|| query.filled("after"));
    let after = match given {
        Some(given) => given.to_owned(),
        None => position(&visit).await?,
    };
    // A position of another company is refused before the stream begins.
    visit.recado.events().changes(visit.company.id, &after, 1).await?;
    let (out, body) = mpsc::channel(16);
    let page = Listener { visit, shared, out, after, at: JournalPosition::default() };
    tokio::spawn(page.run(seat));
    let frames = futures_util::stream::unfold(body, |mut body| async move {
        let bytes: Bytes = body.recv().await?;
        Some((Ok::<_, Infallible>(Frame::data(bytes)), body))
    });
    let response = Response::builder()
        .header(CONTENT_TYPE, "text/event-stream; charset=utf-8")
        .header(CACHE_CONTROL, "no-store, no-transform")
        // A proxy passes each event on at once.
        .header(HeaderName::from_static("x-accel-buffering"), "no")
        .body(ConsoleBody::of(StreamBody::new(frames)))
        .expect("the headers are written in this file");
    Ok(Reply::Raw(response))
}

/// The page does not listen any more, or may not.
struct Gone;

/// A page that listens.
struct Listener {
    visit: Visit,
    shared: Arc<Shared>,
    out: mpsc::Sender<Bytes>,
    after: String,
    at: JournalPosition,
}

impl Listener {
    async fn run(mut self, seat: Seat) {
        // Why it ended makes no difference: the browser connects again, and is told.
        let _: Result<(), Gone> = self.listen().await;
        drop(seat);
    }

    async fn listen(&mut self) -> Result<(), Gone> {
        self.send("retry: 3000\n\n".to_owned()).await?;
        self.catch_up().await?;
        let shared = Arc::clone(&self.shared);
        let company = self.visit.company.id;
        let mut heard = shared.listening.hear(&self.visit.recado, company, &self.after);
        self.catch_up().await?;
        let mut ended = shared.listening.ended();
        let (mut beat, mut check) = (interval(HEARTBEAT), interval(CHECK));
        beat.reset();
        check.reset();
        let out = self.out.clone();
        loop {
            tokio::select! {
                () = out.closed() => return Err(Gone),
                () = true_in(&mut ended) => return Err(Gone),
                _ = check.tick() => self.check().await?,
                _ = beat.tick() => self.send(":\n\n".to_owned()).await?,
                change = heard.recv() => match change {
                    Ok(change) => self.tell(&change).await?,
                    Err(broadcast::error::RecvError::Lagged(_)) => self.catch_up().await?,
                    Err(broadcast::error::RecvError::Closed) => return Err(Gone),
                },
            }
        }
    }

    /// R423. Whether the session goes on, and the role still includes what is told.
    async fn check(&self) -> Result<(), Gone> {
        let accounts = self.visit.recado.accounts();
        // While the store cannot say, nobody is told anything.
        let found = accounts.session_as_it_is(&self.visit.session).await.map_err(|_| Gone)?;
        let signed_in = found.filter(|found| found.company == self.visit.company.id).ok_or(Gone)?;
        let needed = OperatorAction::ListOperatorContacts;
        signed_in.operator().require(needed).map_err(|_| Gone)
    }

    /// Tells what the journal has after the last event that was told.
    async fn catch_up(&mut self) -> Result<(), Gone> {
        let company = self.visit.company.id;
        for _ in 0..PORTIONS {
            let events = self.visit.recado.events();
            let found = events.changes(company, &self.after, AT_ONCE).await.map_err(|_| Gone)?;
            for change in &found {
                self.tell(change).await?;
            }
            if found.len() < usize::try_from(AT_ONCE).unwrap_or(usize::MAX) {
                return Ok(());
            }
        }
        // It was away for long: one event about everything stands for all that it missed.
        self.after = position(&self.visit).await.map_err(|_| Gone)?;
        self.send(format!("id: {}\ndata: {{}}\n\n", self.after)).await
    }

    async fn tell(&mut self, change: &Change) -> Result<(), Gone> {
        if change.at <= self.at {
            return Ok(());
        }
        self.at = change.at;
        self.after.clone_from(&change.position);
        let contact = change.contact.map(|contact| contact.to_string());
        let data = serde_json::json!({ "type": change.event, "contact_id": contact });
        self.send(format!("id: {}\ndata: {data}\n\n", change.position)).await
    }

    async fn send(&self, text: String) -> Result<(), Gone> {
        let sent = timeout(SLOW, self.out.send(Bytes::from(text))).await;
        sent.map_err(|_| Gone)?.map_err(|_| Gone)
    }
}
