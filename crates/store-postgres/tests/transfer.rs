//! Moving what a store holds to another one, in all four directions.

mod support;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use recado_core::access::{KeyHash, OperatorRole, OperatorToken, Secret, SecretName};
use recado_core::audit::{Acting, AuditEntry, RecordRef, RecordRefs};
use recado_core::events::Event;
use recado_core::ids::{AuditEntryId, CompanyId, OperatorTokenId, TagId};
use recado_core::secret::SecretBytes;
use recado_core::store::{
    Change, ChangeSet, Listing, RecordsExt as _, Row, RowKind, Store, Stored, Version,
};
use recado_core::tags::Tag;
use recado_core::{Code, Timestamp};
use recado_store_postgres::{Options, PostgresStore, Sealer, SealingKey};
use recado_store_sql::transfer::{
    Fill, Moved, Part, Scope, Step, Tallies, TransferError, Transferable, compare, copy, count,
    fill, is_same, tallies,
};
use recado_store_sqlite::{SqliteOptions, SqliteStore};
use recado_testkit::FaultyStore;
use recado_testkit::conformance::{Harness, removal};
use recado_testkit::differential::{Mix, commands_of_mix, differential_with};
use support::Database;
use tempfile::TempDir;
use uuid::Uuid;

/// A database of one of the two kinds.
#[derive(Clone)]
enum Place {
    /// With the folder of its file.
    Sqlite(Arc<SqliteStore>, #[expect(dead_code, reason = "it keeps the file")] Arc<TempDir>),
    Postgres(PostgresStore, Arc<Database>),
}

impl Place {
    fn sqlite(sealer: Sealer) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("recado.db");
        let store = SqliteStore::open_with(path, SqliteOptions { sealer }).expect("a database");
        store.migrate().expect("a new database");
        Self::Sqlite(Arc::new(store), Arc::new(folder))
    }

    async fn postgres(sealer: Sealer) -> Self {
        let database = Database::fresh().await;
        let options = Options { sealer, ..support::options() };
        let store = PostgresStore::connect(database.url(), options).await.expect("it was made");
        Self::Postgres(store, Arc::new(database))
    }

    fn store(&self) -> Arc<dyn Store> {
        match self {
            Self::Sqlite(store, _) => store.clone(),
            Self::Postgres(store, _) => Arc::new(store.clone()),
        }
    }

    fn transferable(&self) -> &dyn Transferable {
        match self {
            Self::Sqlite(store, _) => &**store,
            Self::Postgres(store, _) => store,
        }
    }

    async fn events(&self, company: CompanyId) -> Vec<Event> {
        match self {
            Self::Sqlite(store, _) => store.events(company).await.expect("a database"),
            Self::Postgres(_, database) => database.events(company).await,
        }
    }

    /// Everything that it has, added up.
    async fn tallies(&self) -> Tallies {
        self.tallies_for(Scope::Installation).await
    }

    /// The same of the parts alone that a move of this scope takes: not the log, for one company.
    async fn tallies_for(&self, scope: Scope) -> Tallies {
        let everything = Scope::Installation;
        let reader = self.transferable().transfer_out(everything, false).await;
        let mut reader = reader.expect("it is there");
        tallies(&mut *reader, scope, Fill::Anew).await.expect("it can be read")
    }

    async fn companies(&self) -> Vec<CompanyId> {
        self.transferable().held_companies().await.expect("it is there")
    }
}

/// Moves everything, or one company; the number of rows that were copied.
async fn move_all(from: &Place, to: &Place, scope: Scope, fill: Fill) -> u64 {
    let mut copied = 0;
    let mut step = |step| {
        if let Step::Copied(counted) = step {
            copied += counted.rows;
        }
    };
    let mut source = from.transferable().transfer_out(scope, true).await.expect("it is there");
    let mut target = to.transferable().transfer_in(scope, fill).await.expect("it is there");
    let tallies =
        copy(&mut *source, &mut *target, scope, fill, &mut step).await.expect("it is copied");
    let written = target.written().await.expect("it is there");
    compare(&tallies, written, scope, fill, &mut |_| ()).await.expect("it is the same");
    target.commit().await.expect("it is durable");
    copied
}

