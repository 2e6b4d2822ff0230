//! Group commit: commits that come at once share a transaction, and nothing else.

mod support;

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::future::join_all;
use recado_core::Timestamp;
use recado_core::access::{
    AccessReads, ApiKey, Gcra, KeyHash, Limiter, RateCheck, RateDecision, RateKey, Scopes,
};
use recado_core::connections::{
    Connection, ConnectionKind, ConnectionSettings, ConnectionStatus, GatewayName,
};
use recado_core::contacts::{ChannelKey, Contact, Identifier, Platform};
use recado_core::conversations::{ChannelQuery, ConversationReads};
use recado_core::ids::{CompanyId, ConnectionId, ContactId, KeyId};
use recado_core::store::{
    ChangeSet, Commit, CommitError, Conflict, Records, RecordsExt, Row, RowKey, Stored, UniqueKey,
};
use recado_store_postgres::PostgresStore;
use support::Database;
use tokio::task::JoinHandle;
use uuid::Uuid;

const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

fn company() -> CompanyId {
    CompanyId::new(Uuid::from_u128(1))
}

fn contact(number: u128) -> Contact {
    let id = ContactId::new(Uuid::from_u128(number + 100));
    let identifier = Identifier::parse(&format!("c{number}")).expect("an identifier");
    let contact = Contact::new(id, company(), Platform::whatsapp(), identifier, None, NOW);
    Contact { name: format!("Person {number}"), ..contact }
}

/// A database with a company and contacts, made by one commit.
async fn with_contacts(contacts: u128) -> Database {
    let database = Database::fresh().await;
    let made = support::company(company(), NOW);
    let changes = (1..=contacts)
        .fold(ChangeSet::new().insert(made), |all, number| all.insert(contact(number)));
    database.store.commit(changes).await.expect("all is new");
    database
}

fn commit(store: &PostgresStore, changes: ChangeSet) -> JoinHandle<Result<(), CommitError>> {
    let store = store.clone();
    tokio::spawn(async move { store.commit(changes).await })
}

async fn stored(store: &PostgresStore, number: u128) -> Stored<Contact> {
    let id = contact(number).id;
    store.get::<Contact>((company(), id)).await.expect("it works").expect("it is there")
}

/// The change of a contact's name.
async fn renamed(store: &PostgresStore, number: u128, name: &str) -> ChangeSet {
    let before = stored(store, number).await;
    let name = name.to_owned();
    ChangeSet::new().with(before.update(Contact { name, ..before.value().clone() }))
}

/// How many transactions have written the contacts as they are.
async fn transactions(database: &Database) -> i64 {
    let counted = "SELECT count(DISTINCT xmin::text) FROM contacts";
    database.client().await.query_one(counted, &[]).await.expect("it is counted").get(0)
}

/// Commits all at once: most of them come while the first ones are sent.
async fn at_once(store: &PostgresStore, sets: Vec<ChangeSet>) -> Vec<Result<(), CommitError>> {
    join_all(sets.into_iter().map(|set| store.commit(set))).await
}

/// R439.
#[tokio::test(flavor = "multi_thread")]
async fn new_rows_that_come_at_once_share_transactions() {
    let database = with_contacts(0).await;
    let sets = (1..=100).map(|number| ChangeSet::new().insert(contact(number))).collect();
    for outcome in at_once(&database.store, sets).await {
        outcome.unwrap();
    }
    for number in 1..=100 {
        assert_eq!(*stored(&database.store, number).await.value(), contact(number));
    }
    let transactions = transactions(&database).await;
    assert!(transactions <= 20, "{transactions} transactions");
}

/// R439.
#[tokio::test(flavor = "multi_thread")]
async fn replaced_rows_that_come_at_once_share_transactions() {
    let database = with_contacts(100).await;
    let mut sets = Vec::new();
    for number in 1..=100 {
        sets.push(renamed(&database.store, number, &format!("Renamed {number}")).await);
    }
    for outcome in at_once(&database.store, sets).await {
        outcome.unwrap();
    }
    for number in 1..=100 {
        let after = stored(&database.store, number).await;
        let expected = Contact { name: format!("Renamed {number}"), ..contact(number) };
        assert_eq!(*after.value(), expected);
        assert_eq!(after.version().number(), 2);
    }
    let transactions = transactions(&database).await;
    assert!(transactions <= 20, "{transactions} transactions");
    let texts = "SELECT count(*) FROM contact_search WHERE search_text LIKE '%renamed%'";
    let searchable: i64 =
        database.client().await.query_one(texts, &[]).await.expect("it is counted").get(0);
    assert_eq!(searchable, 100, "the search texts are replaced with their contacts");
}

