//! A sweep of uploads whose process dies in the middle (X11, R348): at any point every file has its
//! record, whatever a message has is whole, and the next sweep ends what was begun.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use recado_core::Timestamp;
use recado_core::ids::UploadId;
use recado_core::store::{ChangeSet, Listing, RecordsExt, Row, RowKind};
use recado_core::uploads::{FileHash, Upload, UploadState};
use recado_testkit::kit::body;
use recado_testkit::{
    FaultyStore, Kit, MemoryFiles, MemoryStore, SeededIds, StoreFailure, StoreOp,
};
use serde_json::json;
use uuid::Uuid;

use super::messages::connect;
use super::purge_crash::Hanging;
use super::run_until_it_hangs;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

struct Case {
    kit: Kit,
    model: MemoryStore,
    disk: MemoryFiles,
    /// What messages have.
    held: BTreeSet<UploadId>,
    /// What its retention keeps.
    kept: UploadId,
}

impl Case {
    /// Uploads of each sort that a sweep settles: expired ones, one that was cut off, ones that
    /// another sweep had begun to remove, ones that messages have, and ones that nobody has any
    /// more.
    async fn new() -> Self {
        let (model, disk) = (MemoryStore::new(), MemoryFiles::new());
        let store = Arc::new(model.clone());
        let kit = Kit::builder().store(store).files(disk.clone()).build().await;
        connect(&kit).await;
        let now = kit.app.now();
        let mut case = Self { kit, model, disk, held: BTreeSet::new(), kept: id(0) };
        case.kept =
            case.upload(1, |new| Upload { expires_at: Some(now.plus(9 * DAY)), ..new }).await;
        let sent = case.upload(2, |new| Upload { expires_at: Some(now.plus(DAY)), ..new }).await;
        // A crash between the mark and the look at the messages.
        let marked = case.upload(3, |new| new).await;
        for (to, id) in [("+5534991230001", sent), ("+5534991230002", marked)] {
            let fields = body(json!({"to": to, "type": "image", "media_id": id}));
            case.kit.app.sending().send_media(&case.kit.caller, &fields, None).await.expect("sent");
            case.held.insert(id);
        }
        case.mark(marked, now).await;
        let long_ago = Timestamp::from_millis(now.millis() - 31 * DAY.as_millis() as i64);
        for (n, state) in [(4, UploadState::Stored), (5, UploadState::Removing)] {
            let expired =
                |new| Upload { state, created_at: long_ago, expires_at: Some(now), ..new };
            case.upload(n, expired).await;
        }
        case.upload(6, |new| Upload { is_listed: false, expires_at: None, ..new }).await;
        let cut_off = UploadState::Uploading;
        case.upload(7, |new| Upload { state: cut_off, expires_at: Some(now), ..new }).await;
        // Its bytes are gone already.
        let gone = case.upload(8, |new| Upload { state: UploadState::Removing, ..new }).await;
        case.disk.lose(&case.row(gone).expect("a row").key());
        case.expire(gone, now).await;
        case
    }

    async fn upload(&self, n: u128, change: impl FnOnce(Upload) -> Upload) -> UploadId {
        let upload = change(Upload {
            company: self.kit.company.id,
            id: id(n),
            mimetype: "image/png".to_owned(),
            size: png().len() as u64,
            sha256: FileHash::from_bytes([7; 32]),
            filename: None,
            state: UploadState::Stored,
            is_listed: true,
            created_at: self.kit.app.now(),
            expires_at: Some(self.kit.app.now().plus(DAY)),
        });
        self.disk.keep(&upload.key(), png());
        let id = upload.id;
        self.kit.store.commit(ChangeSet::new().insert(upload)).await.expect("stored");
        id
    }

    async fn change(&self, id: UploadId, change: impl FnOnce(Upload) -> Upload) {
        let read = self.kit.app.store().get::<Upload>((self.kit.company.id, id)).await;
        let read = read.expect("the store works").expect("it is there");
        let changed = change(read.value().clone());
        let changes = ChangeSet::new().with(read.update(changed));
        self.kit.store.commit(changes).await.expect("stored");
    }

    async fn mark(&self, id: UploadId, now: Timestamp) {
        let state = UploadState::Removing;
        self.change(id, |read| Upload { state, expires_at: Some(now), ..read }).await;
    }

