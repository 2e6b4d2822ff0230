//! The recado server as a library: options, wiring and the command line.
//!
//! The binary is a thin shell around it; tests and other programs start a whole server in process:
//!
//! ```no_run
//! # async fn example() -> Result<(), recado_server::StartError> {
//! use recado_server::{Options, Overrides, start};
//!
//! let running = start(Options::default(), Overrides::default()).await?;
//! println!("listening on http://{}", running.addr);
//! running.stop().await;
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod attempts;
pub mod commands;
mod descriptors;
mod files;
mod last_hour;
mod log_lines;
mod logging;
mod metrics;
mod options;
mod permissions;
mod qr_picture;
mod serve_lock;
mod shutdown;
mod sign_in_provider;
mod signals;
mod start;
mod supervisor;
#[cfg(feature = "otlp")]
mod traces;
#[cfg(not(feature = "otlp"))]
#[path = "untraced.rs"]
mod traces;
mod watch;
mod wiring;

pub use options::{
    Cli, ConfigError, DatabaseLocation, DocumentStorage, Duration, DurationError, Options,
    ServerOptions, Setting, settings,
};
pub use permissions::restrict;
pub use start::{Overrides, RunningServer, StartError, WrapStore, start};