/// R439.
#[tokio::test(flavor = "multi_thread")]
async fn the_conflict_of_one_is_that_of_no_other() {
    let database = with_contacts(40).await;
    let store = &database.store;
    let stale = renamed(store, 7, "Too late").await;
    store.commit(renamed(store, 7, "Earlier").await).await.unwrap();
    let mut sets = Vec::new();
    for number in (1..=40).filter(|number| *number != 7) {
        sets.push(renamed(store, number, "Renamed").await);
    }
    sets.insert(20, stale);
    let taken = Contact { id: contact(99).id, ..contact(3) };
    sets.insert(30, ChangeSet::new().insert(taken));
    let mut outcomes = at_once(store, sets).await;
    let refused = outcomes.remove(30);
    let conflict = Conflict::Taken(UniqueKey::ContactIdentifier);
    assert!(matches!(&refused, Err(CommitError::Conflict(c)) if *c == conflict), "{refused:?}");
    let refused = outcomes.remove(20);
    let conflict = Conflict::Stale(RowKey::Contact { company: company(), id: contact(7).id });
    assert!(matches!(&refused, Err(CommitError::Conflict(c)) if *c == conflict), "{refused:?}");
    for outcome in outcomes {
        outcome.unwrap();
    }
    assert_eq!(stored(store, 7).await.value().name, "Earlier");
    assert_eq!(stored(store, 40).await.value().name, "Renamed");
}

/// R439.
#[tokio::test(flavor = "multi_thread")]
async fn sets_beside_a_stale_one_still_share_transactions() {
    let database = with_contacts(60).await;
    let store = &database.store;
    let stale = renamed(store, 60, "Too late").await;
    store.commit(renamed(store, 60, "Earlier").await).await.unwrap();
    let mut sets = Vec::new();
    for number in 1..60 {
        sets.push(renamed(store, number, "Renamed").await);
    }
    sets.insert(30, stale);
    let outcomes = at_once(store, sets).await;
    let refused: Vec<usize> =
        (0..).zip(&outcomes).filter(|(_, one)| one.is_err()).map(|(at, _)| at).collect();
    assert_eq!(refused, [30]);
    assert_eq!(stored(store, 1).await.name, "Renamed");
    assert_eq!(stored(store, 59).await.name, "Renamed");
    assert_eq!(stored(store, 60).await.name, "Earlier");
    let transactions = transactions(&database).await;
    assert!(transactions <= 20, "{transactions} transactions");
}

/// R466. An update of the activity does not touch other columns: here they have been changed behind
/// the store's back.
#[tokio::test(flavor = "multi_thread")]
async fn an_update_of_the_activity_writes_nothing_else() {
    let database = with_contacts(3).await;
    let store = &database.store;
    let mut changes = ChangeSet::new();
    for number in 1..=3 {
        let before = stored(store, number).await;
        let last_message_at = Some(Timestamp::from_millis(1));
        let after = Contact { last_message_at, ..before.value().clone() };
        changes = changes.with(before.update_activity(after));
    }
    let client = database.client().await;
    client.batch_execute("UPDATE contacts SET observation = 'kept'").await.unwrap();
    store.commit(changes).await.unwrap();
    for number in 1..=3 {
        let after = stored(store, number).await;
        assert_eq!(after.last_message_at, Some(Timestamp::from_millis(1)));
        assert_eq!(after.observation.as_deref(), Some("kept"));
        assert_eq!(after.version().number(), 2);
    }
}

