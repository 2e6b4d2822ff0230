//! Look-ups of names: one for each name at a time, 64 in all, none of them kept.

use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use async_trait::async_trait;
use recado_core::transport::{Transport, TransportError};
use recado_http_hyper::{ClientOptions, GuardedClient, Network};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};

/// How many look-ups a client has under way.
const UNDER_WAY: usize = 64;

const TIMED_OUT: Result<(), TransportError> =
    Err(TransportError::TimedOut { after_sending: false });

/// A look-up that waits for the test to answer it; dropping it makes the resolver panic.
struct Question {
    name: String,
    port: u16,
    answer: oneshot::Sender<&'static [&'static str]>,
}

impl Question {
    /// Answers with these addresses; with none the look-up fails.
    fn answer(self, addresses: &'static [&'static str]) {
        self.answer.send(addresses).expect("the look-up goes on");
    }
}

/// A network whose names the test resolves, and that connects to nothing.
struct Asking(mpsc::UnboundedSender<Question>);

#[async_trait]
impl Network for Asking {
    async fn resolve(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let (answer, answered) = oneshot::channel();
        let question = Question { name: name.to_owned(), port, answer };
        self.0.send(question).expect("the test listens");
        let addresses = answered.await.expect("an answer");
        if addresses.is_empty() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let address = |text: &&str| SocketAddr::new(text.parse().expect("an address"), port);
        Ok(addresses.iter().map(address).collect())
    }

    async fn connect(&self, _: SocketAddr) -> io::Result<TcpStream> {
        Err(io::ErrorKind::ConnectionRefused.into())
    }
}

fn client() -> (GuardedClient, mpsc::UnboundedReceiver<Question>) {
    let (asking, asked) = mpsc::unbounded_channel();
    (GuardedClient::with_network(ClientOptions::default(), Arc::new(Asking(asking))), asked)
}

/// Lets a caller go as far as it gets, which is into the look-up.
async fn begin(caller: &mut Pin<&mut impl Future<Output = Result<(), TransportError>>>) {
    let polled = poll_fn(|context| Poll::Ready(caller.as_mut().poll(context))).await;
    assert_eq!(polled, Poll::Pending);
}

async fn next(asked: &mut mpsc::UnboundedReceiver<Question>) -> Question {
    asked.recv().await.expect("the client is there")
}

#[tokio::test(start_paused = true)]
async fn the_client_reports_how_time_passes() {
    let (client, _asked) = client();
    let began = client.elapsed().expect("it has a clock");
    tokio::time::advance(Duration::from_secs(3)).await;
    assert_eq!(client.clone().elapsed(), Some(began + Duration::from_secs(3)));
}

#[tokio::test(start_paused = true)]
async fn callers_of_one_name_share_a_look_up() {
    let (client, mut asked) = client();
    let clone = client.clone();
    let mut first = pin!(client.check("http://hook.example/a"));
    let mut second = pin!(clone.check("http://hook.example/b?c"));
    let mut elsewhere = pin!(client.check("http://hook.example:8080/a"));
    begin(&mut first).await;
    begin(&mut second).await;
    begin(&mut elsewhere).await;
    let (one, other) = (next(&mut asked).await, next(&mut asked).await);
    assert_eq!((one.name.as_str(), one.port), ("hook.example", 80));
    assert_eq!((other.name.as_str(), other.port), ("hook.example", 8080));
    one.answer(&["8.8.8.8"]);
    assert_eq!((first.await, second.await), (Ok(()), Ok(())));
    other.answer(&["8.8.8.8"]);
    assert_eq!(elsewhere.await, Ok(()));
    assert!(asked.try_recv().is_err(), "each was asked for once");
}

