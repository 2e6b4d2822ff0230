//! The simulated gateway: accepts every message of every kind, calls no server, and reports that
//! messages were sent, delivered and read.
//!
//! The last four digits of a phone select the behaviour for its messages; see [`Behaviour`]. The
//! same digits select it for changing a message, taking it back, marking as read and typing.
//! Nothing is kept: reports that are not due when the process ends are lost.
//!
//! ```
//! use std::sync::Arc;
//!
//! use recado_core::gateway::Providers;
//! use recado_core::{Clock, Ids};
//! use recado_providers::simulated::Simulated;
//!
//! fn gateways(clock: Arc<dyn Clock>, ids: Arc<dyn Ids>) -> Providers {
//!     let (simulated, mut reports) = Simulated::new(clock, ids);
//!     // Somebody has to hand the reports to the core, once it runs:
//!     let deliver = async move {
//!         while let Some(batches) = reports.next().await {
//!             for batch in batches {
//!                 // recado.inbox().receive(batch.company, batch.connection, batch.events).await
//!                 drop(batch);
//!             }
//!         }
//!     };
//!     drop(deliver); // tokio::spawn(deliver);
//!     Providers::none().with(Arc::new(simulated))
//! }
//! ```

mod behaviour;
mod provider;
mod reports;
mod seen;

pub use behaviour::Behaviour;
pub use provider::Simulated;
pub use reports::{ReportBatch, Reports};
pub use seen::{SeenAct, SeenRequest, SeenRequests};
