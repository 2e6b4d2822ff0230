//! What the tests start from: a company, and rows of it.

use std::sync::Arc;

use recado_core::access::{
    ApiKey, Company, Features, KeyHash, Member, Plan, Role, Scopes, TimeZone,
};
use recado_core::contacts::{Contact, ContactFilter, ContactSlice, ContactTag, Identifier};
use recado_core::contacts::{Phone, Platform, Region};
use recado_core::custom_fields::{CustomField, FieldStatus, FieldType};
use recado_core::deals::{Deal, DealStatus, Pipeline, Stage};
use recado_core::documents::{Document, DocumentState};
use recado_core::events::{Event, EventType};
use recado_core::ids::*;
use recado_core::jobs::{Job, JobKind};
use recado_core::links::{Click, Link, LinkClicks, LinkCodeHash};
use recado_core::lists::{List, ListMember};
use recado_core::organizations::{Cnpj, Organization};
use recado_core::page::PageRequest;
use recado_core::store::{
    Change, ChangeSet, CommitError, Conflict, RecordsExt, Row, Store, Stored, UniqueKey, Version,
};
use recado_core::tags::{CloseReason, Tag};
use recado_core::uploads::{FileHash, Upload, UploadState};
use recado_core::{Ids, Timestamp};
use uuid::Uuid;

use super::Harness;
use super::call_site::CallSite;
use crate::{SeededIds, TestClock};

/// A database with one company.
pub(super) struct Scene {
    pub(super) store: Arc<dyn Store>,
    pub(super) company: CompanyId,
    ids: Arc<SeededIds>,
}

/// A time, in milliseconds after the start of the test clock.
pub(super) fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(TestClock::START.millis() + millis)
}

/// A filter with a search that is valid and not empty.
pub(super) fn search(text: &str) -> ContactFilter {
    let search = recado_core::contacts::SearchQuery::parse(text).expect("acceptable");
    ContactFilter { search, ..ContactFilter::default() }
}

/// The conflict of a failed commit.
#[track_caller]
pub(super) fn conflict(outcome: Result<(), CommitError>) -> Conflict {
    match outcome {
        Err(CommitError::Conflict(conflict)) => conflict,
        other => panic!("a conflict was expected, not {other:?}"),
    }
}

/// Checks that a commit failed because the key is taken.
#[track_caller]
pub(super) fn assert_taken(outcome: Result<(), CommitError>, key: UniqueKey) {
    assert_eq!(conflict(outcome), Conflict::Taken(key));
}

/// Checks that a commit failed because a row has another version.
#[track_caller]
pub(super) fn assert_stale(outcome: Result<(), CommitError>) {
    let found = conflict(outcome);
    assert!(matches!(found, Conflict::Stale(_)), "stale was expected, not {found:?}");
}

/// Checks that a commit failed because of a reference.
#[track_caller]
pub(super) fn assert_reference(outcome: Result<(), CommitError>) {
    assert_eq!(conflict(outcome), Conflict::Reference);
}

/// Whether a commit was applied. A conflict answers `false`; any other error panics.
#[track_caller]
pub(super) fn applied(outcome: Result<(), CommitError>) -> bool {
    match outcome {
        Ok(()) => true,
        Err(CommitError::Conflict(_)) => false,
        Err(CommitError::Store(error)) => panic!("the store failed: {error}"),
    }
}

impl Scene {
    /// The database of a harness, with a company.
    pub(super) async fn of(harness: &dyn Harness) -> Self {
        let ids = Arc::new(SeededIds::new(1));
        let company = CompanyId::new(ids.uuid(at(0)));
        let scene = Self { store: harness.store().await, company, ids };
        scene.add(scene.company_row(company)).await;
        scene
    }

    /// Another company of the same database.
    pub(super) async fn another_company(&self) -> Self {
        let company = CompanyId::new(self.uuid());
        let scene = Self { store: self.store.clone(), company, ids: self.ids.clone() };
        scene.add(scene.company_row(company)).await;
        scene
    }

    /// The same company through another handle.
    pub(super) fn through(&self, store: Arc<dyn Store>) -> Self {
        Self { store, company: self.company, ids: self.ids.clone() }
    }

    pub(super) fn uuid(&self) -> Uuid {
        self.ids.uuid(at(0))
    }

    pub(super) fn uuid_at(&self, at: Timestamp) -> Uuid {
        self.ids.uuid(at)
    }

