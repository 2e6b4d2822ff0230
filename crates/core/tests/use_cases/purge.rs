//! DELETE with documents, on a document store that fails at every step (4.5, D26).

use std::sync::Arc;
use std::time::Duration;

use recado_core::Error;
use recado_core::contacts::DeleteContactError;
use recado_core::documents::{AttachError, file_key};
use recado_core::ids::{ContactId, DocumentId};
use recado_core::jobs::{Job, JobKind};
use recado_testkit::{FailureAt, FaultyFiles, FileOp, Kit, MemoryFiles, MemoryStore};

use super::{code, create_phone};

/// A contact with documents, on files that can fail.
pub(super) struct Case {
    pub(super) kit: Kit,
    pub(super) store: MemoryStore,
    pub(super) disk: MemoryFiles,
    pub(super) files: FaultyFiles,
    pub(super) contact: ContactId,
    pub(super) documents: Vec<DocumentId>,
}

impl Case {
    pub(super) async fn with(documents: u8) -> Self {
        let (store, disk) = (MemoryStore::new(), MemoryFiles::new());
        let files = FaultyFiles::new(disk.clone());
        let kit = Kit::builder().store(Arc::new(store.clone())).files(files.clone()).build().await;
        let contact = create_phone(&kit, "34991230001").await;
        let mut case = Self { kit, store, disk, files, contact, documents: Vec::new() };
        for n in 0..documents {
            let attached = case.kit.app.documents();
            let attached = attached.attach(case.kit.company.id, contact, "a.pdf", vec![n; 3]).await;
            case.documents.push(attached.unwrap().id);
        }
        case
    }

    pub(super) async fn delete(&self) -> Result<(), Error<DeleteContactError>> {
        self.kit.app.contacts().delete(&self.kit.caller, self.contact).await
    }

    /// The contact is whole and every document can be read.
    pub(super) async fn assert_whole(&self, when: &str) {
        let contact = self.kit.app.contacts().get(&self.kit.caller, self.contact, true).await;
        assert!(contact.is_ok(), "{when}: the contact is gone");
        let documents = self.kit.app.documents();
        let company = self.kit.company.id;
        let listed = documents.list(company, self.contact).await.unwrap();
        assert_eq!(listed.len(), self.documents.len(), "{when}");
        for (n, id) in self.documents.iter().enumerate() {
            let (_, bytes) = documents.read(company, self.contact, *id).await.expect(when);
            assert_eq!(bytes, vec![n as u8; 3], "{when}: document {n}");
        }
    }

    /// Works off all jobs, later and later.
    pub(super) async fn finish(&self) {
        for _ in 0..8 {
            self.kit.clock.advance(Duration::from_secs(121));
            while self.kit.app.jobs().run_one().await.unwrap() {}
        }
        assert_eq!(self.store.jobs(self.kit.company.id), [], "everything is settled");
    }

    /// Where each file is, and nothing besides.
    pub(super) fn assert_files_in_place(&self, when: &str) {
        let mut wanted: Vec<String> =
            self.documents.iter().map(|id| file_key(self.kit.company.id, *id)).collect();
        wanted.sort();
        assert_eq!(self.disk.keys(), wanted, "{when}");
    }

    /// Nothing is left of the contact.
    pub(super) async fn assert_gone(&self, when: &str) {
        let gone = self.kit.app.contacts().get(&self.kit.caller, self.contact, false).await;
        assert!(gone.is_err(), "{when}: the contact is there");
        let store = self.kit.app.store();
        let rows = store.documents(self.kit.company.id, self.contact).await.unwrap();
        assert_eq!(rows, [], "{when}");
        self.finish().await;
        assert_eq!(self.disk.keys(), Vec::<String>::new(), "{when}: files were left");
    }

