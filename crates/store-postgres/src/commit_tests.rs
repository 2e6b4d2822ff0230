//! The statements of shared transactions, on the schema.

use recado_core::Timestamp;
use recado_core::access::SecretName;
use recado_core::campaigns::RecipientNumber;
use recado_core::contacts::{Contact, Identifier, Platform};
use recado_core::dispatches::WindowKey;
use recado_core::idempotency::CallKey;
use recado_core::ids::{CampaignId, CompanyId, ConnectionId, ContactId};
use recado_core::match_kind;
use recado_core::messages::ProviderMessageId;
use recado_core::store::{ChangeSet, RowKey, RowKind, Version};
use recado_store_sql::{Layout, Sealer};
use recado_testkit::postgres::{TestDatabase, TestPostgres};
use uuid::Uuid;

use crate::commit::Sharing;
use crate::commit_changes::apply_changes;
use crate::contacts_write;
use crate::messages_write;
use crate::session::rows;
use crate::table::{Sql, Table, WriteMany, named};
use crate::table_key::{Strength, TableKey, lock_many, missing_of};
use crate::{Options, PostgresStore};

async fn migrated() -> (PostgresStore, TestDatabase) {
    let database = TestPostgres::shared().fresh_database();
    let store = PostgresStore::connect(database.url(), Options::default()).await.unwrap();
    store.migrate().await.unwrap();
    (store, database)
}

/// Every statement that writes several rows of a kind.
fn statements() -> Vec<(RowKind, &'static Sql)> {
    let mut all: Vec<_> =
        RowKind::ALL.iter().map(|kind| (*kind, match_kind!(*kind, T => T::sql()))).collect();
    all.push((RowKind::Contact, contacts_write::sql()));
    all.push((RowKind::Message, messages_write::sql()));
    all
}

#[tokio::test]
async fn the_statements_that_write_several_rows_fit_the_schema() {
    let (store, _database) = migrated().await;
    let client = store.pool.get().await.unwrap();
    for (kind, sql) in statements() {
        let inserts = sql.insert_many.iter().map(|insert| (insert, 0));
        // The number of rows is a parameter of its own.
        let updates = sql.update_many.iter().map(|update| (update, 1));
        for (write, more) in inserts.chain(updates).filter(|(write, _)| write.room <= 4) {
            let (room, width) = (write.room, write.width);
            let prepared = client.prepare(&write.sql).await;
            let prepared = prepared.unwrap_or_else(|error| panic!("{kind:?} × {room}: {error:?}"));
            assert_eq!(prepared.params().len(), room * width + more, "{kind:?} × {room}");
        }
    }
}

/// R439. A row whose first column is null would count as one that is not needed, and be lost.
#[tokio::test]
async fn the_first_column_of_every_table_is_never_null() {
    let (store, _database) = migrated().await;
    let client = store.pool.get().await.unwrap();
    let required = "SELECT attnotnull FROM pg_attribute \
                    WHERE attrelid = $1::text::regclass AND attname = $2::text";
    for kind in RowKind::ALL {
        let table = match_kind!(*kind, T => T::TABLE);
        let first = named(table.name, table.columns[0]);
        let found = client.query_one(required, &[&table.name, &first]).await.unwrap();
        assert!(found.get::<_, bool>(0), "{kind:?}: {first}");
    }
}

/// R439.
#[test]
fn rows_take_the_statement_with_the_least_room_for_them() {
    let all = &contacts_write::sql().update_many;
    let room = |rows| WriteMany::for_rows(all, rows).map(|update| update.room);
    let rooms = [2, 3, 4, 5, 8, 9, 17, 32, 33, 500].map(room);
    assert_eq!(rooms, [2, 4, 4, 8, 8, 16, 32, 32, 32, 32].map(Some));
}

/// R439.
#[test]
fn new_rows_of_a_kind_are_one_statement_up_to_the_most_room() {
    let statements = |rows: u128| {
        let contact = |number| {
            let identifier = Identifier::parse(&format!("c{number}")).expect("an identifier");
            let (company, now) = (CompanyId::new(Uuid::from_u128(1)), Timestamp::from_millis(0));
            let id = ContactId::new(Uuid::from_u128(number));
            Contact::new(id, company, Platform::whatsapp(), identifier, None, now)
        };
        let set = (0..rows).fold(ChangeSet::new(), |set, number| set.insert(contact(number)));
        let mut steps = Vec::new();
        let (events, sealer) = (Vec::new(), Sealer::default());
        apply_changes(&mut steps, set.changes, events, &sealer, Sharing::Shared).unwrap();
        steps.len()
    };
    assert_eq!([1, 2, 3, 31, 32, 33, 100].map(statements), [1, 1, 1, 1, 1, 2, 4]);
}

