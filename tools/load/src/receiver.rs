//! Receivers of webhooks in their own process: many that answer at once and record the arrivals,
//! and some faulty ones.

mod arrival;
mod faulty;

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

use crate::clock::micros;
use crate::stores::AnyError;

pub(crate) use arrival::{Arrival, text_of_mark};
use arrival::{delivery_of, mark_of};

/// The most receivers of a kind.
const MAX_RECEIVERS: u16 = 500;
/// How many arrivals one answer has at most.
pub(crate) const TAKEN_AT_ONCE: usize = 100_000;

/// Which receivers to be.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct Order {
    /// Receivers that answer 204 at once.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(..=i64::from(MAX_RECEIVERS)))]
    pub(crate) healthy: u16,
    /// Addresses that refuse connections.
    #[arg(long, default_value_t = 0)]
    pub(crate) dead: u16,
    /// Receivers that accept and never answer.
    #[arg(long, default_value_t = 0)]
    pub(crate) silent: u16,
    /// Receivers that answer after nine seconds.
    #[arg(long, default_value_t = 0)]
    pub(crate) slow: u16,
    /// Receivers that answer with a body without end.
    #[arg(long, default_value_t = 0)]
    pub(crate) flooding: u16,
}

/// The addresses of the receivers, printed as one line of JSON when all are listening.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Addresses {
    /// The address that answers what has arrived.
    pub(crate) control: String,
    pub(crate) healthy: Vec<String>,
    pub(crate) dead: Vec<String>,
    pub(crate) silent: Vec<String>,
    pub(crate) slow: Vec<String>,
    pub(crate) flooding: Vec<String>,
}

/// The arrivals that were not taken yet.
type Arrivals = Arc<Mutex<Seen>>;

#[derive(Debug, Default)]
struct Seen {
    count: u64,
    untaken: Vec<Arrival>,
}

/// Runs until standard input ends, which also happens when the starting process ends.
///
/// # Errors
///
/// When it cannot listen.
pub(crate) async fn serve(order: &Order) -> Result<(), AnyError> {
    let arrivals = Arrivals::default();
    let control = listen().await?;
    let mut addresses = Addresses {
        control: url(&control)?,
        healthy: Vec::new(),
        dead: Vec::new(),
        silent: Vec::new(),
        slow: Vec::new(),
        flooding: Vec::new(),
    };
    tokio::spawn(accept(control, {
        let arrivals = arrivals.clone();
        move |request| tell(request, arrivals.clone())
    }));
    for number in 0..order.healthy {
        let listener = listen().await?;
        addresses.healthy.push(hook(&listener)?);
        let arrivals = arrivals.clone();
        tokio::spawn(accept(listener, move |request| note(request, number, arrivals.clone())));
    }
    for _ in 0..order.slow {
        let listener = listen().await?;
        addresses.slow.push(hook(&listener)?);
        tokio::spawn(accept(listener, faulty::slow));
    }
    for _ in 0..order.silent {
        let listener = listen().await?;
        addresses.silent.push(hook(&listener)?);
        tokio::spawn(faulty::silent(listener));
    }
    for _ in 0..order.flooding {
        let listener = listen().await?;
        addresses.flooding.push(hook(&listener)?);
        tokio::spawn(faulty::flooding(listener));
    }
    let mut dead = Vec::new();
    for _ in 0..order.dead {
        let (socket, address) = faulty::dead()?;
        addresses.dead.push(format!("http://{address}/hook"));
        dead.push(socket);
    }
    println!("{}", serde_json::to_string(&addresses)?);
    let mut end = Vec::new();
    tokio::io::stdin().read_to_end(&mut end).await?;
    Ok(())
}

async fn listen() -> std::io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await
}

fn url(listener: &TcpListener) -> std::io::Result<String> {
    Ok(format!("http://{}", listener.local_addr()?))
}

fn hook(listener: &TcpListener) -> std::io::Result<String> {
    Ok(format!("{}/hook", url(listener)?))
}

type Answered = Result<Response<Full<Bytes>>, Infallible>;

fn answer(status: StatusCode, body: impl Into<Bytes>) -> Answered {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    Ok(response)
}

/// Serves every connection, with keep-alive.
async fn accept<F, A>(listener: TcpListener, service: F)
where
    F: Fn(Request<Incoming>) -> A + Clone + Send + 'static,
    A: Future<Output = Answered> + Send + 'static,
{
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        // If the option cannot be set, the connection is only slower.
        let _ = stream.set_nodelay(true);
        let service = service_fn(service.clone());
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        tokio::spawn(async move { drop(connection.await) });
    }
}

/// Records a delivery. It counts as arrived when its head was read.
async fn note(request: Request<Incoming>, receiver: u16, arrivals: Arrivals) -> Answered {
    let at = micros();
    let delivery = delivery_of(request.headers());
    let Ok(body) = request.into_body().collect().await else {
        return answer(StatusCode::BAD_REQUEST, "");
    };
    let mark = mark_of(&body.to_bytes());
    let mut seen = arrivals.lock().unwrap_or_else(PoisonError::into_inner);
    seen.count += 1;
    seen.untaken.push(Arrival { at, mark, delivery, receiver });
    answer(StatusCode::NO_CONTENT, "")
}

/// `GET /count` answers how many have arrived since the start. `POST /take` answers the next
/// arrivals that were not taken yet.
async fn tell(request: Request<Incoming>, arrivals: Arrivals) -> Answered {
    let path = request.uri().path().to_owned();
    let mut seen = arrivals.lock().unwrap_or_else(PoisonError::into_inner);
    match path.as_str() {
        "/count" => answer(StatusCode::OK, seen.count.to_string()),
        "/take" => {
            let next = seen.untaken.len().min(TAKEN_AT_ONCE);
            let taken: Vec<u8> = seen.untaken.drain(..next).flat_map(Arrival::to_bytes).collect();
            answer(StatusCode::OK, taken)
        }
        _ => answer(StatusCode::NOT_FOUND, ""),
    }
}
