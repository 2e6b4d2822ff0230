//! Receives webhooks of Recado and prints what they tell.
//!
//! ```sh
//! WEBHOOK_SECRET=whsec_… cargo run -p webhook-receiver
//! ```
//!
//! During a rotation set `WEBHOOK_SECRET_OLD` too. `LISTEN` is where to listen; 127.0.0.1:4000
//! otherwise.
#![forbid(unsafe_code)]

use std::error::Error;

use tokio::sync::mpsc::{Receiver as Events, channel};
use webhook_receiver::{Event, Receiver, Secrets, receiver};

/// How many events wait to be worked on, and how many deliveries are remembered.
const WAITING: usize = 1_000;
const REMEMBERED: usize = 10_000;

/// The work, after the answer. This example only prints, and a crash loses what waits in memory: a
/// receiver that must not lose anything writes the event to its database or queue before it answers,
/// which is still fast, and works from there.
async fn work(mut events: Events<Event>) {
    while let Some(event) = events.recv().await {
        println!("{} {} {}", event.timestamp, event.event, event.data);
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let secrets = ["WEBHOOK_SECRET", "WEBHOOK_SECRET_OLD"]
        .map(|name| std::env::var(name).unwrap_or_default());
    let secrets = Secrets::new(secrets);
    if secrets.is_empty() {
        return Err("set WEBHOOK_SECRET to the secret that the webhook was made with".into());
    }
    let listen = std::env::var("LISTEN").unwrap_or_else(|_| "127.0.0.1:4000".to_owned());
    let (sender, events) = channel(WAITING);
    let working = tokio::spawn(work(events));
    let listener = tokio::net::TcpListener::bind(listen).await?;
    println!("listening on http://{}", listener.local_addr()?);
    let stop = async {
        // Without a signal handler there is nothing to wait for.
        let _ = tokio::signal::ctrl_c().await;
    };
    let app = receiver(Receiver::new(secrets, REMEMBERED, sender));
    axum::serve(listener, app).with_graceful_shutdown(stop).await?;
    // The last sender went with the server: what waits is worked off.
    Ok(working.await?)
}