    async fn expire(&self, id: UploadId, now: Timestamp) {
        self.change(id, |read| Upload { expires_at: Some(now), ..read }).await;
    }

    fn rows(&self) -> Vec<Upload> {
        let (company, kind) = (self.kit.company.id, RowKind::Upload);
        let listing = Listing::Some { company, kind, limit: 1_000 };
        let rows = run_until_it_hangs(self.kit.app.store().rows(listing));
        let rows = rows.expect("a model answers at once").expect("the store works");
        let upload = |row: Row| match row {
            Row::Upload(upload) => upload,
            other => panic!("{other:?}"),
        };
        rows.into_iter().map(|row| upload(row.into_value())).collect()
    }

    fn row(&self, id: UploadId) -> Option<Upload> {
        self.rows().into_iter().find(|upload| upload.id == id)
    }

    /// What holds at every moment.
    fn assert_sound(&self, when: &str) {
        let rows = self.rows();
        let (files, keys): (BTreeSet<_>, BTreeSet<_>) =
            (self.disk.keys().into_iter().collect(), rows.iter().map(Upload::key).collect());
        assert!(files.is_subset(&keys), "{when}: a file has no record: {files:?}");
        for id in self.held.iter().chain([&self.kept]) {
            let row = self.row(*id).unwrap_or_else(|| panic!("{when}: {id} is gone"));
            assert!(files.contains(&row.key()), "{when}: {id} has no file");
        }
    }

    /// What holds once a sweep has ended.
    fn assert_swept(&self, when: &str) {
        self.assert_sound(when);
        let rows = self.rows();
        let left: BTreeSet<UploadId> = rows.iter().map(|upload| upload.id).collect();
        let expected = self.held.iter().copied().chain([self.kept]).collect();
        assert_eq!(left, expected, "{when}");
        assert_eq!(self.disk.keys().len(), left.len(), "{when}");
        for upload in rows {
            assert_eq!(upload.state, UploadState::Stored, "{when}: {upload:?}");
            let is_held = self.held.contains(&upload.id);
            assert_eq!(upload.expires_at.is_none(), is_held, "{when}: {upload:?}");
        }
    }

    /// The next sweep, of a process that lives.
    async fn sweep(&self) {
        while self.kit.app.uploads().sweep().await.expect("the store works") {}
    }
}

fn id(n: u128) -> UploadId {
    UploadId::new(Uuid::from_u128(n))
}

fn png() -> Vec<u8> {
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR...".to_vec()
}

/// R348.
#[tokio::test]
async fn a_sweep_that_dies_at_a_file_is_ended_by_the_next_one() {
    let mut died = 0;
    for after in [false, true] {
        for step in 0.. {
            let case = Case::new().await;
            let app = Kit::builder()
                .store(Arc::new(case.model.clone()))
                .clock(case.kit.clock.clone())
                .ids(SeededIds::new(99))
                .files(Hanging::new(case.disk.clone(), step, after))
                .start()
                .await;
            let ended = run_until_it_hangs(app.uploads().sweep());
            let when = format!("at file {step}, after: {after}");
            case.assert_sound(&when);
            case.sweep().await;
            case.assert_swept(&when);
            if ended.is_some() {
                break;
            }
            died += 1;
        }
    }
    // Each file that goes, before and after it went.
    assert_eq!(died, 2 * 5);
}

/// R348: also where nobody knows whether the last step was stored.
#[tokio::test]
async fn a_sweep_that_dies_at_a_commit_is_ended_by_the_next_one() {
    let mut died = 0;
    for failure in [StoreFailure::Unavailable, StoreFailure::UnknownAfter] {
        for step in 0.. {
            let case = Case::new().await;
            let faulty = FaultyStore::new(Arc::new(case.model.clone()));
            let app = Kit::builder()
                .store(Arc::new(faulty.clone()))
                .clock(case.kit.clock.clone())
                .ids(SeededIds::new(99))
                .files(case.disk.clone())
                .start()
                .await;
            faulty.fail_nth(StoreOp::Commit, step, failure);
            let ended = app.uploads().sweep().await;
            let when = format!("at commit {step}: {failure:?}");
            case.assert_sound(&when);
            case.sweep().await;
            case.assert_swept(&when);
            if ended.is_ok() {
                break;
            }
            died += 1;
        }
    }
    // Each mark, each record that goes, and the one that a message turns out to have.
    assert_eq!(died, 2 * 9);
}
