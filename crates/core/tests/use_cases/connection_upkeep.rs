//! The repeated jobs of connections, and answers that are outdated when they arrive.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use recado_core::Recado;
use recado_core::connections::ConnectionStatus::{self, Connected, Disconnected};
use recado_core::connections::{CHECK_AGAIN, Connection, GatewayDescription};
use recado_core::gateway::{
    GatewayEvent, GatewayStatus, Outgoing, Provider, ProviderError, ProviderWebhook, Providers,
    SendResult, WebhookRefused,
};
use recado_core::groups::{Group, GroupList, GroupsError};
use recado_core::ids::{CompanyId, ConnectionId};
use recado_core::jobs::JobKind;
use recado_core::store::{ChangeSet, Commit, RecordsExt, Stored};
use recado_core::transport::Transport;
use recado_core::workers::{LEASE, Worker};
use recado_core::{Clock as _, Error};
use recado_testkit::kit::body;
use recado_testkit::{Kit, MemoryStore, SeededIds, TestClock};
use serde_json::{Value, json};

use super::gateway_scene::*;

/// A concurrent change during the request to the gateway.
enum Meanwhile {
    Nothing,
    State(ConnectionStatus),
    Doubt,
    Groups(Value),
}

/// A gateway whose answer arrives after something else was recorded.
#[derive(Clone, Default)]
struct Overtaken(Arc<Inner>);

#[derive(Default)]
struct Inner {
    scene: OnceLock<(Recado, CompanyId, ConnectionId)>,
    meanwhile: Mutex<VecDeque<Meanwhile>>,
    tells: Mutex<VecDeque<Result<ConnectionStatus, Vec<&'static str>>>>,
    asked: Mutex<usize>,
}

fn group(code: &str) -> Value {
    json!({ "code": code, "subject": code })
}

impl Overtaken {
    fn then(&self, meanwhile: Meanwhile, tells: Result<ConnectionStatus, Vec<&'static str>>) {
        self.0.meanwhile.lock().unwrap().push_back(meanwhile);
        self.0.tells.lock().unwrap().push_back(tells);
    }

    fn asked(&self) -> usize {
        *self.0.asked.lock().unwrap()
    }

    async fn answer(&self) -> Result<Result<ConnectionStatus, Vec<&'static str>>, ProviderError> {
        *self.0.asked.lock().unwrap() += 1;
        let meanwhile = self.0.meanwhile.lock().unwrap().pop_front();
        let (app, company, id) = self.0.scene.get().unwrap();
        match meanwhile.unwrap_or(Meanwhile::Nothing) {
            Meanwhile::Nothing => {}
            Meanwhile::State(status) => {
                app.connections().set_status(*company, *id, status).await.unwrap();
            }
            Meanwhile::Doubt => {
                let doubt = vec![Ok(GatewayEvent::StateDoubtful)];
                app.inbox().receive(*company, *id, doubt).await.unwrap();
            }
            Meanwhile::Groups(groups) => {
                let groups = groups.as_array().unwrap();
                app.groups().replace(*company, *id, groups).await.unwrap();
            }
        }
        let reported = self.0.tells.lock().unwrap().pop_front();
        reported.ok_or_else(|| ProviderError::Failed("nothing to tell".to_owned()))
    }
}

#[async_trait]
impl Provider for Overtaken {
    fn describe(&self) -> GatewayDescription {
        recado_testkit::descriptions::waha()
    }

    async fn send(&self, _: &dyn Transport, _: &Connection, _: &Outgoing) -> SendResult {
        unreachable!("nothing is sent")
    }

    async fn status(
        &self,
        _: &dyn Transport,
        _: &Connection,
    ) -> Result<GatewayStatus, ProviderError> {
        let status = self.answer().await?.expect("a state is to be told");
        Ok(GatewayStatus { status, detail: None })
    }

    async fn groups(&self, _: &dyn Transport, _: &Connection) -> Result<GroupList, ProviderError> {
        let codes = self.answer().await?.expect_err("groups are to be told");
        let groups: Vec<Value> = codes.into_iter().map(group).collect();
        let groups = recado_core::groups::read_groups(&groups, "g.us").expect("groups");
        Ok(groups.into())
    }

    fn admit(&self, _: &Connection, _: &ProviderWebhook) -> Result<(), WebhookRefused> {
        unreachable!("no webhook is called")
    }
}

/// A company with a connection of such a gateway.
async fn overtaken(status: &str) -> (Kit, ConnectionId, Overtaken) {
    let gateway = Overtaken::default();
    let providers = Providers::none().with(Arc::new(gateway.clone()));
    let kit = Kit::builder().providers(providers).build().await;
    let id = connect(&kit, "waha", json!({ "status": status })).await;
    assert!(gateway.0.scene.set((kit.app.clone(), kit.company.id, id)).is_ok());
    (kit, id, gateway)
}