/// Takes along what a move leaves behind: to the model, it is the same processes that go on.
async fn take_along(from: &Place, to: &Place) {
    let (scope, fill) = (Scope::Installation, Fill::Beside);
    let mut source = from.transferable().transfer_out(scope, true).await.expect("it is there");
    let mut target = to.transferable().transfer_in(scope, fill).await.expect("it is there");
    for kind in [RowKind::Worker, RowKind::Shard, RowKind::Halt] {
        let part = Part::Rows(kind);
        let (mut rows, mut there) = (Vec::new(), Vec::new());
        source.open(part).await.expect("it is there");
        while let Some(chunk) = source.next().await.expect("it is there") {
            rows.extend(chunk);
        }
        let written = target.written().await.expect("it is there");
        written.open(part).await.expect("it is there");
        while let Some(chunk) = written.next().await.expect("it is there") {
            there.extend(chunk);
        }
        rows.retain(|row| !there.contains(row));
        target.write(part, rows).await.expect("it is written");
    }
    target.finish(source.places().await.expect("it is there")).await.expect("it is written");
    target.commit().await.expect("it is durable");
}

/// A store that is moved from place to place while it is used.
struct Moving {
    store: FaultyStore,
    place: Mutex<Place>,
}

impl Moving {
    fn begin(place: Place) -> Self {
        Self { store: FaultyStore::new(place.store()), place: Mutex::new(place) }
    }

    fn place(&self) -> Place {
        self.place.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn move_to(&self, next: Place) {
        let copied = move_all(&self.place(), &next, Scope::Installation, Fill::Anew).await;
        assert!(copied > 0, "there is something to move");
        take_along(&self.place(), &next).await;
        self.store.switch_to(next.store());
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) = next;
    }
}

#[async_trait]
impl Harness for Moving {
    async fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.store.clone())
    }

    async fn second(&self) -> Option<Arc<dyn Store>> {
        None
    }

    async fn events(&self, company: CompanyId) -> Vec<Event> {
        self.place().events(company).await
    }
}

fn key(n: u8) -> SealingKey {
    SealingKey::new(&[n; 32])
}

/// Runs commands on a store that is moved four times meanwhile, once in each direction, and
/// compares every answer with the model's. Each place seals with another key.
async fn moved_meanwhile(mix: Mix, seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let moving = Moving::begin(Place::sqlite(Sealer::new(key(1), [])));
        let commands = commands_of_mix(mix, seed, 401);
        let meanwhile = async |number| match number {
            80 => moving.move_to(Place::postgres(Sealer::new(key(2), [])).await).await,
            160 => moving.move_to(Place::postgres(Sealer::default()).await).await,
            240 => moving.move_to(Place::sqlite(Sealer::new(key(3), [key(1)]))).await,
            320 => moving.move_to(Place::sqlite(Sealer::default())).await,
            _ => (),
        };
        differential_with(&[("moved", &moving)], &commands, meanwhile).await;
    }
}

/// R257, R260.
#[tokio::test(flavor = "multi_thread")]
async fn contacts_and_records_are_as_the_model_has_them_after_each_move() {
    moved_meanwhile(Mix::UseCases, 0..2).await;
}

/// R257.
#[tokio::test(flavor = "multi_thread")]
async fn conversations_are_as_the_model_has_them_after_each_move() {
    moved_meanwhile(Mix::Messaging, 0..2).await;
}

/// R257.
#[tokio::test(flavor = "multi_thread")]
async fn deliveries_and_the_journal_are_as_the_model_has_them_after_each_move() {
    moved_meanwhile(Mix::Webhooks, 0..2).await;
}

/// R257.
#[tokio::test(flavor = "multi_thread")]
async fn campaigns_and_endpoints_are_as_the_model_has_them_after_each_move() {
    moved_meanwhile(Mix::Reach, 0..2).await;
}

/// R257.
#[tokio::test(flavor = "multi_thread")]
async fn rows_of_all_kinds_are_as_the_model_has_them_after_each_move() {
    moved_meanwhile(Mix::Rows, 0..2).await;
}

