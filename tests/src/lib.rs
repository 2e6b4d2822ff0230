//! The harness of the end-to-end tests: servers on real sockets, on both stores.

pub mod backend;
pub mod behind_proxy;
pub mod binary;
pub mod campaigns;
pub mod clouded;
pub mod gated;
pub mod gateways;
pub mod hooks;
pub mod hooks_in;
pub mod http;
pub mod messaging;
pub mod moving;
mod not_run;
pub mod openid;
pub mod outbox;
pub mod receiver;
pub mod registry;
pub mod rows;
pub mod sent_kinds;
pub mod world;

use std::future::Future;

use behind_proxy::InFront;

pub use backend::{Outside, Setup, StoreKind};
pub use campaigns::Campaigning;
pub use clouded::Clouded;
pub use gated::Gated;
pub use gateways::{GatewayServer, webhook_request};
pub use hooks::{Hook, Hooks};
pub use hooks_in::{Endpoint, Intake};
pub use http::{Request, ScriptedAnswer, raw, text};
pub use messaging::{
    digits, eight_digits, keys, mobile, no_blocks, path_of, steered, wamid, with, with_blocks,
};
pub use not_run::not_run;
pub use recado_tests_macros::{both_stores, on_postgres, on_sqlite};
pub use receiver::{Received, Receiver, Reply};
pub use sent_kinds::SentKind;
pub use world::{FromStore, OPERATOR, SCOPES, Tenant, World, eventually, phone, unknown_id};

/// Runs a test on one store.
pub fn run<A: FromStore, F: Future<Output = ()>>(kind: StoreKind, test: impl FnOnce(A) -> F) {
    let in_front = InFront::of_this_test(kind);
    in_front.enter();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .on_thread_start(move || in_front.enter())
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async { test(A::from_store(kind).await).await });
    runtime.shutdown_timeout(std::time::Duration::from_secs(5));
}

/// Runs futures at the same time, on this task, and returns their results in order.
pub async fn join_all<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
    futures_util::future::join_all(futures).await
}