    /// After a delete that was refused or not: the promise of 4.5, then that it can be done again.
    async fn check(&self, outcome: Result<(), Error<DeleteContactError>>, when: &str) -> bool {
        match outcome {
            Ok(()) => {
                self.files.heal();
                self.assert_gone(when).await;
                true
            }
            Err(Error::Rejected(DeleteContactError::PurgeFailed)) => {
                self.files.heal();
                self.assert_whole(when).await;
                self.finish().await;
                self.assert_whole(when).await;
                self.assert_files_in_place(when);
                self.delete().await.expect("the document store is well again");
                self.assert_gone(when).await;
                false
            }
            Err(other) => panic!("{when}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_contact_goes_with_its_documents() {
    let case = Case::with(3).await;
    assert_eq!(case.disk.keys().len(), 3);
    case.delete().await.unwrap();
    assert_eq!(case.disk.keys(), Vec::<String>::new(), "at once, not only by the job");
    let left = case.store.jobs(case.kit.company.id);
    let forgets = |job: &Job| matches!(job.kind, JobKind::EraseEvents { .. });
    assert!(left.len() == 1 && forgets(&left[0]), "only what was told of it is left: {left:?}");
    case.assert_gone("after a delete").await;
    assert_eq!(code(case.delete().await), "NOT_FOUND");
}

#[tokio::test]
async fn whichever_step_fails_once_the_contact_is_whole_or_gone() {
    let healthy = Case::with(3).await;
    healthy.files.heal();
    healthy.delete().await.unwrap();
    let steps = healthy.files.seen();
    assert!(steps >= 9, "copies, removals and clean-up of three documents");
    let (mut deleted, mut refused) = (0, 0);
    for at in [FailureAt::Before, FailureAt::After] {
        for step in 0..steps {
            let case = Case::with(3).await;
            case.files.fail_nth(step, at);
            let outcome = case.delete().await;
            assert_eq!(case.files.failed(), 1);
            match case.check(outcome, &format!("step {step} failed {at:?}")).await {
                true => deleted += 1,
                false => refused += 1,
            }
        }
    }
    // Six steps come before the contact is deleted, three after it.
    assert_eq!((deleted, refused), (6, 12));
}

#[tokio::test]
async fn whichever_step_a_lasting_failure_begins_at_the_contact_is_whole_or_gone() {
    for at in [FailureAt::Before, FailureAt::After] {
        for step in 0..12 {
            let case = Case::with(3).await;
            case.files.fail_from(step, at);
            let outcome = case.delete().await;
            case.check(outcome, &format!("all failed {at:?} from step {step}")).await;
        }
    }
}

#[tokio::test]
async fn while_only_one_kind_of_operation_fails_every_document_stays_readable() {
    for op in [FileOp::Copy, FileOp::Remove] {
        for at in [FailureAt::Before, FailureAt::After] {
            let case = Case::with(3).await;
            let when = format!("{op:?} fails {at:?}");
            case.files.fail_every(op, at);
            for attempt in 0..3 {
                let outcome = case.delete().await;
                assert_eq!(code(outcome), "PURGE_FAILED", "{when}, attempt {attempt}");
                case.assert_whole(&when).await;
                case.kit.clock.advance(Duration::from_secs(121));
                let _ = case.kit.app.jobs().run_one().await.unwrap();
                case.assert_whole(&when).await;
            }
            case.files.heal();
            case.finish().await;
            case.assert_whole(&when).await;
            case.assert_files_in_place(&when);
            case.delete().await.unwrap();
            case.assert_gone(&when).await;
        }
    }
}

#[tokio::test]
async fn a_file_that_is_missing_already_counts_as_deleted() {
    for lost in [&[0][..], &[1, 2], &[0, 1, 2]] {
        let case = Case::with(3).await;
        for n in lost {
            case.disk.lose(&file_key(case.kit.company.id, case.documents[*n]));
        }
        case.delete().await.unwrap();
        case.assert_gone("files were missing").await;
    }
}

#[tokio::test]
async fn a_contact_without_documents_needs_no_document_store() {
    let case = Case::with(0).await;
    case.files.fail_from(0, FailureAt::Before);
    case.delete().await.unwrap();
    case.assert_gone("without documents").await;
}

#[tokio::test]
async fn a_document_is_attached_with_its_bytes_or_not_at_all() {
    let case = Case::with(1).await;
    let company = case.kit.company.id;
    let attach = async |contact: ContactId| {
        case.kit.app.documents().attach(company, contact, "b.pdf", vec![7]).await
    };
    for at in [FailureAt::Before, FailureAt::After] {
        case.files.fail_nth(0, at);
        assert!(matches!(attach(case.contact).await, Err(Error::Rejected(AttachError::Files(_)))));
        case.files.heal();
        case.assert_whole("after an attachment that failed").await;
        case.assert_files_in_place("after an attachment that failed");
    }
    let other = create_phone(&case.kit, "34991230002").await;
    let foreign = case.kit.app.documents().read(company, other, case.documents[0]).await;
    assert_eq!(code(foreign), "NOT_FOUND");
    case.delete().await.unwrap();
    assert_eq!(code(attach(case.contact).await), "NOT_FOUND");
}
