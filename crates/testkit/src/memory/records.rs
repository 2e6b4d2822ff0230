//! Reads of everything but contacts: rows by key, and listings by `created_at`, then `id`.

use async_trait::async_trait;
use recado_core::access::{AccessReads, ApiKey, Company, KeyHash, Member, Secret, SecretName};
use recado_core::custom_fields::{CustomField, CustomFieldReads};
use recado_core::deals::{Deal, DealReads, Pipeline, Stage};
use recado_core::documents::{Document, DocumentReads};
use recado_core::ids::{
    CloseReasonId, CompanyId, ContactId, CustomFieldId, DealId, DocumentId, KeyId, LinkId, ListId,
    MemberId, OrganizationId, PipelineId, StageId, TagId,
};
use recado_core::jobs::{Job, JobKind, JobReads};
use recado_core::links::{Link, LinkCode, LinkReads};
use recado_core::lists::{List, ListCandidates, ListMember, ListReads};
use recado_core::organizations::{Organization, OrganizationReads};
use recado_core::store::{Record, RowKey, StoreError, Stored};
use recado_core::tags::{CloseReason, Tag, TagReads};

use super::{MemoryStore, State};

impl State {
    /// All records of a kind that `wanted` holds for, by `order`.
    pub(super) fn sorted<T: Record, K: Ord>(
        &self,
        wanted: impl Fn(&T) -> bool,
        order: impl Fn(&T) -> K,
    ) -> Vec<T> {
        let mut records: Vec<T> = self.rows.all::<T>().filter(|r| wanted(r)).cloned().collect();
        records.sort_by_key(order);
        records
    }

    fn members_of(&self, list: &List) -> u64 {
        let members = self.rows.all::<ListMember>();
        members.filter(|m| m.company == list.company && m.list == list.id).count() as u64
    }
}

#[async_trait]
impl AccessReads for MemoryStore {
    async fn company(&self, id: CompanyId) -> Result<Option<Stored<Company>>, StoreError> {
        Ok(self.state().rows.get(&RowKey::Company { company: id }))
    }

    async fn companies(&self) -> Result<Vec<Company>, StoreError> {
        Ok(self.state().sorted(|_: &Company| true, |r| (r.created_at, r.id)))
    }

    async fn key_by_hash(&self, hash: &KeyHash) -> Result<Option<(ApiKey, Company)>, StoreError> {
        let state = self.state();
        let Some(key) = state.rows.all::<ApiKey>().find(|key| key.hash == *hash).cloned() else {
            return Ok(None);
        };
        let company = state.rows.get::<Company>(&RowKey::Company { company: key.company });
        Ok(company.map(|company| (key, company.into_value())))
    }

    async fn key(
        &self,
        company: CompanyId,
        id: KeyId,
    ) -> Result<Option<Stored<ApiKey>>, StoreError> {
        Ok(self.state().rows.get(&RowKey::ApiKey { company, id }))
    }

    async fn keys(&self, company: CompanyId) -> Result<Vec<ApiKey>, StoreError> {
        Ok(self.state().sorted(|r: &ApiKey| r.company == company, |r| (r.created_at, r.id)))
    }

    async fn member(
        &self,
        company: CompanyId,
        id: MemberId,
    ) -> Result<Option<Stored<Member>>, StoreError> {
        Ok(self.state().rows.get(&RowKey::Member { company, id }))
    }

    async fn members(&self, company: CompanyId) -> Result<Vec<Member>, StoreError> {
        Ok(self.state().sorted(|r: &Member| r.company == company, |r| (r.created_at, r.id)))
    }

    async fn secret(&self, name: SecretName) -> Result<Option<Secret>, StoreError> {
        Ok(self.state().rows.get(&RowKey::Secret { name }).map(Stored::into_value))
    }
}

#[async_trait]
impl CustomFieldReads for MemoryStore {
    async fn custom_field(
        &self,
        company: CompanyId,
        id: CustomFieldId,
    ) -> Result<Option<Stored<CustomField>>, StoreError> {
        Ok(self.state().rows.get(&RowKey::CustomField { company, id }))
    }

    async fn custom_field_by_slug(
        &self,
        company: CompanyId,
        slug: &str,
    ) -> Result<Option<Stored<CustomField>>, StoreError> {
        let state = self.state();
        let mut fields = state.rows.all_stored::<CustomField>();
        Ok(fields.find(|field| field.company == company && field.slug == slug))
    }

    async fn custom_fields(&self, company: CompanyId) -> Result<Vec<CustomField>, StoreError> {
        Ok(self.state().sorted(|r: &CustomField| r.company == company, |r| (r.created_at, r.id)))
    }
}

#[async_trait]
impl DealReads for MemoryStore {
    async fn pipeline(
        &self,
        company: CompanyId,
        id: PipelineId,
    ) -> Result<Option<Stored<Pipeline>>, StoreError> {
        Ok(self.state().rows.get(&RowKey::Pipeline { company, id }))
    }

    async fn pipelines(&self, company: CompanyId) -> Result<Vec<Pipeline>, StoreError> {
        Ok(self.state().sorted(|r: &Pipeline| r.company == company, |r| (r.created_at, r.id)))
    }

    async fn stages(&self, company: CompanyId) -> Result<Vec<Stored<Stage>>, StoreError> {
        let state = self.state();
        let mut stages: Vec<Stored<Stage>> =
            state.rows.all_stored::<Stage>().filter(|stage| stage.company == company).collect();
        stages.sort_by_key(|stage| (stage.pipeline, stage.display_order, stage.id));
        Ok(stages)
    }

    async fn stage(
        &self,
        company: CompanyId,
        id: StageId,
    ) -> Result<Option<Stored<Stage>>, StoreError> {
        Ok(self.state().rows.get(&RowKey::Stage { company, id }))
    }

