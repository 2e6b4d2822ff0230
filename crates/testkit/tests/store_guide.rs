//! The tables of docs/writing-a-store.md: references, unique keys, and what each topic of the
//! conformance suite needs. `RECADO_UPDATE_STORE_GUIDE=1` rewrites them.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use recado_core::events::Event;
use recado_core::ids::CompanyId;
use recado_core::store::{
    Change, ChangeKind, ChangeSet, OnDelete, Precondition, REFERENCES, Reference, RowKind, Store,
    UNIQUE, UniqueKey, stubs,
};
use recado_testkit::conformance::Harness;
use recado_testkit::{FaultyStore, MemoryStore};

/// The parts of the contract that a topic uses.
#[derive(Clone, Default)]
struct Needs {
    topic: &'static str,
    tests: usize,
    methods: BTreeSet<String>,
    written: BTreeSet<String>,
}

/// The model, with a record of the methods that are called.
struct Recorder {
    model: MemoryStore,
    written: Arc<Mutex<BTreeSet<String>>>,
    stores: Mutex<Vec<FaultyStore>>,
}

impl Recorder {
    fn new() -> Self {
        Self { model: MemoryStore::new(), written: Arc::default(), stores: Mutex::default() }
    }

    fn noting(&self, store: MemoryStore) -> Arc<dyn Store> {
        let store = FaultyStore::new(Arc::new(store));
        let written = self.written.clone();
        store.plan_commits(move |changes| {
            written.lock().expect("no panic").extend(kinds(changes));
            None
        });
        self.stores.lock().expect("no panic").push(store.clone());
        Arc::new(store)
    }

    fn add_to(&self, needs: &mut Needs) {
        needs.tests += 1;
        needs.written.extend(self.written.lock().expect("no panic").iter().cloned());
        for store in self.stores.lock().expect("no panic").iter() {
            let method = |name: String| name.split(' ').next().unwrap_or_default().to_owned();
            needs.methods.extend(store.asked().into_iter().map(method));
        }
    }
}

/// The kinds of row that a change set writes, and its changes that are not of single rows.
fn kinds(changes: &ChangeSet) -> Vec<String> {
    let kind = |change: &Change| match change.kind() {
        ChangeKind::Insert(row) | ChangeKind::Update { row, .. } => format!("`{:?}`", row.kind()),
        ChangeKind::Delete { key, .. } => format!("`{:?}`", key.kind()),
        other => format!("change `{}`", variant(other)),
    };
    let condition = |required: &Precondition| format!("condition `{}`", variant(required));
    let events = (!changes.events.is_empty()).then(|| "events".to_owned());
    let changed = changes.changes.iter().map(kind);
    changed.chain(changes.requires.iter().map(condition)).chain(events).collect()
}

/// The name of a variant.
fn variant(value: &impl std::fmt::Debug) -> String {
    let shown = format!("{value:?}");
    shown.split([' ', '(', '{']).next().unwrap_or_default().to_owned()
}

#[async_trait]
impl Harness for Recorder {
    async fn store(&self) -> Arc<dyn Store> {
        self.noting(self.model.clone())
    }

    async fn second(&self) -> Option<Arc<dyn Store>> {
        Some(self.noting(self.model.another_process()))
    }

    async fn events(&self, company: CompanyId) -> Vec<Event> {
        self.model.events(company)
    }
}

macro_rules! needs {
    ([] $topic:ident: $($bullet:ident,)+) => {
        mod $topic {
            pub(super) fn needs() -> super::Needs {
                let mut needs = super::Needs { topic: stringify!($topic), ..Default::default() };
                let runtime = tokio::runtime::Runtime::new().expect("a runtime");
                $(
                    let recorder = super::Recorder::new();
                    let promise = recado_testkit::conformance::$topic::$bullet(&recorder);
                    runtime.block_on(promise);
                    recorder.add_to(&mut needs);
                )+
                needs
            }
        }
    };
}

macro_rules! all {
    ([] $($topic:ident)+) => {
        $(recado_testkit::conformance_topic! { needs [] $topic })+

        /// What each topic needs, in the order of the topics.
        fn all() -> Vec<Needs> {
            let threads = [$(std::thread::spawn($topic::needs)),+];
            threads.into_iter().map(|thread| thread.join().expect("the model keeps it")).collect()
        }
    };
}
recado_testkit::conformance_topics! { all [] }

