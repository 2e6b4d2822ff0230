//! The figures of the installation as gauges, read anew every few seconds (R280).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use metrics::{Label, Unit, describe_gauge, gauge};
use recado_core::connections::ConnectionKind;
use recado_core::figures::{ConnectionFigures, ConnectionState, DueFigures, FigureQuery, Figures};
use recado_core::gateway::Providers;
use recado_core::store::StoreError;
use recado_core::{Recado, Timestamp};

use super::{Certificates, StoreUse, Volumes, float, standby};

const READY: &str = "recado_ready";
const AGE: &str = "recado_figures_age_seconds";
const CONNECTIONS: &str = "recado_connections";
const STATE_AGE: &str = "recado_connection_state_age_seconds";
const SILENCE: &str = "recado_connection_silence_seconds";
const PENDING: &str = "recado_deliveries_pending";
const DUE: &str = "recado_deliveries_due";
const DUE_AGE: &str = "recado_deliveries_oldest_due_age_seconds";
const JOBS: &str = "recado_jobs_due";
const JOBS_AGE: &str = "recado_jobs_oldest_due_age_seconds";
const CAMPAIGNS: &str = "recado_campaigns_running";
const LEFT_SENT: &str = "recado_messages_left_sent";
const JOURNAL: &str = "recado_journal_position";

/// How long the database may take to say that it is ready, as for `/readyz`.
const PATIENCE: Duration = Duration::from_secs(5);
/// The label of gateways that this program does not have.
const OTHER: &str = "other";

pub(super) fn describe() {
    describe_gauge!(
        READY,
        Unit::Count,
        "1 while the store is ready and open, as /readyz says, else 0."
    );
    describe_gauge!(AGE, Unit::Seconds, "How old the figures are that are read from the store.");
    describe_gauge!(CONNECTIONS, Unit::Count, "Connections, by gateway, kind and state.");
    describe_gauge!(
        STATE_AGE,
        Unit::Seconds,
        "For how long a connection has been in its state, or otherwise unchanged: the longest."
    );
    describe_gauge!(
        SILENCE,
        Unit::Seconds,
        "For how long a connected connection's gateway was not heard: the longest."
    );
    describe_gauge!(PENDING, Unit::Count, "Deliveries to active webhooks, up to 100,000.");
    describe_gauge!(DUE, Unit::Count, "Those of them that are due.");
    describe_gauge!(DUE_AGE, Unit::Seconds, "For how long the oldest one has been due.");
    describe_gauge!(JOBS, Unit::Count, "Jobs that are due and not worked on, up to 100,000.");
    describe_gauge!(JOBS_AGE, Unit::Seconds, "For how long the oldest one has been due.");
    describe_gauge!(CAMPAIGNS, Unit::Count, "Campaigns under way.");
    describe_gauge!(
        LEFT_SENT,
        Unit::Count,
        "Messages of the last day to people, through connected phones, that were sent over ten \
         minutes ago and not reported delivered since: many of them mean a dead phone."
    );
    describe_gauge!(JOURNAL, Unit::Count, "The newest position in the journal of events.");
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("read_at", &self.read_at).finish_non_exhaustive()
    }
}

/// What is watched, besides what counts itself.
pub(crate) struct Watch {
    recado: Recado,
    gateways: Providers,
    store: StoreUse,
    volumes: Volumes,
    certificates: Certificates,
    /// When the figures were read.
    read_at: Mutex<Timestamp>,
}

impl Watch {
    /// Watches an installation.
    pub(crate) fn new(
        recado: Recado,
        gateways: Providers,
        store: StoreUse,
        volumes: Volumes,
        certificates: Certificates,
    ) -> Arc<Self> {
        let read_at = Mutex::new(recado.now());
        Arc::new(Self { recado, gateways, store, volumes, certificates, read_at })
    }

    /// Sets what costs nothing to find out: for each scrape.
    pub(crate) fn record(&self) {
        self.store.record();
        standby::record(&self.recado);
        let read_at = *self.read_at.lock().unwrap_or_else(PoisonError::into_inner);
        gauge!(AGE).set(self.recado.now().since(read_at).as_secs_f64());
    }

