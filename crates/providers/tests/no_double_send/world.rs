//! One run: processes on one database, a gateway, programs that send, and random decisions.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use recado_core::access::{Caller, CompanyDraft, KeyDraft, Scopes};
use recado_core::audit::Acting;
use recado_core::gateway::ProviderWebhook;
use recado_core::ids::{CompanyId, ConnectionId};
use recado_core::workers::LEASE;
use recado_core::{Clock as _, Installation, Parts, Recado, Settings};
use recado_testkit::gateways::SignedWebhook;
use recado_testkit::{
    AttachedSpawner, FaultyStore, MemoryFiles, MemoryStore, SeededIds, StoreFailure, StoreOp,
    TestClock,
};

use crate::client::{Answer, Order, call, plan};
use crate::dice::Dice;
use crate::files::Web;
use crate::gateway::{Fake, PHONES};
use crate::wire::Wire;

/// The most orders of a run, and the most steps.
const ORDERS: usize = 6;
const STEPS: usize = 90;
/// How many seconds a commit may go on at the database after its connection broke.
const COMMIT_LASTS: u64 = 45;

/// A task of a process.
struct Task {
    process: usize,
    is_send: bool,
    work: Pin<Box<dyn Future<Output = ()>>>,
}

/// A webhook that waits to be sent, perhaps again.
struct Hook {
    webhook: SignedWebhook,
    /// The message that it proves, by its index at the gateway.
    proves: Option<usize>,
}

/// A call of a program and what it was answered.
#[derive(Clone, Debug)]
pub struct Call {
    pub order: usize,
    pub answer: Answer,
}

pub struct World {
    dice: Dice,
    clock: TestClock,
    pub model: MemoryStore,
    store: FaultyStore,
    pub fake: Fake,
    pub wire: Wire,
    pub company: CompanyId,
    caller: Caller,
    connection: ConnectionId,
    files: MemoryFiles,
    /// What programs order, one after the other. Uploads are there before.
    planned: Vec<Order>,
    /// The running processes, by number.
    processes: Vec<(usize, Recado)>,
    started: u64,
    seed: u64,
    tasks: Vec<Task>,
    pub orders: Vec<Order>,
    pub calls: Rc<RefCell<Vec<Call>>>,
    hooks: Vec<Hook>,
    /// The messages, by their index at the gateway, of which a proof was accepted.
    pub proved: Rc<RefCell<BTreeSet<usize>>>,
    /// The messages, by their index at the gateway, that fail after they were accepted.
    pub failing: BTreeSet<usize>,
    taken: Rc<RefCell<u64>>,
    /// How many seconds have passed since abandoned commits were last completed.
    unlanded: u64,
    /// How many requests had reached the gateway, and how many messages it had accepted, at the
    /// last check.
    seen: (usize, usize),
    said: usize,
    pub died: u64,
    pub cut_off: u64,
    pub late: u64,
}

/// Runs a future to its end that never waits for another task.
pub fn finish<T>(work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..100_000 {
        if let Poll::Ready(done) = work.as_mut().poll(&mut context) {
            return done;
        }
    }
    panic!("it never ends");
}

impl World {
    pub fn new(seed: u64) -> Self {
        let dice = Dice::new(seed);
        let clock = TestClock::default();
        let model = MemoryStore::new();
        let store = FaultyStore::new(Arc::new(model.clone()));
        let fake = Fake::of(seed, &dice);
        let wire = Wire::new(fake.clone(), dice.clone());
        fake.set_now(clock.now());
        let files = MemoryFiles::new();
        let app = start(&store, &files, &clock, &wire, seed, 0);
        let (company, caller, connection) = finish(async {
            let draft = CompanyDraft::named("Padaria do João").expect("a name");
            let company = app.access().create_company(draft).await.expect("made").id;
            let key = app.access().create_key(company, KeyDraft::new("k", Scopes::all())).await;
            let secret = key.expect("made").secret.expose().to_owned();
            let caller = app.access().authenticate(&secret).await.expect("known");
            let made = app.connections().create(company, &fake.connection()).await.expect("made");
            (company, caller, made.id)
        });
        let planned = (0..ORDERS).map(|n| plan(&app, &caller, &dice, fake.kinds(), n)).collect();
        Self {
            dice,
            clock,
            model,
            store,
            fake,
            wire,
            company,
            caller,
            connection,
            files,
            planned,
            processes: vec![(0, app)],
            started: 1,
            seed,
            tasks: Vec::new(),
            orders: Vec::new(),
            calls: Rc::default(),
            hooks: Vec::new(),
            proved: Rc::default(),
            failing: BTreeSet::new(),
            taken: Rc::default(),
            unlanded: 0,
            seen: (0, 0),
            said: 0,
            died: 0,
            cut_off: 0,
            late: 0,
        }
    }

