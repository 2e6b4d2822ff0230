//! Processes that run campaigns, by the test clock.

use std::time::Duration;

use recado_core::Recado;
use recado_testkit::TestClock;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::campaign_scene::Scene;
use super::delivery_worker_order::quiet;

/// A process that runs campaigns, and dispatches as a server does.
pub(super) struct Process {
    pub(super) app: Recado,
    stop: Option<oneshot::Sender<()>>,
    pub(super) running: JoinHandle<()>,
}

impl Process {
    pub(super) fn run(app: &Recado, clock: &TestClock) -> Self {
        let (stop, stopped) = oneshot::channel();
        let (app, clock) = (app.clone(), clock.clone());
        let running = tokio::spawn({
            let app = app.clone();
            async move {
                let stopped = async {
                    let _ = stopped.await;
                };
                app.campaigns().run(&clock, stopped).await;
            }
        });
        Self { app, stop: Some(stop), running }
    }

    pub(super) async fn die(self) {
        self.running.abort();
        assert!(self.running.await.is_err());
    }

    pub(super) fn begin_to_stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    pub(super) async fn stop(mut self) {
        self.begin_to_stop();
        self.running.await.unwrap();
        self.app.workers().release().await.unwrap();
    }
}

/// Lets time pass step by step.
pub(super) async fn pass(scene: &Scene, steps: usize, step: Duration) {
    for _ in 0..steps {
        scene.shop.advance(step);
        quiet().await;
    }
}

pub(super) async fn pass_until_it_ends(scene: &Scene, step: Duration) {
    for _ in 0..10_000 {
        pass(scene, 1, step).await;
        if scene.status().await.0 != "running" {
            return;
        }
    }
    panic!("the campaign never ends: {:?}", scene.statuses().await);
}

pub(super) const SECOND: Duration = Duration::from_secs(1);
pub(super) const TENTH: Duration = Duration::from_millis(100);

pub(super) async fn pass_drains(scene: &Scene) {
    for _ in 0..20 {
        scene.shop.advance(SECOND);
        scene.shop.app().campaigns().drain().await;
    }
}
