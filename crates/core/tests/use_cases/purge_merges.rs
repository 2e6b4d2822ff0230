//! A contact that is deleted and merged at the same time (4.5, D62).

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use recado_core::Error;
use recado_core::contacts::{MergeContacts, Merging};
use recado_core::documents::{FileError, FileReader, Files};
use recado_core::ids::{CompanyId, ContactId};
use recado_core::store::{Change, ChangeSet, Commit};
use recado_testkit::files::FailureAt;
use recado_testkit::{Kit, MemoryFiles, MemoryStore};

use super::purge::Case;
use super::{code, create_phone};

#[tokio::test]
async fn no_merge_decides_without_seeing_that_one_of_both_is_being_deleted() {
    let case = Case::with(1).await;
    let company = case.kit.company.id;
    let other = create_phone(&case.kit, "34991230002").await;
    // Not even undoing works: the deletion stays half done.
    case.files.fail_from(0, FailureAt::Before);
    assert_eq!(code(case.delete().await), "PURGE_FAILED");
    for (id, other) in [(case.contact, other), (other, case.contact)] {
        let merging = case.kit.app.run(&MergeContacts { company, id, other }).await;
        assert_eq!(merging.unwrap(), Merging::Busy);
        let refused = case.kit.app.contacts().merge(company, id, other).await;
        assert!(matches!(refused, Err(Error::Busy)), "{refused:?}");
    }
    case.files.heal();
    case.finish().await;
    case.assert_whole("after it was undone").await;
    case.kit.app.contacts().merge(company, other, case.contact).await.unwrap();
    let documents = case.kit.app.documents().list(company, other).await.unwrap();
    assert_eq!(documents.len(), 1);
}

/// Files during whose copying one contact gets everything of another.
#[derive(Clone)]
struct Meddling {
    inner: MemoryFiles,
    store: MemoryStore,
    gives: Arc<OnceLock<(CompanyId, ContactId, ContactId)>>,
}

#[async_trait]
impl Files for Meddling {
    async fn put(&self, key: &str, bytes: Vec<u8>) -> Result<(), FileError> {
        self.inner.put(key, bytes).await
    }

    async fn open(&self, key: &str, from: u64) -> Result<Option<FileReader>, FileError> {
        self.inner.open(key, from).await
    }

    async fn size(&self, key: &str) -> Result<Option<u64>, FileError> {
        self.inner.size(key).await
    }

    async fn copy(&self, from: &str, to: &str) -> Result<bool, FileError> {
        if let Some((company, from, into)) = self.gives.get() {
            let given = Change::reassign(*company, *from, *into);
            self.store.commit(ChangeSet::new().with(given)).await.unwrap();
        }
        self.inner.copy(from, to).await
    }

    async fn remove(&self, key: &str) -> Result<(), FileError> {
        self.inner.remove(key).await
    }
}

/// R143.
#[tokio::test]
async fn a_document_that_comes_to_a_contact_after_its_deletion_began_stops_it() {
    let store = MemoryStore::new();
    let files = Meddling { inner: MemoryFiles::new(), store: store.clone(), gives: Arc::default() };
    let kit = Kit::builder().store(Arc::new(store)).files(files.clone()).build().await;
    let (company, documents) = (kit.company.id, kit.app.documents());
    let contact = create_phone(&kit, "34991230001").await;
    let other = create_phone(&kit, "34991230002").await;
    documents.attach(company, contact, "a.pdf", vec![1]).await.unwrap();
    documents.attach(company, other, "b.pdf", vec![2]).await.unwrap();
    assert!(files.gives.set((company, other, contact)).is_ok());
    let refused = kit.app.contacts().delete(&kit.caller, contact).await;
    assert!(matches!(refused, Err(Error::Busy)), "{refused:?}");
    let mut bytes = Vec::new();
    for document in documents.list(company, contact).await.unwrap() {
        bytes.extend(documents.read(company, contact, document.id).await.unwrap().1);
    }
    assert_eq!(bytes, [1, 2], "everything is as it was");
    kit.app.contacts().delete(&kit.caller, contact).await.unwrap();
    assert_eq!(files.inner.keys(), Vec::<String>::new(), "no file is left");
}