/// R439.
#[tokio::test(flavor = "multi_thread")]
async fn of_two_changes_of_one_row_that_come_at_once_one_is_stale() {
    let database = with_contacts(10).await;
    let store = &database.store;
    let mut sets = Vec::new();
    for number in 1..=10 {
        sets.push(renamed(store, number, "One").await);
        sets.push(renamed(store, number, "Other").await);
    }
    let outcomes = at_once(store, sets).await;
    for pair in outcomes.chunks(2) {
        let stale = |outcome: &Result<(), CommitError>| {
            matches!(outcome, Err(CommitError::Conflict(Conflict::Stale(_))))
        };
        assert!(pair.iter().any(Result::is_ok), "{pair:?}");
        assert!(pair.iter().any(stale), "{pair:?}");
    }
    assert_eq!(stored(store, 1).await.version().number(), 2);
}

/// R439. A decision that relied on a row, and one that changes it, are not made side by side.
#[tokio::test(flavor = "multi_thread")]
async fn two_sets_that_rely_on_what_the_other_writes_are_not_both_committed() {
    let database = with_contacts(4).await;
    let store = &database.store;
    let (one, other) = (stored(store, 1).await, stored(store, 2).await);
    let sets = vec![
        renamed(store, 3, "Busy").await,
        renamed(store, 4, "Busy").await,
        renamed(store, 1, "By one").await.require(other.unchanged()),
        renamed(store, 2, "By other").await.require(one.unchanged()),
    ];
    let outcomes = at_once(store, sets).await;
    assert!(outcomes[..2].iter().all(Result::is_ok), "{outcomes:?}");
    assert!(outcomes[2..].iter().any(Result::is_err), "{outcomes:?}");
}

/// Each set relies on a contact; some write another one of the same table.
///
/// R439.
#[tokio::test(flavor = "multi_thread")]
async fn of_sets_that_rely_on_rows_only_those_with_a_changed_one_are_refused() {
    let database = with_contacts(120).await;
    let store = &database.store;
    let mut sets = Vec::new();
    for number in 1..=60 {
        let relied_on = stored(store, number + 60).await.unchanged();
        let set = match number % 3 {
            0 => renamed(store, number, "Renamed").await,
            _ => ChangeSet::new().insert(contact(number + 200)),
        };
        sets.push(set.require(relied_on));
    }
    for number in [70, 81, 95] {
        store.commit(renamed(store, number, "Changed").await).await.unwrap();
    }
    for (number, outcome) in (61..).zip(at_once(store, sets).await) {
        let key = RowKey::Contact { company: company(), id: contact(number).id };
        match outcome {
            Ok(()) => assert!(![70, 81, 95].contains(&number), "{number}"),
            Err(error) => {
                assert!([70, 81, 95].contains(&number), "{number}: {error}");
                let stale =
                    matches!(&error, CommitError::Conflict(Conflict::Stale(k)) if *k == key);
                assert!(stale, "{number}: {error}");
            }
        }
    }
}

/// R439.
#[tokio::test(flavor = "multi_thread")]
async fn a_set_that_replaces_or_relies_on_several_rows_names_the_one_that_has_changed() {
    let database = with_contacts(12).await;
    let store = &database.store;
    let (mut replacing, mut relying) = (ChangeSet::new(), renamed(store, 12, "Unused").await);
    for number in 1..=11 {
        let before = stored(store, number).await;
        relying = relying.require(before.unchanged());
        let after = Contact { name: "Replaced".to_owned(), ..before.value().clone() };
        replacing = replacing.with(before.update(after));
    }
    store.commit(renamed(store, 7, "Earlier").await).await.unwrap();
    for set in [replacing, relying] {
        let refused = store.commit(set).await.expect_err("one of the rows has changed");
        let key = RowKey::Contact { company: company(), id: contact(7).id };
        let named = matches!(&refused, CommitError::Conflict(Conflict::Stale(k)) if *k == key);
        assert!(named, "{refused:?}");
    }
    assert_eq!(*stored(store, 1).await.value(), contact(1), "nothing was changed");
}

/// R439.
#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_waits_for_a_lock_holds_up_no_other() {
    let database = with_contacts(60).await;
    let store = &database.store;
    let holder = database.client().await;
    let held = "BEGIN; SELECT FROM contacts WHERE identifier IN ('c1', 'c2', 'c3') FOR UPDATE";
    holder.batch_execute(held).await.unwrap();
    let mut waiting = Vec::new();
    for number in 1..=3 {
        let changes = renamed(store, number, "Late").await;
        waiting.push(commit(store, changes));
    }
    let mut others = Vec::new();
    for number in 4..=60 {
        let changes = renamed(store, number, "Renamed").await;
        others.push(commit(store, changes));
    }
    // A statement waits for half of the time limit of statements, which is far longer.
    for other in others {
        let outcome = tokio::time::timeout(Duration::from_secs(10), other).await;
        outcome.expect("it waits for nobody").unwrap().unwrap();
    }
    assert!(waiting.iter().all(|commit| !commit.is_finished()));
    holder.batch_execute("COMMIT").await.unwrap();
    for commit in waiting {
        commit.await.unwrap().unwrap();
    }
}

