//! Sealed secrets that somebody changed in the file.

use recado_core::Timestamp;
use recado_core::access::{Secret, SecretName};
use recado_core::secret::SecretBytes;
use recado_core::store::{ChangeSet, Commit, RecordsExt, StoreError, Upkeep};
use recado_store_sqlite::{Sealer, SealingKey, SqliteOptions, SqliteStore};
use rusqlite::Connection;
use tempfile::TempDir;

fn key(number: u8) -> SealingKey {
    SealingKey::new(&[number; 32])
}

fn open(folder: &TempDir, sealer: Sealer) -> SqliteStore {
    let path = folder.path().join("recado.db");
    SqliteStore::open_with(path, SqliteOptions { sealer }).expect("it opens")
}

/// A database with both secrets of the installation, sealed with the first key.
async fn sealed() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(&folder, Sealer::new(key(1), []));
    store.migrate().expect("a new database");
    let secret = |name| Secret { name, bytes: SecretBytes::new([7; 32]) };
    let both = ChangeSet::new();
    let both = both.insert(secret(SecretName::CursorKey)).insert(secret(SecretName::MediaKey));
    store.commit(both).await.expect("written");
    store.close().await;
    folder
}

fn change(folder: &TempDir, sql: &str) {
    let conn = Connection::open(folder.path().join("recado.db")).expect("it opens");
    assert_eq!(conn.execute(sql, []).expect(sql), 1);
}

/// R215.
#[tokio::test(flavor = "multi_thread")]
async fn a_secret_that_was_copied_to_another_row_is_not_read_there() {
    let folder = sealed().await;
    change(
        &folder,
        "UPDATE secrets SET bytes = (SELECT bytes FROM secrets WHERE name = 'media_key') \
         WHERE name = 'cursor_key'",
    );
    let store = open(&folder, Sealer::new(key(1), []));
    let read = store.get::<Secret>(SecretName::CursorKey).await;
    assert!(matches!(&read, Err(StoreError::Corrupt(why)) if why.contains("sealed")), "{read:?}");
    let read = store.get::<Secret>(SecretName::MediaKey).await.expect("readable");
    assert_eq!(read.expect("it is there").bytes, SecretBytes::new([7; 32]));
    store.close().await;
}

/// R218.
#[tokio::test(flavor = "multi_thread")]
async fn one_that_cannot_be_opened_does_not_keep_others_from_being_sealed_again() {
    let folder = sealed().await;
    change(
        &folder,
        "UPDATE secrets SET bytes = CAST(substr(bytes, 1, 40) AS BLOB) WHERE name = 'cursor_key'",
    );
    let store = open(&folder, Sealer::new(key(2), [key(1)]));
    store.upkeep(Timestamp::from_millis(0)).await.expect("it goes on");
    let counts = store.sealed_counts().await.expect("counted");
    let sealed = [(key(1).id(), 1), (key(2).id(), 1)];
    assert_eq!((counts.clear, counts.sealed), (0, sealed.into()));
    let read = store.get::<Secret>(SecretName::MediaKey).await.expect("readable");
    assert_eq!(read.expect("it is there").bytes, SecretBytes::new([7; 32]));
    store.close().await;
}

/// R216.
#[tokio::test(flavor = "multi_thread")]
async fn a_value_of_a_key_that_came_later_is_not_available() {
    let folder = sealed().await;
    let (old, new) = (Sealer::new(key(1), []), Sealer::new(key(2), [key(1)]));
    let (first, second) = (open(&folder, old), open(&folder, new));
    second.upkeep(Timestamp::from_millis(0)).await.expect("sealed again");
    let read = first.get::<Secret>(SecretName::CursorKey).await;
    assert!(matches!(read, Err(StoreError::Unavailable(Some(_)))), "{read:?}");
    first.close().await;
    second.close().await;
}