/// A place with two companies and records of many kinds.
async fn populated(place: Place) -> Place {
    let moving = Moving::begin(place);
    let commands = commands_of_mix(Mix::Messaging, 3, 300);
    // On the heap: it is too large for the stack of a test.
    Box::pin(differential_with(&[("source", &moving)], &commands, async |_| ())).await;
    moving.place()
}

/// A new place of each kind.
async fn new_places() -> [Place; 2] {
    [Place::sqlite(Sealer::default()), Place::postgres(Sealer::default()).await]
}

/// What an installation has beside its companies' rows.
fn rows_of_the_installation(company: CompanyId) -> Vec<Row> {
    let (at, id) = (Timestamp::from_millis(1_795_000_000_000), Uuid::from_u128(7));
    let acting = Acting::program("company create");
    let records = [RecordRef::new("contact", 1)].into_iter().collect();
    let entry = |n, of| {
        let id = AuditEntryId::new(Uuid::from_u128(n));
        AuditEntry::new(id, at, &acting, of, RecordRefs::clone(&records))
    };
    let token = OperatorToken {
        id: OperatorTokenId::new(id),
        name: "Ana '\"\\ é".to_owned(),
        hash: KeyHash::of("a secret"),
        role: OperatorRole::Manager,
        company: Some(company),
        expires_at: Some(at),
        last_used_at: Some(at),
        created_at: at,
    };
    let denied = AuditEntry { denied: Some(Code::InsufficientRole), ..entry(2, Some(company)) };
    let secrets = SecretName::ALL
        .iter()
        .map(|name| Row::from(Secret { name: *name, bytes: SecretBytes::new([9; 32]) }));
    secrets.chain([token.into(), entry(1, None).into(), denied.into()]).collect()
}

/// Inserts those of them that are not there.
async fn insert_rows_of_the_installation(place: &Place, company: CompanyId) {
    let store = place.store();
    for row in rows_of_the_installation(company) {
        if store.row(&row.key()).await.expect("it is read").is_none() {
            store.commit(ChangeSet::new().with(Change::insert(row))).await.expect("it is new");
        }
    }
}

/// The rows of every company and of the installation that can be listed, with their versions.
async fn rows_in(store: &dyn Store, companies: &[CompanyId]) -> Vec<Stored<Row>> {
    let mut found = Vec::new();
    for company in companies.iter().copied() {
        for kind in RowKind::ALL.iter().copied() {
            let some = Listing::Some { company, kind, limit: 1_000 };
            let mut rows = store.rows(some).await.expect("it can be read");
            rows.sort_by_key(|row| format!("{:?}", row.value().key()));
            found.extend(rows);
        }
    }
    let before = (Timestamp::MAX, AuditEntryId::new(Uuid::max()));
    let log = Listing::Audited { company: None, before, limit: 1_000 };
    for listing in [Listing::Company, Listing::OperatorToken, log] {
        found.extend(store.rows(listing).await.expect("it can be read"));
    }
    found
}

/// R257: of every kind, those of members who log in, of the audit log and of remembered opt-outs
/// among them.
#[tokio::test(flavor = "multi_thread")]
async fn a_row_of_every_kind_is_moved_as_it_is() {
    for source in new_places().await {
        let moving = Moving::begin(source.clone());
        Box::pin(removal::nothing_of_a_deleted_company_is_left(&moving)).await;
        let companies = source.companies().await;
        insert_rows_of_the_installation(&source, companies[0]).await;
        let (before, rows) = (source.tallies().await, rows_in(&*source.store(), &companies).await);
        let is_missing = |kind: &RowKind| before.rows(Part::Rows(*kind)) == 0;
        let missing: Vec<RowKind> = RowKind::ALL.iter().copied().filter(is_missing).collect();
        // The first two stay behind, a halt would stop the move, and the only job is done.
        let expected = [RowKind::Worker, RowKind::Shard, RowKind::Halt, RowKind::Job];
        assert!(missing.iter().all(|kind| expected.contains(kind)), "{missing:?}");
        for target in new_places().await {
            move_all(&source, &target, Scope::Installation, Fill::Anew).await;
            assert_eq!(target.companies().await, companies);
            assert_eq!(rows_in(&*target.store(), &companies).await, rows);
            assert_eq!(target.tallies().await, before);
        }
    }
}