    /// All random steps.
    pub fn play(&mut self) {
        let breaks = self.dice.below(3) > 0;
        if self.dice.one_in(2) {
            self.begin_process();
        }
        let steps = STEPS / 2 + self.dice.below(STEPS / 2);
        for _ in 0..steps {
            match self.dice.below(32) {
                0..=12 => self.turn(),
                13..=15 => self.order(),
                16..=18 => self.call_webhook(),
                19 => self.spawn(false, |app| async move { drop(app.jobs().run_one().await) }),
                20 => self.spawn(false, |app| async move {
                    let _ = app.sending().recover().await;
                }),
                21 => self.look_or_pull(),
                22..=24 => self.let_time_pass(),
                25 if self.dice.one_in(2) => self.kill(),
                26 if breaks => self.break_store(),
                27 => self.arrive_late(),
                28 => self.say(),
                29 if self.dice.one_in(3) => self.hang_up(),
                30 if self.dice.one_in(3) => drop(finish(self.store.land())),
                _ => self.turn(),
            }
            self.hear();
        }
    }

    /// Failures are turned off, the remaining processes end, and another process recovers.
    pub fn end(&mut self) {
        self.store.heal();
        self.wire.calm();
        finish(self.store.land()).expect("it works");
        if self.dice.one_in(2) {
            self.live_on();
        }
        while !self.processes.is_empty() {
            self.kill_first();
        }
        self.clock.advance(LEASE + Duration::from_secs(1));
        self.fake.set_now(self.clock.now());
        self.begin_process();
        let app = self.processes[0].1.clone();
        while finish(app.sending().recover()).expect("it works") {}
        crate::checks::nothing_is_pending(self);
        while self.dice.below(3) > 0 {
            self.arrive_late();
        }
        self.hear();
        for wait in [5, 30, 120, 600] {
            if self.dice.one_in(2) {
                break;
            }
            self.clock.advance(Duration::from_secs(wait));
            self.fake.set_now(self.clock.now());
            while finish(app.jobs().run_one()).expect("it works") {}
        }
        while !self.hooks.is_empty() && self.dice.below(8) > 0 {
            self.call_webhook();
            self.work_off();
        }
    }

    /// The remaining processes complete their tasks and recover.
    fn live_on(&mut self) {
        self.work_off();
        self.clock.advance(LEASE + Duration::from_secs(1));
        for (_, app) in &self.processes {
            finish(app.workers().renew()).expect("it works");
        }
        for (_, app) in &self.processes {
            while finish(app.sending().recover()).expect("it works") {}
        }
        crate::checks::nothing_is_pending(self);
    }

    /// The observable events of a run.
    pub fn trace(&self) -> Vec<String> {
        let mut trace = self.wire.sends();
        trace.extend(self.fake.arrived().iter().map(|arrived| format!("{arrived:?}")));
        trace.extend(self.model.events(self.company).into_iter().map(|event| event.data));
        trace.extend(self.calls.borrow().iter().map(|call| format!("{call:?}")));
        trace
    }

    pub fn taken(&self) -> u64 {
        *self.taken.borrow()
    }

    fn begin_process(&mut self) {
        let number = self.started;
        self.started += 1;
        let app = start(&self.store, &self.files, &self.clock, &self.wire, self.seed, number);
        self.processes.push((usize::try_from(number).expect("few"), app));
    }