    /// Whether the store is ready and open, as `/readyz` says. While the data is moved (D76) it is
    /// not.
    async fn is_ready(&self) -> bool {
        let is_open = async {
            let halted = self.recado.halts().current().await;
            halted.is_ok_and(|halted| !halted.is_closed())
        };
        self.recado.ready().await.is_ok() && is_open.await
    }

    /// Reads everything anew.
    ///
    /// # Errors
    ///
    /// When the store fails. What was read before stays, and its age says so.
    pub(crate) async fn read(self: Arc<Self>) -> Result<bool, StoreError> {
        let ready = tokio::time::timeout(PATIENCE, self.is_ready()).await;
        gauge!(READY).set(f64::from(u8::from(matches!(ready, Ok(true)))));
        let on_disk = self.clone();
        let blocking = tokio::task::spawn_blocking(move || {
            on_disk.volumes.record();
            on_disk.certificates.record(on_disk.recado.now());
        });
        blocking.await.map_err(StoreError::unavailable)?;
        let now = self.recado.now();
        let figures = self.recado.store().figures(&FigureQuery::at(now)).await?;
        record(&figures, &self.gateways, now);
        *self.read_at.lock().unwrap_or_else(PoisonError::into_inner) = now;
        self.store.record_size().await?;
        Ok(false)
    }
}

fn record(figures: &Figures, providers: &Providers, now: Timestamp) {
    connections(&figures.connections, providers, now);
    let due = |[count, age]: [&'static str; 2], figures: &DueFigures| {
        gauge!(count).set(float(figures.due));
        gauge!(age).set(figures.age(now).as_secs_f64());
    };
    gauge!(PENDING).set(float(figures.deliveries.pending));
    due([DUE, DUE_AGE], &figures.deliveries);
    due([JOBS, JOBS_AGE], &figures.jobs);
    gauge!(CAMPAIGNS).set(float(figures.campaigns));
    gauge!(LEFT_SENT).set(float(figures.left_sent));
    gauge!(JOURNAL).set(float(figures.journal.0));
}

/// The series of connections, by their labels. There is one for each gateway of this program and
/// each kind that it serves, and one more for all other gateways, whether or not it has
/// connections: so their number is fixed, and what is gone becomes 0 (R281).
type Series = BTreeMap<(String, &'static str, ConnectionState), SeriesFigures>;

#[derive(Clone, Copy, Default)]
struct SeriesFigures {
    count: u64,
    age: Duration,
    silence: Duration,
}

fn all_series(providers: &Providers) -> Series {
    let mut all = Series::new();
    for kind in ConnectionKind::ALL {
        let gateways = providers.descriptions().filter(|gateway| gateway.serves(*kind));
        for gateway in gateways {
            for state in ConnectionState::ALL {
                let gateway = gateway.name().as_str().to_owned();
                all.insert((gateway, kind.as_str(), state), SeriesFigures::default());
            }
        }
        for state in [ConnectionState::Inactive, ConnectionState::Unavailable] {
            all.insert((OTHER.to_owned(), kind.as_str(), state), SeriesFigures::default());
        }
    }
    all
}

fn connections(found: &[ConnectionFigures], providers: &Providers, now: Timestamp) {
    let mut all = all_series(providers);
    for figures in found {
        let is_known = providers.description(&figures.gateway).is_some();
        let gateway = if is_known { figures.gateway.as_str() } else { OTHER };
        let key = (gateway.to_owned(), figures.kind.as_str(), figures.state(providers));
        let series = all.entry(key).or_default();
        series.count += figures.count;
        series.age = series.age.max(now.since(figures.changed_at));
        series.silence = series.silence.max(now.since(figures.heard_at));
    }
    for ((gateway, kind, state), figures) in all {
        let mut labels =
            vec![Label::new("gateway", gateway), Label::from_static_parts("kind", kind)];
        if state == ConnectionState::Connected {
            gauge!(SILENCE, labels.clone()).set(figures.silence.as_secs_f64());
        }
        labels.push(Label::from_static_parts("state", state.as_str()));
        gauge!(CONNECTIONS, labels.clone()).set(float(figures.count));
        gauge!(STATE_AGE, labels).set(figures.age.as_secs_f64());
    }
}