#[tokio::test(start_paused = true)]
async fn a_shared_answer_is_judged_for_everybody() {
    let (client, mut asked) = client();
    let mut first = pin!(client.check("http://hook.example/"));
    let mut second = pin!(client.check("http://hook.example/"));
    begin(&mut first).await;
    begin(&mut second).await;
    next(&mut asked).await.answer(&["8.8.8.8", "169.254.169.254"]);
    let forbidden = Err(TransportError::Forbidden);
    assert_eq!((first.await, second.await), (forbidden.clone(), forbidden));
    assert!(asked.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_not_kept() {
    let (client, mut asked) = client();
    for (answer, expected) in [
        (&["8.8.8.8"][..], Ok(())),
        (&["127.0.0.1"], Err(TransportError::Forbidden)),
        (&[], Err(TransportError::Dns)),
        (&["8.8.4.4"], Ok(())),
    ] {
        let mut caller = pin!(client.check("http://hook.example/"));
        begin(&mut caller).await;
        next(&mut asked).await.answer(answer);
        assert_eq!(caller.await, expected, "{answer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_leaves_ends_the_look_up_for_nobody() {
    let (client, mut asked) = client();
    let mut first = Box::pin(client.check("http://hook.example/"));
    begin(&mut first.as_mut()).await;
    let question = next(&mut asked).await;
    let mut second = Box::pin(client.check("http://hook.example/"));
    begin(&mut second.as_mut()).await;
    drop(first);
    // Now no caller waits; the look-up goes on, and the next caller joins it.
    drop(second);
    let mut third = pin!(client.check("http://hook.example/"));
    begin(&mut third).await;
    question.answer(&["8.8.8.8"]);
    assert_eq!(third.await, Ok(()));
    assert!(asked.try_recv().is_err(), "it was asked for once");
}

#[tokio::test(start_paused = true)]
async fn a_name_that_does_not_answer_holds_up_no_other() {
    let (client, mut asked) = client();
    let mut held = Vec::new();
    for dead in 1..UNDER_WAY {
        let url = format!("http://dead{dead}.example/");
        // However many call.
        let callers = std::iter::repeat_with(|| client.check(&url)).take(3);
        let (outcome, ..) = futures_util::future::select_all(callers.map(Box::pin)).await;
        assert_eq!(outcome, TIMED_OUT);
        held.push(next(&mut asked).await);
        assert!(asked.try_recv().is_err());
    }
    for _ in 0..3 {
        let mut caller = pin!(client.check("http://hook.example/"));
        begin(&mut caller).await;
        next(&mut asked).await.answer(&["8.8.8.8"]);
        assert_eq!(caller.await, Ok(()));
    }
}

#[tokio::test(start_paused = true)]
async fn look_ups_beyond_the_bound_wait_until_there_is_room_or_nobody_waits() {
    let (client, mut asked) = client();
    let urls: Vec<String> = (0..80).map(|dead| format!("http://dead{dead}.example/")).collect();
    // The test clock advances only when no task can run.
    let outcomes = futures_util::future::join_all(urls.iter().map(|url| client.check(url))).await;
    assert!(outcomes.iter().all(|outcome| *outcome == TIMED_OUT), "{outcomes:?}");
    let mut held = Vec::new();
    while let Ok(question) = asked.try_recv() {
        held.push(question);
    }
    assert_eq!(held.len(), UNDER_WAY);

    let mut caller = pin!(client.check("http://hook.example/"));
    begin(&mut caller).await;
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert!(asked.try_recv().is_err(), "callers that left have not made room");
    held.pop().expect("one").answer(&[]);
    let question = next(&mut asked).await;
    assert_eq!(question.name, "hook.example", "what nobody waits for is not looked up");
    question.answer(&["8.8.8.8"]);
    assert_eq!(caller.await, Ok(()));
    assert!(asked.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn a_resolver_that_breaks_down_does_so_for_its_callers_only() {
    let (client, mut asked) = client();
    // More often than there is room.
    for _ in 0..=UNDER_WAY {
        let mut caller = pin!(client.check("http://hook.example/"));
        begin(&mut caller).await;
        drop(next(&mut asked).await);
        assert_eq!(caller.await, Err(TransportError::Dns));
    }
    let mut caller = pin!(client.check("http://hook.example/"));
    begin(&mut caller).await;
    next(&mut asked).await.answer(&["8.8.8.8"]);
    assert_eq!(caller.await, Ok(()));
}