    async fn deal(
        &self,
        company: CompanyId,
        id: DealId,
    ) -> Result<Option<Stored<Deal>>, StoreError> {
        Ok(self.state().rows.get(&RowKey::Deal { company, id }))
    }

    async fn deals(
        &self,
        company: CompanyId,
        contact: Option<ContactId>,
    ) -> Result<Vec<Deal>, StoreError> {
        let wanted = |deal: &Deal| {
            deal.company == company && contact.is_none_or(|contact| deal.contact_id == contact)
        };
        Ok(self.state().sorted(wanted, |r| (r.created_at, r.id)))
    }
}

#[async_trait]
impl DocumentReads for MemoryStore {
    async fn document(
        &self,
        company: CompanyId,
        id: DocumentId,
    ) -> Result<Option<Stored<Document>>, StoreError> {
        Ok(self.state().rows.get(&RowKey::Document { company, id }))
    }

    async fn documents(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Vec<Stored<Document>>, StoreError> {
        let state = self.state();
        let mut documents: Vec<Stored<Document>> = state
            .rows
            .all_stored::<Document>()
            .filter(|document| document.company == company && document.contact_id == contact)
            .collect();
        documents.sort_by_key(|document| (document.created_at, document.id));
        Ok(documents)
    }

    async fn purge(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Option<Stored<Job>>, StoreError> {
        let state = self.state();
        Ok(state.rows.all_stored::<Job>().find(|job| {
            job.company == company
                && matches!(&job.kind, JobKind::Purge { contact: of, .. } if *of == contact)
        }))
    }
}

#[async_trait]
impl JobReads for MemoryStore {
    async fn job_like(
        &self,
        company: CompanyId,
        kind: &JobKind,
    ) -> Result<Option<Stored<Job>>, StoreError> {
        let state = self.state();
        let about = |kind: &JobKind| (kind.name(), kind.subject());
        Ok(state
            .rows
            .all_stored::<Job>()
            .find(|job| job.company == company && about(&job.kind) == about(kind)))
    }
}

#[async_trait]
impl LinkReads for MemoryStore {
    async fn link_by_code(&self, code: &LinkCode) -> Result<Option<Link>, StoreError> {
        Ok(self.state().rows.all::<Link>().find(|link| link.code == *code).cloned())
    }

    async fn link(
        &self,
        company: CompanyId,
        id: LinkId,
    ) -> Result<Option<Stored<Link>>, StoreError> {
        Ok(self.state().rows.get(&RowKey::Link { company, id }))
    }

    async fn links(&self, company: CompanyId) -> Result<Vec<Link>, StoreError> {
        Ok(self.state().sorted(|r: &Link| r.company == company, |r| (r.created_at, r.id)))
    }
}

#[async_trait]
impl ListReads for MemoryStore {
    async fn list(
        &self,
        company: CompanyId,
        id: ListId,
    ) -> Result<Option<(Stored<List>, u64)>, StoreError> {
        let state = self.state();
        let list = state.rows.get::<List>(&RowKey::List { company, id });
        Ok(list.map(|list| {
            let members = state.members_of(&list);
            (list, members)
        }))
    }

    async fn lists(&self, company: CompanyId) -> Result<Vec<(List, u64)>, StoreError> {
        let state = self.state();
        let lists = state.sorted(|r: &List| r.company == company, |r| (r.created_at, r.id));
        Ok(lists
            .into_iter()
            .map(|list| {
                let members = state.members_of(&list);
                (list, members)
            })
            .collect())
    }

    async fn list_candidates(
        &self,
        company: CompanyId,
        list: ListId,
        contacts: &[ContactId],
    ) -> Result<ListCandidates, StoreError> {
        let state = self.state();
        let there = |key: RowKey| state.rows.entry(&key).is_some();
        let exists = |id: &&ContactId| there(RowKey::Contact { company, id: **id });
        let is_member =
            |id: &&ContactId| there(RowKey::ListMember { company, list, contact: **id });
        Ok(ListCandidates {
            existing: contacts.iter().filter(exists).copied().collect(),
            members: contacts.iter().filter(is_member).copied().collect(),
        })
    }
}

#[async_trait]
impl OrganizationReads for MemoryStore {
    async fn organization(
        &self,
        company: CompanyId,
        id: OrganizationId,
    ) -> Result<Option<Stored<Organization>>, StoreError> {
        Ok(self.state().rows.get(&RowKey::Organization { company, id }))
    }

    async fn organizations(&self, company: CompanyId) -> Result<Vec<Organization>, StoreError> {
        Ok(self.state().sorted(|r: &Organization| r.company == company, |r| (r.created_at, r.id)))
    }
}

#[async_trait]
impl TagReads for MemoryStore {
    async fn tag(&self, company: CompanyId, id: TagId) -> Result<Option<Stored<Tag>>, StoreError> {
        Ok(self.state().rows.get(&RowKey::Tag { company, id }))
    }

    async fn tags(&self, company: CompanyId) -> Result<Vec<Tag>, StoreError> {
        Ok(self.state().sorted(|r: &Tag| r.company == company, |r| (r.created_at, r.id)))
    }

    async fn close_reason(
        &self,
        company: CompanyId,
        id: CloseReasonId,
    ) -> Result<Option<Stored<CloseReason>>, StoreError> {
        Ok(self.state().rows.get(&RowKey::CloseReason { company, id }))
    }

    async fn close_reasons(&self, company: CompanyId) -> Result<Vec<CloseReason>, StoreError> {
        Ok(self.state().sorted(|r: &CloseReason| r.company == company, |r| (r.created_at, r.id)))
    }
}
