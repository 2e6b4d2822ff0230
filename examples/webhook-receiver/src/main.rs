//! Receives webhooks of Recado and prints their events.
//!
//! ```sh
//! WEBHOOK_SECRET=whsec_… cargo run -p webhook-receiver
//! ```
//!
//! During a rotation set `WEBHOOK_SECRET_OLD` too. `LISTEN` is the address to listen on;
//! 127.0.0.1:4000 by default.
#![forbid(unsafe_code)]

use std::error::Error;

use tokio::sync::mpsc::{Receiver as Events, channel};
use webhook_receiver::{Event, Receiver, Secrets, receiver};

/// How many events may wait for processing, and how many deliveries are remembered.
const WAITING: usize = 1_000;
const REMEMBERED: usize = 10_000;

/// Processes events after the answer. This example only prints, and a crash loses the events in
/// memory. A receiver that must not lose events writes them to its database or queue before it
/// answers, which is still fast, and processes them from there.
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
        // Without a signal handler there is no signal to wait for.
        let _ = tokio::signal::ctrl_c().await;
    };
    let app = receiver(Receiver::new(secrets, REMEMBERED, sender));
    axum::serve(listener, app).with_graceful_shutdown(stop).await?;
    // The last sender was dropped with the server: the waiting events are processed.
    Ok(working.await?)
}
