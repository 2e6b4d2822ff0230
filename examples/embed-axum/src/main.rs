//! Recado inside an axum application: the application's routes and Recado's in one process, on one
//! port.
//!
//! ```sh
//! cargo run -p embed-axum
//! curl -s http://127.0.0.1:3000/operator/v1/companies -H 'Authorization: Bearer change-me'
//! curl -s http://127.0.0.1:3000/hello -H 'Authorization: Bearer <an API key>'
//! ```
#![forbid(unsafe_code)]

use std::{error::Error, net::SocketAddr, sync::Arc};

use axum::{Router, extract::State, routing::get};
use recado::console::{Console, ConsoleOptions};
use recado::http::{ApiCaller, ApiError, HttpOptions, RecadoHttp};
use recado::secret::SecretText;
use recado::{Acting, Background, Installation, Settings, SqliteStore};

/// A route of the application: an API key identifies the caller, and errors have the form of the
/// API.
async fn hello(caller: ApiCaller, State(core): State<Installation>) -> Result<String, ApiError> {
    let recado = core.by(Acting::caller(&caller, "hello"));
    let company = recado.access().company(caller.company()).await?;
    Ok(format!("Hello, {}\n", company.name))
}

/// The application: its own routes, and Recado for every other path.
fn app(core: Installation, operator_token: &str) -> Router {
    let operator_token = Some(SecretText::new(operator_token));
    let options = HttpOptions { operator_token, ..HttpOptions::default() };
    let console = Console::new(core.clone(), ConsoleOptions::default());
    let options = options.mounted(Console::PREFIX, console);
    let surface = RecadoHttp::new(core.clone(), options);
    Router::new().route("/hello", get(hello)).with_state(core).fallback_service(surface)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let store = SqliteStore::open("app.db")?;
    store.migrate()?;
    let settings = Settings::new("http://127.0.0.1:3000");
    let core = Installation::start(recado::parts(Arc::new(store), settings, "documents")).await?;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    let app = app(core.clone(), "change-me").into_make_service_with_connect_info::<SocketAddr>();
    let mut background = Background::spawn(&core);
    background.serve(|stopping| axum::serve(listener, app).with_graceful_shutdown(stopping));
    tokio::signal::ctrl_c().await?;
    background.stop().await;
    Ok(())
}

#[cfg(test)]
mod tests;