/// Keys of each type of value, two of each kind of row.
fn keys() -> Vec<[RowKey; 2]> {
    let company = CompanyId::new(Uuid::from_u128(1));
    let contact = |n: u8| ContactId::new(Uuid::from_u128(n.into()));
    let connection = ConnectionId::new(Uuid::from_u128(2));
    let campaign = CampaignId::new(Uuid::from_u128(3));
    let of_id = |n| RowKey::Contact { company, id: contact(n) };
    let of_text = |n: u8| {
        let provider_id = ProviderMessageId::from_stored(format!("w{n}"));
        RowKey::MessageRef { company, connection, provider_id }
    };
    let of_texts = |n: u8| {
        let key = CallKey { operation: "POST /send".to_owned(), key: n.to_string() };
        RowKey::RememberedCall { company, key }
    };
    let of_bytes = |n| {
        let key = WindowKey::from_bytes([n; 32]);
        RowKey::DispatchWindow { company, contact: contact(n), key }
    };
    let of_number = |n: u8| {
        let number = RecipientNumber(n.into());
        RowKey::Recipient { company, campaign, number }
    };
    let of_word = |n: u8| RowKey::Secret { name: SecretName::ALL[usize::from(n)] };
    let all: [&dyn Fn(u8) -> RowKey; 6] =
        [&of_id, &of_text, &of_texts, &of_bytes, &of_number, &of_word];
    all.map(|key| [key(0), key(1)]).to_vec()
}

/// R439.
#[tokio::test]
async fn rows_of_a_table_are_locked_by_one_statement_whatever_their_keys_are_made_of() {
    let (store, _database) = migrated().await;
    for pair in keys() {
        let places = pair.each_ref().map(TableKey::find);
        for strength in [Strength::Reads, Strength::Writes] {
            let wanted = places.each_ref().map(|place| (place, None));
            let (sql, params) = lock_many(&wanted, strength).expect("there are rows");
            let locked = rows(&store.pool, sql, params).await;
            // None of them is there.
            let refused = locked.expect_err("it fails").to_string();
            assert!(refused.contains("division by zero"), "{pair:?}: {refused}");
        }
    }
}

/// R439.
#[tokio::test]
async fn rows_that_are_there_are_locked_and_of_others_the_first_missing_one_is_named() {
    let (store, _database) = migrated().await;
    let client = store.pool.get().await.unwrap();
    let names = [SecretName::ALL[0], SecretName::ALL[1]];
    for name in names {
        let add = "INSERT INTO secrets (name, bytes, version) VALUES ($1, '', 1) \
                   ON CONFLICT (name) DO UPDATE SET version = 1";
        client.execute(add, &[&name.as_str()]).await.unwrap();
    }
    let places = names.map(|name| TableKey::find(&RowKey::Secret { name }));
    let wanted = |versions: [u64; 2]| {
        let at = |n: usize| (&places[n], Some(Version::new(versions[n])));
        [at(0), at(1)]
    };
    let missing = async |versions: [u64; 2]| {
        let (sql, params) = missing_of(&wanted(versions)).expect("there are rows");
        let found = rows(&store.pool, sql, params).await.unwrap();
        found.first().map(|row| row.get::<_, i64>(0))
    };
    let (sql, params) = lock_many(&wanted([1, 1]), Strength::Writes).expect("there are rows");
    assert_eq!(rows(&store.pool, sql, params).await.unwrap().len(), 1);
    assert_eq!(missing([1, 1]).await, None);
    assert_eq!(missing([1, 2]).await, Some(2));
    assert_eq!(missing([2, 2]).await, Some(1));
    let (sql, params) = lock_many(&wanted([1, 2]), Strength::Reads).expect("there are rows");
    assert!(rows(&store.pool, sql, params).await.is_err());
}

/// R452.
#[tokio::test]
async fn the_server_is_asked_to_notice_that_a_machine_is_gone() {
    let (store, _database) = migrated().await;
    let client = store.pool.get().await.unwrap();
    let idle: String = client.query_one("SHOW tcp_keepalives_idle", &[]).await.unwrap().get(0);
    let unanswered: String = client.query_one("SHOW tcp_user_timeout", &[]).await.unwrap().get(0);
    assert_eq!((idle.as_str(), unanswered.as_str()), ("15", "30000"));
}