async fn state(kit: &Kit, id: ConnectionId) -> ConnectionStatus {
    kit.app.store().get::<Connection>((kit.company.id, id)).await.unwrap().unwrap().status
}

/// R144.
#[tokio::test]
async fn a_look_that_is_answered_late_does_not_undo_what_the_gateway_reported_since() {
    for (before, meanwhile, reported) in [
        ("disconnected", Connected, Disconnected),
        ("connected", Disconnected, Connected),
        ("disconnected", Connected, Connected),
    ] {
        let (kit, id, gateway) = overtaken(before).await;
        gateway.then(Meanwhile::State(meanwhile), Ok(reported));
        let answer = kit.app.connections().check(kit.company.id, id).await.unwrap();
        assert_eq!(
            answer.map(|answer| answer.status),
            Some(reported),
            "the answer is the gateway's"
        );
        assert_eq!(state(&kit, id).await, meanwhile);
        gateway.then(Meanwhile::Nothing, Ok(reported));
        kit.app.connections().check(kit.company.id, id).await.unwrap();
        assert_eq!(state(&kit, id).await, reported, "the next look counts");
    }
}

/// R144.
#[tokio::test]
async fn a_doubt_that_comes_during_a_look_has_the_gateway_asked_again_a_second_later() {
    let (kit, id, gateway) = overtaken("connected").await;
    let doubt = || vec![Ok(GatewayEvent::StateDoubtful)];
    let jobs = kit.app.jobs();
    while jobs.run_one().await.unwrap() {}
    let before = gateway.asked();
    kit.app.inbox().receive(kit.company.id, id, doubt()).await.unwrap();
    gateway.then(Meanwhile::Doubt, Ok(Connected));
    gateway.then(Meanwhile::Nothing, Ok(Disconnected));
    while jobs.run_one().await.unwrap() {}
    assert_eq!((gateway.asked() - before, state(&kit, id).await), (1, Connected));
    kit.clock.advance(Duration::from_secs(1));
    while jobs.run_one().await.unwrap() {}
    assert_eq!((gateway.asked() - before, state(&kit, id).await), (2, Disconnected));
}

async fn codes(kit: &Kit, id: ConnectionId) -> Vec<String> {
    let groups = kit.app.store().groups(kit.company.id, id).await.unwrap();
    groups.iter().map(|row| row.group.code.to_string()).collect()
}

/// R144.
#[tokio::test]
async fn a_list_of_groups_that_others_overtook_is_asked_for_again() {
    let (kit, id, gateway) = overtaken("connected").await;
    let sync = async || kit.app.groups().sync(kit.company.id, id).await;
    gateway.then(Meanwhile::Groups(json!([group("2@g.us")])), Err(vec!["1@g.us"]));
    gateway.then(Meanwhile::Nothing, Err(vec!["1@g.us", "2@g.us"]));
    assert_eq!(sync().await.unwrap().len(), 2);
    assert_eq!(
        (gateway.asked(), codes(&kit, id).await),
        (2, vec!["1@g.us".into(), "2@g.us".into()])
    );
    // Not for ever.
    for n in ["3@g.us", "4@g.us"] {
        gateway.then(Meanwhile::Groups(json!([group(n)])), Err(vec!["1@g.us"]));
    }
    assert!(matches!(sync().await, Err(Error::Busy)));
    assert_eq!((gateway.asked(), codes(&kit, id).await), (4, vec!["4@g.us".to_owned()]));
    gateway.then(Meanwhile::Groups(json!([group("4@g.us")])), Err(vec!["1@g.us"]));
    assert_eq!(sync().await.unwrap().len(), 1, "what changes nothing overtakes nothing");
    assert_eq!(codes(&kit, id).await, ["1@g.us"]);
    assert!(matches!(sync().await, Err(Error::Rejected(GroupsError::Provider(_)))));
}

/// The connection of a scene without any of its jobs, as an older version has left it.
async fn of_an_older_version(gateway: &str) -> (Kit, MemoryStore, Stored<Connection>) {
    let model = MemoryStore::new();
    let kit = Kit::builder().store(Arc::new(model.clone())).build().await;
    let id = connect(&kit, gateway, json!({})).await;
    for job in model.jobs(kit.company.id) {
        let there = kit.app.store().job_like(kit.company.id, &job.kind).await.unwrap().unwrap();
        model.commit(ChangeSet::new().with(there.delete())).await.unwrap();
    }
    let connection =
        kit.app.store().get::<Connection>((kit.company.id, id)).await.unwrap().unwrap();
    (kit, model, connection)
}