/// R259.
#[tokio::test(flavor = "multi_thread")]
async fn a_move_that_is_cut_off_leaves_nothing_and_can_be_begun_again() {
    let source = populated(Place::sqlite(Sealer::default())).await;
    for target in new_places().await {
        let (scope, fill) = (Scope::Installation, Fill::Anew);
        let before = target.tallies().await;
        let mut from = source.transferable().transfer_out(scope, true).await.unwrap();
        let mut to = target.transferable().transfer_in(scope, fill).await.unwrap();
        copy(&mut *from, &mut *to, scope, fill, &mut |_| ()).await.unwrap();
        drop((from, to));
        assert!(target.companies().await.is_empty());
        assert_eq!(target.tallies().await, before);
        move_all(&source, &target, scope, fill).await;
        assert_eq!(target.tallies().await, source.tallies().await);
        assert_eq!(target.companies().await, source.companies().await);
    }
}

/// R258.
#[tokio::test(flavor = "multi_thread")]
async fn a_row_more_in_the_target_is_noticed() {
    let source = populated(Place::sqlite(Sealer::default())).await;
    for target in new_places().await {
        let (scope, fill) = (Scope::Installation, Fill::Anew);
        let mut from = source.transferable().transfer_out(scope, true).await.unwrap();
        let mut to = target.transferable().transfer_in(scope, fill).await.unwrap();
        let copied = copy(&mut *from, &mut *to, scope, fill, &mut |_| ()).await.unwrap();
        let company = source.companies().await[0];
        let row = Tag {
            id: TagId::new(company.uuid()),
            company,
            name: "one more".to_owned(),
            color: "#000000".to_owned(),
            created_at: Timestamp::MIN,
        };
        let more = Moved::Row { row: row.into(), version: Version::FIRST, place: None };
        let part = Part::Rows(RowKind::Tag);
        to.write(part, vec![more]).await.unwrap();
        to.finish(from.places().await.unwrap()).await.unwrap();
        let written = to.written().await.unwrap();
        let compared = compare(&copied, written, scope, fill, &mut |_| ()).await;
        let Err(TransferError::Differs { part: at, company: of, .. }) = compared else {
            panic!("{compared:?}");
        };
        assert_eq!((at, of), (part, Some(company)));
    }
}

/// D76, R261.
#[tokio::test(flavor = "multi_thread")]
async fn companies_move_one_by_one_and_the_others_stay_as_they_are() {
    let source = populated(Place::sqlite(Sealer::default())).await;
    let companies = source.companies().await;
    let [first, others @ ..] = &companies[..] else { panic!("there are companies") };
    assert!(!others.is_empty());
    for target in new_places().await {
        move_all(&source, &target, Scope::Company(*first), Fill::Anew).await;
        assert_eq!(target.companies().await, [*first]);
        let events = target.events(*first).await;
        assert_eq!(events, source.events(*first).await);
        for other in others {
            move_all(&source, &target, Scope::Company(*other), Fill::Beside).await;
        }
        let all = target.tallies_for(Scope::Company(*first)).await;
        assert_eq!(all, source.tallies_for(Scope::Company(*first)).await);
        assert_eq!(target.events(*first).await, events);
        target.store().upkeep(Timestamp::MIN).await.unwrap();
    }
}

/// What a source goes on with while one of its companies is closed: entries of the audit log, also
/// of that company, and the hour in which its operator token was last used.
async fn go_on(source: &Place, company: CompanyId, n: u128) {
    let (store, at) = (source.store(), Timestamp::from_millis(1_795_000_000_000));
    let mut changes = ChangeSet::new();
    for (id, of) in [(2 * n, None), (2 * n + 1, Some(company))] {
        let (id, acting) = (AuditEntryId::new(Uuid::from_u128(id)), Acting::program("hold"));
        let entry = AuditEntry::new(id, at, &acting, of, RecordRefs::default());
        changes = changes.with(Change::insert(entry));
    }
    for token in store.all_stored::<OperatorToken>(()).await.expect("they are read") {
        let last_used_at = Some(at.plus(Duration::from_secs(n as u64)));
        let used = OperatorToken { last_used_at, ..token.value().clone() };
        changes = changes.with(token.update(used));
    }
    store.commit(changes).await.expect("they are as they were read");
}