    pub(super) fn random<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.ids.fill(&mut bytes);
        bytes
    }

    /// Stores a row.
    #[track_caller]
    pub(super) fn add(&self, row: impl Into<Row>) -> impl Future<Output = ()> {
        self.applies(CallSite::here(), [Change::insert(row)])
    }

    /// Tries to store a row.
    pub(super) async fn try_add(&self, row: impl Into<Row>) -> Result<(), CommitError> {
        self.store.commit(ChangeSet::new().insert(row)).await
    }

    /// Applies a change.
    #[track_caller]
    pub(super) fn apply(&self, change: Change) -> impl Future<Output = ()> {
        self.applies(CallSite::here(), [change])
    }

    /// Tries to apply a change.
    pub(super) async fn try_apply(&self, change: Change) -> Result<(), CommitError> {
        self.store.commit(ChangeSet::new().with(change)).await
    }

    /// Stores all rows in one commit.
    #[track_caller]
    pub(super) fn add_all<T: Into<Row>>(
        &self,
        rows: impl IntoIterator<Item = T>,
    ) -> impl Future<Output = ()> {
        let caller = CallSite::here();
        let changes = rows.into_iter().fold(ChangeSet::new(), |changes, row| changes.insert(row));
        async move {
            if let Err(error) = self.store.commit(changes.clone()).await {
                // Applied one by one, the failing row can be named.
                self.applies(caller, changes.changes).await;
                panic!(
                    "{caller}: rows that can be stored one by one were refused as a set: {error}"
                );
            }
        }
    }

    /// A contact as it is stored now.
    #[track_caller]
    pub(super) fn stored(&self, id: ContactId) -> impl Future<Output = Stored<Contact>> {
        let caller = CallSite::here();
        async move {
            let contact = self.store.get::<Contact>((self.company, id)).await;
            caller.finds("the contact", caller.works(contact))
        }
    }

    /// Whether the contact exists.
    #[track_caller]
    pub(super) fn has_contact(&self, id: ContactId) -> impl Future<Output = bool> {
        let caller = CallSite::here();
        async move { caller.works(self.store.get::<Contact>((self.company, id)).await).is_some() }
    }

    /// One page of the listing.
    #[track_caller]
    pub(super) fn page(
        &self,
        filter: &ContactFilter,
        page: u32,
        limit: u32,
    ) -> impl Future<Output = ContactSlice> {
        let (caller, request) = (CallSite::here(), PageRequest { page, limit });
        async move { caller.works(self.store.contact_page(self.company, filter, request, false).await) }
    }

    /// The number of contacts that pass a filter, by the listing's total.
    #[track_caller]
    pub(super) fn total(&self, filter: &ContactFilter) -> impl Future<Output = u64> {
        let page = self.page(filter, 1, 1);
        async move { page.await.total }
    }

    pub(super) fn company_row(&self, id: CompanyId) -> Company {
        Company {
            id,
            name: "Padaria".to_owned(),
            plan: Plan::Enterprise,
            features: Features::default(),
            default_region: Region::br(),
            time_zone: TimeZone::default(),
            erase_deleted_messages: false,
            created_at: at(0),
            updated_at: at(0),
            deleted_at: None,
        }
    }

    /// A contact with this identifier on the channel, without a phone.
    pub(super) fn contact_named(&self, identifier: &str) -> Contact {
        let identifier = Identifier::parse(identifier).expect("acceptable");
        let id = ContactId::new(self.uuid());
        Contact::new(id, self.company, Platform::whatsapp(), identifier, None, at(0))
    }

    /// A contact whose unique values no other contact has.
    pub(super) fn contact(&self) -> Contact {
        self.contact_named(&self.uuid().to_string())
    }

    /// A contact with this phone.
    pub(super) fn contact_with_phone(&self, phone: &str) -> Contact {
        let phone = Phone::parse(phone, &Region::br()).expect("a phone number");
        let identifier = Identifier::of_phone(&phone);
        let id = ContactId::new(self.uuid());
        Contact::new(id, self.company, Platform::whatsapp(), identifier, Some(phone), at(0))
    }

    pub(super) fn key(&self) -> ApiKey {
        ApiKey {
            id: KeyId::new(self.uuid()),
            company: self.company,
            name: "CRM".to_owned(),
            hash: KeyHash::from_bytes(self.random()),
            scopes: Scopes::all(),
            rate_per_minute: 600,
            export_rate_per_minute: 60,
            expires_at: None,
            last_used_at: None,
            created_at: at(0),
        }
    }

    pub(super) fn member(&self) -> Member {
        Member {
            id: MemberId::new(self.uuid()),
            company: self.company,
            display_name: "Ana".to_owned(),
            role: Role::Agent,
            created_at: at(0),
        }
    }

    pub(super) fn field(&self, slug: &str) -> CustomField {
        CustomField {
            id: CustomFieldId::new(self.uuid()),
            company: self.company,
            slug: slug.to_owned(),
            label: slug.to_uppercase(),
            field_type: FieldType::Text,
            status: FieldStatus::Active,
            created_at: at(0),
        }
    }

    pub(super) fn list(&self) -> List {
        List {
            id: ListId::new(self.uuid()),
            company: self.company,
            name: "Clientes".to_owned(),
            is_active: true,
            created_at: at(0),
        }
    }

    pub(super) fn joins(&self, contact: &Contact, list: &List) -> ListMember {
        ListMember { company: self.company, list: list.id, contact: contact.id }
    }

    pub(super) fn tag(&self) -> Tag {
        Tag {
            id: TagId::new(self.uuid()),
            company: self.company,
            name: "VIP".to_owned(),
            color: "#ff0000".to_owned(),
            created_at: at(0),
        }
    }

    pub(super) fn tagged(&self, contact: &Contact, tag: &Tag) -> ContactTag {
        ContactTag { company: self.company, contact: contact.id, tag: tag.id }
    }

    pub(super) fn close_reason(&self) -> CloseReason {
        CloseReason {
            id: CloseReasonId::new(self.uuid()),
            company: self.company,
            name: "Vendido".to_owned(),
            created_at: at(0),
        }
    }

    pub(super) fn pipeline(&self) -> Pipeline {
        Pipeline {
            id: PipelineId::new(self.uuid()),
            company: self.company,
            name: "Vendas".to_owned(),
            created_at: at(0),
        }
    }

    pub(super) fn stage(&self, pipeline: &Pipeline, display_order: u32) -> Stage {
        Stage {
            id: StageId::new(self.uuid()),
            company: self.company,
            pipeline: pipeline.id,
            name: format!("Etapa {display_order}"),
            color: "#1e90ff".to_owned(),
            display_order,
        }
    }

    pub(super) fn deal(&self, contact: &Contact, stage: Option<&Stage>) -> Deal {
        Deal {
            id: DealId::new(self.uuid()),
            company: self.company,
            contact_id: contact.id,
            title: "Venda".to_owned(),
            stage_id: stage.map(|stage| stage.id),
            stage_entered_at: stage.map(|_| at(0)),
            status: DealStatus::Open,
            created_at: at(0),
            updated_at: at(0),
        }
    }

    pub(super) fn organization(&self, cnpj: &str) -> Organization {
        let cnpj = Cnpj::parse(cnpj).expect("a cnpj");
        Organization::new(OrganizationId::new(self.uuid()), self.company, cnpj, at(0))
    }

    pub(super) fn document(&self, contact: &Contact) -> Document {
        Document {
            id: DocumentId::new(self.uuid()),
            company: self.company,
            contact_id: contact.id,
            filename: "contrato.pdf".to_owned(),
            size: 3,
            state: DocumentState::Stored,
            created_at: at(0),
        }
    }

    pub(super) fn upload(&self, byte: u8) -> Upload {
        Upload {
            company: self.company,
            id: UploadId::new(self.uuid()),
            mimetype: "image/png".to_owned(),
            size: 3,
            sha256: FileHash::from_bytes([byte; 32]),
            filename: byte.is_multiple_of(2).then(|| "a.png".to_owned()),
            state: UploadState::Stored,
            is_listed: byte % 2 == 1,
            created_at: at(0),
            expires_at: None,
        }
    }

    pub(super) fn link(&self, contact: &Contact) -> Link {
        Link {
            id: LinkId::new(self.uuid()),
            company: self.company,
            contact: contact.id,
            code_hash: LinkCodeHash::from_bytes(self.random()),
            url: "https://example.com/".to_owned(),
            created_at: at(0),
            clicks: LinkClicks::default(),
        }
    }

    /// A link with so many clicks of people, the last one at `millis`.
    pub(super) fn clicked_link(&self, contact: &Contact, total: u64, millis: i64) -> Link {
        Link { clicks: LinkClicks { total, last_at: Some(at(millis)) }, ..self.link(contact) }
    }

    pub(super) fn click(&self, link: &Link, millis: i64, human: bool) -> Click {
        Click {
            id: ClickId::new(self.uuid()),
            company: self.company,
            link: link.id,
            contact: link.contact,
            at: at(millis),
            human,
        }
    }

    /// A job with a subject of its own.
    pub(super) fn job(&self) -> Job {
        let kind = JobKind::Enrich { organization: OrganizationId::new(self.uuid()) };
        Job::due_now(JobId::new(self.uuid()), self.company, kind, at(0))
    }

    pub(super) fn event(&self, contact: &Contact, data: &str) -> Event {
        Event {
            id: EventId::new(self.uuid()),
            company: self.company,
            event_type: EventType::ContactCreated,
            contact: Some(contact.id),
            at: at(0),
            data: data.to_owned(),
        }
    }
}

/// A row at its first version.
pub(super) fn first<T>(row: T) -> Stored<T> {
    Stored::new(row, Version::FIRST)
}

/// CNPJs for tests.
pub(super) const CNPJ: &str = "19131243000197";
/// Another one.
pub(super) const OTHER_CNPJ: &str = "00000000000191";