    fn spawn<F>(&mut self, is_send: bool, work: impl FnOnce(Recado) -> F)
    where
        F: Future<Output = ()> + 'static,
    {
        let (process, app) = self.dice.pick(&self.processes).clone();
        self.tasks.push(Task { process, is_send, work: Box::pin(work(app)) });
    }

    /// Runs one random task for a while.
    fn turn(&mut self) {
        if self.tasks.is_empty() {
            return;
        }
        let index = self.dice.below(self.tasks.len());
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..=self.dice.below(12) {
            if self.tasks[index].work.as_mut().poll(&mut context).is_ready() {
                drop(self.tasks.swap_remove(index));
                return;
            }
        }
    }

    /// Runs all tasks to the end.
    fn work_off(&mut self) {
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..10_000 {
            if self.tasks.is_empty() {
                return;
            }
            self.tasks.retain_mut(|task| task.work.as_mut().poll(&mut context).is_pending());
        }
        panic!("somebody never ends");
    }

    /// A program sends something, or repeats a call that has a key.
    fn order(&mut self) {
        let keyed: Vec<usize> =
            (0..self.orders.len()).filter(|n| self.orders[*n].key.is_some()).collect();
        let repeats = !keyed.is_empty() && self.dice.one_in(2);
        if !repeats && self.orders.len() >= ORDERS {
            return;
        }
        let order = if repeats {
            *self.dice.pick(&keyed)
        } else {
            let n = self.orders.len();
            let key = self.dice.one_in(2).then(|| format!("key-{n}"));
            let again = n > 0 && key.is_none() && self.dice.one_in(8);
            let order = match again.then(|| self.dice.pick(&self.orders).clone()) {
                // The same message once more, as a new order.
                Some(first) => Order { key, ..first },
                None => Order { key, ..self.planned[n].clone() },
            };
            self.orders.push(order);
            n
        };
        let index = self.calls.borrow().len();
        self.calls.borrow_mut().push(Call { order, answer: Answer::None });
        let (calls, caller) = (Rc::clone(&self.calls), self.caller.clone());
        let order = self.orders[order].clone();
        self.spawn(true, |app| async move {
            let answer = call(app, caller, order).await;
            calls.borrow_mut()[index].answer = answer;
        });
    }

    /// Checks which messages the gateway has accepted since, and makes its reports about them.
    fn hear(&mut self) {
        let requests = self.wire.arrived();
        if requests == self.seen.0 {
            return;
        }
        let arrived = self.fake.arrived().len();
        for index in self.seen.1..arrived {
            let fails = self.dice.one_in(6);
            if fails {
                self.failing.insert(index);
            }
            for reported in self.fake.reports(index, fails, self.clock.now()) {
                if !self.dice.one_in(4) {
                    let proves = reported.proves.then_some(index);
                    self.hooks.push(Hook { webhook: reported.webhook, proves });
                }
            }
        }
        self.seen = (requests, arrived);
    }

    /// The gateway sends a webhook, which it may send again later.
    fn call_webhook(&mut self) {
        if self.hooks.is_empty() {
            return;
        }
        let index = self.dice.below(self.hooks.len());
        let keeps = self.dice.one_in(5);
        let proves = self.hooks[index].proves;
        let webhook = match keeps {
            true => self.hooks[index].webhook.clone(),
            false => self.hooks.swap_remove(index).webhook,
        };
        let (proved, taken) = (Rc::clone(&self.proved), Rc::clone(&self.taken));
        let connection = self.connection.to_string();
        self.spawn(false, |app| async move {
            let webhook = webhook.webhook();
            let head = ProviderWebhook { body: Vec::new(), ..webhook.clone() };
            let Ok(called) = app.inbox().called(&connection, &head).await else { return };
            if let Ok(reported) = app.inbox().take_webhook(&called, &webhook).await {
                assert_eq!((reported.refused, reported.unknown), (Vec::new(), Vec::new()));
                *taken.borrow_mut() += 1;
                proved.borrow_mut().extend(proves);
            }
        });
    }