/// Whether the target has all of a company, as a killed move asks that is begun again.
async fn has_company(source: &Place, target: &Place, company: CompanyId) -> bool {
    let (scope, fill) = (Scope::Company(company), Fill::Beside);
    let mut from = source.transferable().transfer_out(scope, true).await.expect("it is read");
    let mut to = target.transferable().transfer_out(scope, false).await.expect("it is read");
    is_same(&mut *from, &mut *to, scope, fill).await.expect("they are read")
}

/// D76, R257, R259, R261, R262, R390.
#[tokio::test(flavor = "multi_thread")]
async fn companies_leave_the_audit_log_behind_that_goes_on_and_take_their_operator_tokens_along() {
    let source = populated(Place::sqlite(Sealer::default())).await;
    let companies = source.companies().await;
    assert!(companies.len() > 1);
    insert_rows_of_the_installation(&source, companies[0]).await;
    let (log, tokens) = (Part::Rows(RowKind::AuditEntry), Part::Rows(RowKind::OperatorToken));
    let mut times = 100..;
    for target in new_places().await {
        let acting = Acting::program("init");
        let id = AuditEntryId::new(Uuid::from_u128(1));
        let own = AuditEntry::new(id, Timestamp::MIN, &acting, None, RecordRefs::default());
        target.store().commit(ChangeSet::new().insert(own.clone())).await.expect("it is new");
        for company in companies.iter().copied() {
            let scope = Scope::Company(company);
            let fill = fill(scope, &target.companies().await).unwrap();
            let mut reader = source.transferable().transfer_out(scope, true).await.unwrap();
            let counted = count(&mut *reader, scope, fill).await.unwrap();
            drop(reader);
            assert!(counted.iter().all(|counted| counted.part != log));
            let copied = move_all(&source, &target, scope, fill).await;
            assert_eq!(counted.iter().map(|counted| counted.rows).sum::<u64>(), copied);
            go_on(&source, company, times.next().unwrap()).await;
            assert!(has_company(&source, &target, company).await);
        }
        let moved = target.tallies().await;
        assert_eq!((moved.rows(log), moved.rows(tokens)), (1, 1));
        let kept =
            target.store().get::<AuditEntry>((Timestamp::MIN, id)).await.expect("it is read");
        assert_eq!(kept.expect("the target keeps its own log").value(), &own);
        assert_eq!(target.companies().await, companies);
    }
    let everything = Scope::Installation;
    let mut reader = source.transferable().transfer_out(everything, true).await.unwrap();
    let counted = count(&mut *reader, everything, Fill::Anew).await.unwrap();
    assert!(counted.iter().any(|counted| counted.part == log && counted.rows > 2));
}

/// R261.
#[tokio::test(flavor = "multi_thread")]
async fn beside_companies_of_another_installation_a_company_is_refused() {
    let source = populated(Place::sqlite(Sealer::default())).await;
    let company = Scope::Company(source.companies().await[0]);
    for target in new_places().await {
        let target = populated(target).await;
        let name = SecretName::ALL[0];
        let other = Secret { name, bytes: SecretBytes::new([9; 32]) };
        let change = match target.store().get::<Secret>(name).await.unwrap() {
            Some(found) => found.update(other),
            None => Change::insert(other),
        };
        target.store().commit(ChangeSet::new().with(change)).await.unwrap();
        let fill = Fill::Beside;
        let mut from = source.transferable().transfer_out(company, true).await.unwrap();
        let mut to = target.transferable().transfer_in(company, fill).await.unwrap();
        let copied = copy(&mut *from, &mut *to, company, fill, &mut |_| ()).await;
        assert!(matches!(copied, Err(TransferError::OtherInstallation { .. })), "{copied:?}");
    }
}
