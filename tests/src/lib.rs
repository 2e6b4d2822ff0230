//! The harness of the end-to-end tests: servers on real sockets, on both stores.

pub mod backend;
pub mod binary;
pub mod campaigns;
pub mod clouded;
pub mod gated;
pub mod gateways;
pub mod hooks;
pub mod hooks_in;
pub mod http;
pub mod outbox;
pub mod receiver;
pub mod registry;
pub mod talk;
pub mod world;

use std::future::Future;

pub use backend::{Outside, Setup, StoreKind};
pub use campaigns::Campaigning;
pub use clouded::Clouded;
pub use gated::Gated;
pub use gateways::{GatewayServer, webhook_request};
pub use hooks::{Hook, Hooks};
pub use hooks_in::{Endpoint, Intake};
pub use http::{Answer, Request, raw, text};
pub use receiver::{Received, Receiver, Reply};
pub use talk::{digits, eight_digits, keys, mobile, steered, wamid, with};
pub use world::{FromStore, OPERATOR, SCOPES, Tenant, World, eventually, phone, unknown_id};

/// Runs a test on one store.
pub fn run<A: FromStore, F: Future<Output = ()>>(kind: StoreKind, test: impl FnOnce(A) -> F) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async { test(A::from_store(kind).await).await });
    runtime.shutdown_timeout(std::time::Duration::from_secs(5));
}

/// Declares tests that run on SQLite and on Postgres; the names are `name::sqlite` and
/// `name::postgres`. The argument is a [`World`] or, to set one up differently, a [`StoreKind`].
#[macro_export]
macro_rules! both_stores {
    ($( $(#[$meta:meta])* async fn $name:ident($($arg:tt)*) $body:block )*) => {$(
        $(#[$meta])*
        async fn $name($($arg)*) $body
        mod $name {
            #[test]
            fn sqlite() {
                $crate::run($crate::StoreKind::Sqlite, super::$name);
            }
            #[test]
            fn postgres() {
                $crate::run($crate::StoreKind::Postgres, super::$name);
            }
        }
    )*};
}

/// Declares tests that need several processes on one database, which only Postgres offers.
#[macro_export]
macro_rules! on_postgres {
    ($( $(#[$meta:meta])* async fn $name:ident($($arg:tt)*) $body:block )*) => {$(
        $(#[$meta])*
        async fn $name($($arg)*) $body
        mod $name {
            #[test]
            fn postgres() {
                $crate::run($crate::StoreKind::Postgres, super::$name);
            }
        }
    )*};
}

/// Runs futures at the same time, on this task, and returns their results in order.
pub async fn join_all<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
    futures_util::future::join_all(futures).await
}