/// R144.
#[tokio::test]
async fn connections_of_an_older_version_get_the_jobs_that_come_back() {
    for (gateway, wanted) in [("waha", 3), ("evolution", 3), ("cloud_api", 1), ("simulated", 0)] {
        let (kit, model, connection) = of_an_older_version(gateway).await;
        kit.clock.advance(Duration::from_secs(3_600));
        let other = Kit::builder().store(Arc::new(model.clone())).clock(kit.clock.clone());
        let other = other.start().await;
        let (here, there) =
            tokio::join!(async { kit.app.connections().ensure_jobs().await.unwrap() }, async {
                other.connections().ensure_jobs().await.unwrap()
            },);
        assert_eq!(here + there, wanted, "{gateway}: by one of two processes each");
        let made = model.jobs(kit.company.id);
        assert_eq!(made.len(), wanted);
        let now = kit.clock.now();
        assert!(made.iter().all(|job| now <= job.due_at && job.due_at < now.plus(CHECK_AGAIN)));
        for job in &made {
            if let JobKind::PullMissed { since, .. } = job.kind {
                assert_eq!(since, connection.created_at);
            }
        }
        assert_eq!(kit.app.connections().ensure_jobs().await.unwrap(), 0);
        let new = connect(&kit, gateway, json!({})).await;
        assert_eq!(kit.app.connections().ensure_jobs().await.unwrap(), 0, "{new} has all of them");
    }
}

/// R456.
#[tokio::test]
async fn each_company_is_looked_after_by_one_of_the_processes() {
    let model = MemoryStore::new();
    let kit = Kit::builder().store(Arc::new(model.clone())).build().await;
    for name in 0..12 {
        let (company, _) = kit.another_company(&format!("company {name}")).await;
        let new = json!({"kind": "qr", "name": "Loja", "identifier": "5511900000000",
            "gateway": "waha", "settings": super::gateway_scene::settings("waha")});
        kit.app.connections().create(company.id, &body(new)).await.unwrap();
        for job in model.jobs(company.id) {
            let there = kit.app.store().job_like(company.id, &job.kind).await.unwrap().unwrap();
            model.commit(ChangeSet::new().with(there.delete())).await.unwrap();
        }
    }
    let other = Kit::builder().store(Arc::new(model.clone())).clock(kit.clock.clone());
    let other = other.ids(SeededIds::new(7)).start().await;
    for app in [&kit.app, &other] {
        let (id, leased_until) = (app.workers().own_id(), kit.clock.now().plus(LEASE));
        let worker = Worker { id, leased_until, runs_deliveries: true };
        model.commit(ChangeSet::new().insert(worker)).await.unwrap();
    }
    let here = kit.app.connections().ensure_jobs().await.unwrap();
    let there = other.connections().ensure_jobs().await.unwrap();
    assert!(here > 0 && there > 0, "{here} and {there}");
    assert_eq!(here + there, 12 * 3);
    kit.clock.advance(LEASE);
    assert_eq!(kit.app.connections().ensure_jobs().await.unwrap(), 0);
}

/// R144.
#[tokio::test]
async fn a_change_during_an_outage_hides_nothing_of_it() {
    let scene = scene("waha").await;
    scene.kit.provider.set_missed(Ok(Default::default()));
    scene.after(15 * 60).await;
    scene.messaging.set_connected(false).await;
    scene.kit.clock.advance(Duration::from_secs(40 * 60));
    let renamed = body(json!({ "name": "Filial" }));
    let connections = scene.kit.app.connections();
    connections.change(scene.kit.company.id, scene.connection(), &renamed).await.unwrap();
    scene.kit.clock.advance(Duration::from_secs(60));
    scene.messaging.set_connected(true).await;
    let before = scene.kit.provider.pulled().len();
    scene.work().await;
    let known = TestClock::START.plus(Duration::from_secs(5 * 60));
    let asked = &scene.kit.provider.pulled()[before..];
    assert!(!asked.is_empty() && asked.iter().all(|pulled| pulled.from <= known), "{asked:?}");
}

#[tokio::test]
async fn a_connection_that_is_up_again_waits_for_no_earlier_try() {
    let scene = scene("waha").await;
    let fails = ProviderError::Failed("starting".to_owned());
    scene.kit.provider.set_groups(Err::<Vec<Group>, _>(fails));
    scene.messaging.set_connected(false).await;
    scene.messaging.set_connected(true).await;
    for wait in [0, 15, 60] {
        scene.after(wait).await;
    }
    // The next try is five minutes away.
    scene.messaging.set_connected(false).await;
    scene.messaging.set_connected(true).await;
    let before = scene.kit.provider.asked().groups;
    scene.work().await;
    assert_eq!(scene.kit.provider.asked().groups, before + 1);
}