/// A caller that stops waiting leaves nothing half done.
#[tokio::test(flavor = "multi_thread")]
async fn a_set_whose_caller_has_gone_is_committed_or_not_as_a_whole() {
    let database = with_contacts(0).await;
    let store = &database.store;
    let pair = |n: u128| ChangeSet::new().insert(contact(2 * n)).insert(contact(2 * n + 1));
    let gone: Vec<_> = (1..=20).map(|n| commit(store, pair(n))).collect();
    tokio::task::yield_now().await;
    gone.iter().for_each(JoinHandle::abort);
    store.commit(ChangeSet::new().insert(contact(1))).await.unwrap();
    let identifiers = "SELECT identifier FROM contacts";
    let found = database.client().await.query(identifiers, &[]).await.unwrap();
    let found: BTreeSet<String> = found.iter().map(|row| row.get(0)).collect();
    for n in 1..=20 {
        let (one, other) = (format!("c{}", 2 * n), format!("c{}", 2 * n + 1));
        assert_eq!(found.contains(&one), found.contains(&other), "{one}, {other}");
    }
}

/// R440.
#[tokio::test(flavor = "multi_thread")]
async fn charges_of_several_keys_that_come_at_once_are_each_decided_by_its_own_allowance() {
    let database = Database::fresh().await;
    let limiter = database.store.limiter();
    let charge = |key: u128, rate: u32| {
        let key = RateKey::Calls(KeyId::new(Uuid::from_u128(key)));
        [RateCheck { key, allowance: Gcra::per_minute(rate) }]
    };
    let calls: Vec<_> =
        (0..60).map(|n| charge(n % 3, 5 * (1 + u32::try_from(n % 3).unwrap()))).collect();
    let decided = calls.iter().map(|checks| limiter.check(checks, NOW));
    let decided = futures_util::future::join_all(decided).await;
    let mut passed = [0; 3];
    for (n, decision) in decided.into_iter().enumerate() {
        passed[n % 3] += u32::from(decision.unwrap() == RateDecision::Allowed);
    }
    assert_eq!(passed, [5, 10, 15]);
}

fn key(number: u8) -> ApiKey {
    ApiKey {
        id: KeyId::new(Uuid::from_u128(number.into())),
        company: company(),
        name: format!("Key {number}"),
        hash: KeyHash::of(&format!("secret {number}")),
        scopes: Scopes::default(),
        rate_per_minute: 600,
        export_rate_per_minute: 60,
        created_at: NOW,
        expires_at: None,
        last_used_at: None,
    }
}

/// R440.
#[tokio::test(flavor = "multi_thread")]
async fn keys_that_are_looked_up_at_once_are_each_found_or_not() {
    let database = with_contacts(0).await;
    let store = &database.store;
    let changes = (1..=9).fold(ChangeSet::new(), |all, number| all.insert(key(number)));
    store.commit(changes).await.unwrap();
    let hash = |number: u8| KeyHash::of(&format!("secret {}", number % 12));
    let hashes: Vec<_> = (0..60).map(hash).collect();
    let found = hashes.iter().map(|hash| store.key_by_hash(hash));
    for (number, found) in (0..60).zip(futures_util::future::join_all(found).await) {
        let expected = (1..=9).contains(&(number % 12)).then(|| key(number % 12));
        assert_eq!(found.unwrap().map(|(key, _)| key), expected, "{number}");
    }
}