    /// A person writes to the company, or its operator writes on the phone, sometimes the same text
    /// as a program.
    fn say(&mut self) {
        self.said += 1;
        let (n, now) = (self.said, self.clock.now());
        let webhook = if self.orders.is_empty() || !self.dice.one_in(3) {
            self.fake.reply(self.dice.below(PHONES.len()), n, now)
        } else {
            let order = self.dice.pick(&self.orders).clone();
            let same = self.dice.one_in(2);
            let text = if same { order.text } else { format!("à mão {n}") };
            self.fake.typed(order.person, &text, n, now)
        };
        self.hooks.push(Hook { webhook, proves: None });
    }

    fn look_or_pull(&mut self) {
        let (company, connection) = (self.company, self.connection);
        let since = self.clock.now().minus(Duration::from_secs(1_200));
        let pulls = self.dice.below(3) > 0;
        self.spawn(false, |app| async move {
            if pulls {
                let _ = app.connections().pull_missed(company, connection, since).await;
            } else {
                let _ = app.connections().check(company, connection).await;
            }
        });
    }

    /// Time passes; processes that hang do not renew their leases.
    fn let_time_pass(&mut self) {
        let seconds = *self.dice.pick(&[1, 1, 3, 5, 11, 35, 130, 700]);
        self.unlanded += seconds;
        if self.unlanded > COMMIT_LASTS {
            // No commit goes on for longer than the core assumes.
            let _ = finish(self.store.land());
            self.unlanded = 0;
        }
        self.clock.advance(Duration::from_secs(seconds));
        self.fake.set_now(self.clock.now());
        for (_, app) in &self.processes {
            if !self.dice.one_in(6) {
                let _ = finish(app.workers().renew());
            }
        }
    }

    /// A process dies with all its tasks; another one starts.
    fn kill(&mut self) {
        let index = self.dice.below(self.processes.len());
        self.processes.swap(0, index);
        self.kill_first();
        if self.processes.is_empty() || self.dice.one_in(2) {
            self.begin_process();
        }
    }

    fn kill_first(&mut self) {
        let (number, _app) = self.processes.remove(0);
        let dying = |task: &&Task| task.process == number && task.is_send;
        self.cut_off += self.tasks.iter().filter(dying).count() as u64;
        self.tasks.retain(|task| task.process != number);
        self.died += 1;
    }

    /// A caller stops waiting for its answer, and its task is dropped.
    fn hang_up(&mut self) {
        if !self.tasks.is_empty() {
            drop(self.tasks.swap_remove(self.dice.below(self.tasks.len())));
        }
    }

    /// Chooses anew which operations of the database fail.
    fn break_store(&mut self) {
        let dice = self.dice.clone();
        match dice.below(3) {
            0 => self.store.heal(),
            rarity => self.store.plan(move |op| {
                let failure = *dice.pick(&[
                    StoreFailure::Unavailable,
                    StoreFailure::UnknownBefore,
                    StoreFailure::UnknownAfter,
                    StoreFailure::UnknownLate,
                    StoreFailure::Contended,
                ]);
                let fails = dice.one_in(3 * rarity * rarity);
                (op != StoreOp::Upkeep && fails).then_some(failure)
            }),
        }
    }

    /// A request arrives whose sender has stopped waiting.
    fn arrive_late(&mut self) {
        if let Some(request) = self.wire.take_late() {
            self.late += 1;
            let _ = finish(self.fake.send(request));
        }
    }
}

/// Starts a process.
fn start(
    store: &FaultyStore,
    files: &MemoryFiles,
    clock: &TestClock,
    wire: &Wire,
    seed: u64,
    number: u64,
) -> Recado {
    let core = Installation::new(Parts {
        store: Arc::new(store.clone()),
        standby: None,
        signals: None,
        clock: Arc::new(clock.clone()),
        ids: Arc::new(SeededIds::new(seed.wrapping_mul(256).wrapping_add(number))),
        files: Arc::new(files.clone()),
        spawner: Arc::new(AttachedSpawner),
        transport: Arc::new(Web(wire.clone())),
        gateway_transport: Some(Arc::new(wire.clone())),
        limiter: None,
        providers: Fake::providers(),
        passwords: Arc::new(recado_testkit::TestPasswords::new()),
        settings: Settings::new("http://127.0.0.1:8080"),
    });
    core.by(Acting::program("test"))
}
