//! A purge whose process dies in the middle, and simultaneous purges.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use recado_core::Error;
use recado_core::contacts::DeleteContactError;
use recado_core::documents::{FileError, FileReader, Files};
use recado_testkit::{Kit, MemoryFiles, MemoryStore};

use super::purge::Case;
use super::{code, create_phone, run_until_it_hangs};

/// Files that hang at the n-th operation, before or after having done it.
#[derive(Clone)]
pub(super) struct Hanging {
    inner: MemoryFiles,
    left: Arc<AtomicU64>,
    after: bool,
}

impl Hanging {
    pub(super) fn new(inner: MemoryFiles, step: u64, after: bool) -> Self {
        Self { inner, left: Arc::new(AtomicU64::new(step)), after }
    }

    async fn pass<T>(&self, work: impl Future<Output = T> + Send) -> T {
        let left = self.left.fetch_sub(1, Ordering::SeqCst);
        if left == 0 {
            if self.after {
                work.await;
            }
            std::future::pending::<()>().await;
            unreachable!("a hanging operation never answers");
        }
        work.await
    }
}

#[async_trait]
impl Files for Hanging {
    async fn put(&self, key: &str, bytes: Vec<u8>) -> Result<(), FileError> {
        self.pass(self.inner.put(key, bytes)).await
    }

    async fn open(&self, key: &str, from: u64) -> Result<Option<FileReader>, FileError> {
        self.pass(self.inner.open(key, from)).await
    }

    async fn size(&self, key: &str) -> Result<Option<u64>, FileError> {
        self.pass(self.inner.size(key)).await
    }

    async fn copy(&self, from: &str, to: &str) -> Result<bool, FileError> {
        self.pass(self.inner.copy(from, to)).await
    }

    async fn remove(&self, key: &str) -> Result<(), FileError> {
        self.pass(self.inner.remove(key)).await
    }
}

/// A kit on the same data as `case`, whose files hang at the n-th operation.
async fn hanging(case: &Case, step: u64, after: bool) -> Kit {
    let files = Hanging::new(case.disk.clone(), step, after);
    let app = Kit::builder()
        .store(Arc::new(case.store.clone()))
        .clock(case.kit.clock.clone())
        .ids(recado_testkit::SeededIds::new(99))
        .files(files)
        .start()
        .await;
    Kit { app, ..case.kit.clone() }
}

#[tokio::test]
async fn a_purge_whose_process_dies_is_undone_or_finished_once_its_lease_has_lapsed() {
    let (mut undone, mut finished) = (0, 0);
    for after in [false, true] {
        for step in 0..9 {
            let case = Case::with(3).await;
            let dying = hanging(&case, step, after).await;
            let outcome =
                run_until_it_hangs(dying.app.contacts().delete(&case.kit.caller, case.contact));
            assert!(outcome.is_none(), "the process died at step {step}");
            let when = format!("died at step {step}, after: {after}");

            // Before another process has found the job.
            let alive = case.kit.app.contacts().get(&case.kit.caller, case.contact, false).await;
            let whole = alive.is_ok();
            if whole {
                case.assert_whole(&when).await;
                assert!(!case.kit.app.jobs().run_one().await.unwrap(), "{when}: leased");
                assert!(matches!(case.delete().await, Err(Error::Busy)), "{when}");
            }
            case.finish().await;
            if whole {
                case.assert_whole(&when).await;
                case.assert_files_in_place(&when);
                case.delete().await.unwrap();
                undone += 1;
            } else {
                finished += 1;
            }
            case.assert_gone(&when).await;
        }
    }
    assert_eq!((undone, finished), (12, 6));
}

#[tokio::test]
async fn a_purge_that_was_left_behind_does_not_stop_the_next_delete() {
    for step in 0..6 {
        let case = Case::with(3).await;
        let dying = hanging(&case, step, true).await;
        run_until_it_hangs(dying.app.contacts().delete(&case.kit.caller, case.contact));
        case.kit.clock.advance(Duration::from_secs(121));
        case.delete().await.expect("the lease has lapsed");
        case.assert_gone("deleted after a crash").await;
    }
}

/// R11.
#[tokio::test]
async fn nothing_is_attached_while_a_contact_is_being_deleted() {
    let case = Case::with(2).await;
    let dying = hanging(&case, 3, false).await;
    run_until_it_hangs(dying.app.contacts().delete(&case.kit.caller, case.contact));
    let documents = case.kit.app.documents();
    let busy = documents.attach(case.kit.company.id, case.contact, "b.pdf", vec![1]).await;
    assert!(matches!(busy, Err(Error::Busy)), "{busy:?}");
    case.finish().await;
    documents.attach(case.kit.company.id, case.contact, "b.pdf", vec![1]).await.unwrap();
}

/// R11.
#[tokio::test(flavor = "multi_thread")]
async fn of_several_deletes_at_once_the_contact_goes_once() {
    for _ in 0..10 {
        let case = Arc::new(Case::with(3).await);
        let mut tasks = Vec::new();
        for _ in 0..4 {
            let case = case.clone();
            tasks.push(tokio::spawn(async move { case.delete().await }));
        }
        let mut deleted = 0;
        for task in tasks {
            match task.await.unwrap() {
                Ok(()) => deleted += 1,
                Err(Error::Busy | Error::Rejected(DeleteContactError::NotFound)) => {}
                Err(other) => panic!("{other:?}"),
            }
        }
        assert_eq!(deleted, 1);
        case.assert_gone("after several deletes").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn attaching_while_deleting_leaves_no_file_behind() {
    for _ in 0..20 {
        let case = Arc::new(Case::with(1).await);
        let attaching = {
            let case = case.clone();
            tokio::spawn(async move {
                let mut attached = 0;
                for n in 0..10 {
                    let company = case.kit.company.id;
                    let document =
                        case.kit.app.documents().attach(company, case.contact, "b", vec![n]).await;
                    attached += u32::from(document.is_ok());
                }
                attached
            })
        };
        let outcome = case.delete().await;
        attaching.await.unwrap();
        match outcome {
            Ok(()) => case.assert_gone("attached meanwhile").await,
            Err(Error::Busy) => {
                case.finish().await;
                case.delete().await.unwrap();
                case.assert_gone("attached meanwhile").await;
            }
            Err(other) => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn an_upload_that_died_leaves_nothing_that_is_listed_and_goes_with_the_contact() {
    for after in [false, true] {
        let case = Case::with(1).await;
        let dying = hanging(&case, 0, after).await;
        let documents = dying.app.documents();
        let attach = documents.attach(case.kit.company.id, case.contact, "b.pdf", vec![1]);
        assert!(run_until_it_hangs(attach).is_none());
        case.assert_whole("an upload died").await;
        case.delete().await.unwrap();
        case.assert_gone("an upload died").await;
    }
    let store = MemoryStore::new();
    let kit = Kit::on(Arc::new(store)).await;
    let contact = create_phone(&kit, "34991230001").await;
    let too_large = vec![0; recado_core::documents::MAX_DOCUMENT_BYTES + 1];
    let refusal = kit.app.documents().attach(kit.company.id, contact, "b.pdf", too_large).await;
    assert_eq!(code(refusal), "PAYLOAD_TOO_LARGE");
}