fn topics() -> String {
    let mut table = "| Topic | Tests | Methods not needed before | Written, and not before |\n\
                     |---|---|---|---|\n"
        .to_owned();
    let (mut known, mut written) = (BTreeSet::new(), BTreeSet::new());
    for needs in all() {
        let mut new_methods: Vec<&str> = Vec::new();
        for (_, methods) in stubs::names::METHODS {
            new_methods.extend(methods.iter().filter(|name| {
                needs.methods.contains(**name) && known.insert((**name).to_owned())
            }));
        }
        let new_methods: Vec<String> = new_methods.iter().map(|name| format!("`{name}`")).collect();
        let new: Vec<String> =
            needs.written.iter().filter(|kind| written.insert((*kind).clone())).cloned().collect();
        let (topic, tests) = (needs.topic, needs.tests);
        let (new_methods, new) = (new_methods.join(", "), new.join(", "));
        writeln!(table, "| `{topic}` | {tests} | {new_methods} | {new} |").expect("a string grows");
    }
    table
}

fn references() -> String {
    let mut table =
        "| Kind | Field | Refers to | When that is deleted |\n|---|---|---|---|\n".to_owned();
    for Reference { from, field, to, on_delete } in REFERENCES {
        let then = match on_delete {
            OnDelete::Restrict => "refused",
            OnDelete::Cascade => "goes, too",
            OnDelete::SetNull => "the field becomes empty",
            OnDelete::Keep => "stays as it is; may name what is missing",
        };
        writeln!(table, "| `{from:?}` | `{field}` | `{to:?}` | {then} |").expect("a string grows");
    }
    let free: Vec<String> = RowKind::ALL
        .iter()
        .filter(|kind| Reference::to_company(**kind).is_none())
        .map(|kind| format!("`{kind:?}`"))
        .collect();
    write!(
        table,
        "\nEvery row refers to its company, too, which refuses to be deleted. These do not:\n{}.\n",
        free.join(", ")
    )
    .expect("a string grows");
    table
}

fn unique_keys() -> String {
    let mut table = "| Kind | Fields | `UniqueKey` |\n|---|---|---|\n".to_owned();
    let fields = |names: &[&str]| {
        names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    };
    for kind in RowKind::ALL {
        let (key, parts) = (UniqueKey::identity(*kind), fields(kind.key_parts()));
        writeln!(table, "| `{kind:?}` | {parts}, its key | `{key:?}` |").expect("a string grows");
        for unique in UNIQUE.iter().filter(|unique| unique.kind == *kind) {
            let parts = fields(unique.fields);
            writeln!(table, "| | {parts} | `{:?}` |", unique.key).expect("a string grows");
        }
    }
    table
}

/// Only one test at a time may read and write the guide.
static GUIDE: Mutex<()> = Mutex::new(());

/// Compares the text between `<!-- name -->` and `<!-- end of name -->` with the table, or rewrites
/// it.
fn assert_table(name: &str, table: &str) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/guides/writing-a-store.md");
    let _one = GUIDE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let guide = std::fs::read_to_string(path).expect("the guide is there");
    let (begin, end) = (format!("<!-- {name} -->\n\n"), format!("\n<!-- end of {name} -->"));
    let from = guide.find(&begin).expect("the table begins") + begin.len();
    let to = guide.find(&end).expect("the table ends");
    if std::env::var_os("RECADO_UPDATE_STORE_GUIDE").is_some() {
        let guide = format!("{}{table}{}", &guide[..from], &guide[to..]);
        std::fs::write(path, guide).expect("the guide can be written");
        return;
    }
    let hint = "RECADO_UPDATE_STORE_GUIDE=1 writes the guide anew";
    assert_eq!(&guide[from..to], table, "{hint}");
}

#[test]
fn the_guide_says_what_rows_refer_to_and_what_is_unique() {
    assert_table("references", &references());
    assert_table("unique keys", &unique_keys());
}

#[test]
fn the_guide_says_what_each_topic_needs() {
    assert_table("topics", &topics());
}