/// R440.
#[tokio::test(flavor = "multi_thread")]
async fn connections_that_are_listed_at_once_are_those_of_each_company() {
    let database = Database::fresh().await;
    let store = &database.store;
    let company = |number: u128| CompanyId::new(Uuid::from_u128(number));
    let connection = |of: u128, number: u128| Connection {
        id: ConnectionId::new(Uuid::from_u128(100 * of + number)),
        company: company(of),
        kind: ConnectionKind::Qr,
        platform: Platform::whatsapp(),
        name: format!("Number {number}"),
        identifier: format!("55{of}{number}"),
        gateway: GatewayName::new("simulated"),
        settings: ConnectionSettings::default(),
        is_active: true,
        status: ConnectionStatus::Connected,
        created_at: Timestamp::from_millis(NOW.millis() - i64::try_from(number).unwrap()),
        updated_at: NOW,
        last_heard_at: None,
    };
    let mut changes = ChangeSet::new();
    for of in 1..=5 {
        changes = changes.insert(support::company(company(of), NOW));
        for number in 1..of {
            changes = changes.insert(connection(of, number));
        }
    }
    store.commit(changes).await.unwrap();
    let asked = (0..60).map(|n| store.all::<Connection>(company(n % 6)));
    for (n, found) in (0..60).zip(join_all(asked).await) {
        let found: Vec<Connection> = found.unwrap();
        let of = n % 6;
        let expected: Vec<Connection> = (1..of).rev().map(|n| connection(of, n)).collect();
        assert_eq!(found, expected, "company {of}");
    }
}

/// R440.
#[tokio::test(flavor = "multi_thread")]
async fn rows_that_are_looked_up_at_once_are_each_found_or_not() {
    let database = with_contacts(20).await;
    let store = &database.store;
    let key = |number: u128| match number % 4 {
        0 => RowKey::Company { company: company() },
        1 => RowKey::Company { company: CompanyId::new(Uuid::from_u128(number + 1)) },
        _ => RowKey::Contact { company: company(), id: contact(number % 30).id },
    };
    let expected = |number: u128| match number % 4 {
        0 => Some(Row::from(support::company(company(), NOW))),
        1 => None,
        _ => (1..=20).contains(&(number % 30)).then(|| Row::from(contact(number % 30))),
    };
    let keys: Vec<RowKey> = (0..100).map(key).collect();
    let found = join_all(keys.iter().map(|key| store.row(key))).await;
    for (number, found) in (0..).zip(found) {
        let found = found.unwrap().map(Stored::into_value);
        assert_eq!(found, expected(number), "{number}");
    }
}

/// Each look-up has the contacts of its own names, whatever others ask for at the same time.
///
/// R440.
#[tokio::test(flavor = "multi_thread")]
async fn contacts_that_are_looked_up_at_once_are_each_callers_own() {
    let database = with_contacts(40).await;
    let store = &database.store;
    let of_identifier = |number: u128| ChannelQuery {
        platform: Some(Platform::whatsapp()),
        identifiers: vec![contact(number).identifier],
        ..ChannelQuery::default()
    };
    let of_id = |number| ChannelQuery { ids: vec![contact(number).id], ..ChannelQuery::default() };
    let queries: Vec<ChannelQuery> = (1..=50)
        .map(|number| if number % 3 == 0 { of_id(number) } else { of_identifier(number) })
        .collect();
    let company = company();
    let found = join_all(queries.iter().map(|query| store.channel_contacts(company, query))).await;
    for (number, found) in (1..=50).zip(found) {
        let found: Vec<_> = found.unwrap().into_iter().map(|found| found.contact).collect();
        let found: Vec<_> = found.iter().map(|contact| contact.value().clone()).collect();
        let expected = if number <= 40 { vec![contact(number)] } else { Vec::new() };
        assert_eq!(found, expected, "{number}");
    }
}

/// Postgres takes no text with a zero byte.
///
/// R440.
#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_cannot_be_looked_up_fails_its_own_caller() {
    let database = with_contacts(20).await;
    let store = &database.store;
    let of_key = |key: String| ChannelQuery {
        keys: vec![ChannelKey::from_stored(key)],
        ..ChannelQuery::default()
    };
    let queries: Vec<ChannelQuery> = (0..40)
        .map(|number| of_key(if number == 20 { "\0".to_owned() } else { format!("k{number}") }))
        .collect();
    let company = company();
    let found = join_all(queries.iter().map(|query| store.channel_contacts(company, query))).await;
    for (number, found) in found.into_iter().enumerate() {
        assert_eq!(found.is_err(), number == 20, "{number}: {found:?}");
    }
}
