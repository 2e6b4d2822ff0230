//! A server whose metrics nobody else changes, and the scrapes of it.

use std::net::SocketAddr;

use recado_tests::backend::TestServer;
use recado_tests::eventually;
use tokio::sync::{Mutex, MutexGuard};

use crate::prometheus::{Scrape, assert_fires};

/// The metrics of a process are one set: one test at a time uses them.
static METRICS: Mutex<()> = Mutex::const_new(());

/// The right to use the metrics of this process. Take it before the server starts.
pub(crate) async fn alone() -> MutexGuard<'static, ()> {
    METRICS.lock().await
}

/// The scrapes of a server, the first of which shows that all is well.
#[derive(Default)]
pub(crate) struct Scrapes(Vec<Scrape>);

impl Scrapes {
    /// Begins with a server that is well.
    pub(crate) async fn of(server: &TestServer) -> Self {
        assert!(server.read_figures().await, "the store works");
        Self::at(server.addr).await
    }

    /// Begins with a server process that is well: that has read its figures, and has opened the
    /// connections to its database that it needs at the start.
    pub(crate) async fn at(addr: SocketAddr) -> Self {
        let well = eventually("the server has started", || async {
            let scrape = Scrape::of(addr).await;
            let has_read = scrape.names().contains("recado_ready");
            (has_read && scrape.sum("recado_postgres_pool_waiting") == 0.0).then_some(scrape)
        });
        Self(vec![well.await])
    }

    /// Adds what a server says now, with figures that are read now, where they can be.
    pub(crate) async fn read(&mut self, server: &TestServer) -> &Scrape {
        server.read_figures().await;
        self.scrape(server.addr).await
    }

    /// Adds what a server says now.
    pub(crate) async fn scrape(&mut self, addr: SocketAddr) -> &Scrape {
        self.add(Scrape::of(addr).await)
    }

    /// Adds a scrape.
    pub(crate) fn add(&mut self, scrape: Scrape) -> &Scrape {
        self.0.push(scrape);
        self.0.last().expect("there is one")
    }

    /// Asserts that this alert fires, and that none did at first.
    pub(crate) fn fires(&self, alert: &str) {
        assert_fires(alert, &self.0, true);
    }

    /// Asserts that this alert does not fire.
    pub(crate) fn is_silent(&self, alert: &str) {
        assert_fires(alert, &self.0, false);
    }
}
