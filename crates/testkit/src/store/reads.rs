//! Reads that fail on demand.

use async_trait::async_trait;
use recado_core::access::{AccessReads, ApiKey, Company, KeyHash, Member, Secret, SecretName};
use recado_core::contacts::{
    Contact, ContactFilter, ContactReads, ContactRecord, ContactSlice, DraftFacts, DraftQuery,
    ExportPosition, Identifier, Platform,
};
use recado_core::custom_fields::{CustomField, CustomFieldReads};
use recado_core::deals::{Deal, DealReads, Pipeline, Stage};
use recado_core::documents::{Document, DocumentReads};
use recado_core::ids::{
    CloseReasonId, CompanyId, ContactId, CustomFieldId, DealId, DocumentId, KeyId, LinkId, ListId,
    MemberId, OrganizationId, PipelineId, StageId, TagId,
};
use recado_core::jobs::Job;
use recado_core::links::{Link, LinkCode, LinkReads};
use recado_core::lists::{List, ListCandidates, ListReads};
use recado_core::organizations::{Organization, OrganizationReads};
use recado_core::page::PageRequest;
use recado_core::store::{StoreError, Stored};
use recado_core::tags::{CloseReason, Tag, TagReads};

use super::FaultyStore;

#[async_trait]
impl AccessReads for FaultyStore {
    async fn company(&self, id: CompanyId) -> Result<Option<Stored<Company>>, StoreError> {
        self.read(self.inner.company(id)).await
    }

    async fn companies(&self) -> Result<Vec<Company>, StoreError> {
        self.read(self.inner.companies()).await
    }

    async fn key_by_hash(&self, hash: &KeyHash) -> Result<Option<(ApiKey, Company)>, StoreError> {
        self.read(self.inner.key_by_hash(hash)).await
    }

    async fn key(
        &self,
        company: CompanyId,
        id: KeyId,
    ) -> Result<Option<Stored<ApiKey>>, StoreError> {
        self.read(self.inner.key(company, id)).await
    }

    async fn keys(&self, company: CompanyId) -> Result<Vec<ApiKey>, StoreError> {
        self.read(self.inner.keys(company)).await
    }

    async fn member(
        &self,
        company: CompanyId,
        id: MemberId,
    ) -> Result<Option<Stored<Member>>, StoreError> {
        self.read(self.inner.member(company, id)).await
    }

    async fn members(&self, company: CompanyId) -> Result<Vec<Member>, StoreError> {
        self.read(self.inner.members(company)).await
    }

    async fn secret(&self, name: SecretName) -> Result<Option<Secret>, StoreError> {
        self.read(self.inner.secret(name)).await
    }
}

#[async_trait]
impl ContactReads for FaultyStore {
    async fn contact(
        &self,
        company: CompanyId,
        id: ContactId,
    ) -> Result<Option<Stored<Contact>>, StoreError> {
        self.read(self.inner.contact(company, id)).await
    }

    async fn contact_record(
        &self,
        company: CompanyId,
        id: ContactId,
    ) -> Result<Option<(ContactRecord, Vec<CustomField>)>, StoreError> {
        self.read(self.inner.contact_record(company, id)).await
    }

    async fn contact_by_identifier(
        &self,
        company: CompanyId,
        platform: &Platform,
        identifier: &Identifier,
    ) -> Result<Option<Stored<Contact>>, StoreError> {
        self.read(self.inner.contact_by_identifier(company, platform, identifier)).await
    }

    async fn contact_page(
        &self,
        company: CompanyId,
        filter: &ContactFilter,
        page: PageRequest,
        clicks: bool,
    ) -> Result<ContactSlice, StoreError> {
        self.read(self.inner.contact_page(company, filter, page, clicks)).await
    }

    async fn contact_export(
        &self,
        company: CompanyId,
        filter: &ContactFilter,
        after: Option<ExportPosition>,
        limit: u32,
        clicks: bool,
    ) -> Result<ContactSlice, StoreError> {
        self.read(self.inner.contact_export(company, filter, after, limit, clicks)).await
    }

    async fn draft_facts(
        &self,
        company: CompanyId,
        query: &DraftQuery,
    ) -> Result<DraftFacts, StoreError> {
        self.read(self.inner.draft_facts(company, query)).await
    }

    async fn member_in_use(&self, company: CompanyId, id: MemberId) -> Result<bool, StoreError> {
        self.read(self.inner.member_in_use(company, id)).await
    }

    async fn close_reason_in_use(
        &self,
        company: CompanyId,
        id: CloseReasonId,
    ) -> Result<bool, StoreError> {
        self.read(self.inner.close_reason_in_use(company, id)).await
    }
}

#[async_trait]
impl CustomFieldReads for FaultyStore {
    async fn custom_field(
        &self,
        company: CompanyId,
        id: CustomFieldId,
    ) -> Result<Option<Stored<CustomField>>, StoreError> {
        self.read(self.inner.custom_field(company, id)).await
    }

    async fn custom_field_by_slug(
        &self,
        company: CompanyId,
        slug: &str,
    ) -> Result<Option<Stored<CustomField>>, StoreError> {
        self.read(self.inner.custom_field_by_slug(company, slug)).await
    }

    async fn custom_fields(&self, company: CompanyId) -> Result<Vec<CustomField>, StoreError> {
        self.read(self.inner.custom_fields(company)).await
    }
}

#[async_trait]
impl DealReads for FaultyStore {
    async fn pipeline(
        &self,
        company: CompanyId,
        id: PipelineId,
    ) -> Result<Option<Stored<Pipeline>>, StoreError> {
        self.read(self.inner.pipeline(company, id)).await
    }

    async fn pipelines(&self, company: CompanyId) -> Result<Vec<Pipeline>, StoreError> {
        self.read(self.inner.pipelines(company)).await
    }

    async fn stages(&self, company: CompanyId) -> Result<Vec<Stored<Stage>>, StoreError> {
        self.read(self.inner.stages(company)).await
    }

    async fn stage(
        &self,
        company: CompanyId,
        id: StageId,
    ) -> Result<Option<Stored<Stage>>, StoreError> {
        self.read(self.inner.stage(company, id)).await
    }

    async fn deal(
        &self,
        company: CompanyId,
        id: DealId,
    ) -> Result<Option<Stored<Deal>>, StoreError> {
        self.read(self.inner.deal(company, id)).await
    }

    async fn deals(
        &self,
        company: CompanyId,
        contact: Option<ContactId>,
    ) -> Result<Vec<Deal>, StoreError> {
        self.read(self.inner.deals(company, contact)).await
    }
}

#[async_trait]
impl DocumentReads for FaultyStore {
    async fn document(
        &self,
        company: CompanyId,
        id: DocumentId,
    ) -> Result<Option<Stored<Document>>, StoreError> {
        self.read(self.inner.document(company, id)).await
    }

    async fn documents(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Vec<Stored<Document>>, StoreError> {
        self.read(self.inner.documents(company, contact)).await
    }

    async fn purge(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Option<Stored<Job>>, StoreError> {
        self.read(self.inner.purge(company, contact)).await
    }
}

#[async_trait]
impl LinkReads for FaultyStore {
    async fn link_by_code(&self, code: &LinkCode) -> Result<Option<Link>, StoreError> {
        self.read(self.inner.link_by_code(code)).await
    }

    async fn link(
        &self,
        company: CompanyId,
        id: LinkId,
    ) -> Result<Option<Stored<Link>>, StoreError> {
        self.read(self.inner.link(company, id)).await
    }

    async fn links(&self, company: CompanyId) -> Result<Vec<Link>, StoreError> {
        self.read(self.inner.links(company)).await
    }
}

#[async_trait]
impl ListReads for FaultyStore {
    async fn list(
        &self,
        company: CompanyId,
        id: ListId,
    ) -> Result<Option<(Stored<List>, u64)>, StoreError> {
        self.read(self.inner.list(company, id)).await
    }

    async fn lists(&self, company: CompanyId) -> Result<Vec<(List, u64)>, StoreError> {
        self.read(self.inner.lists(company)).await
    }

    async fn list_candidates(
        &self,
        company: CompanyId,
        list: ListId,
        contacts: &[ContactId],
    ) -> Result<ListCandidates, StoreError> {
        self.read(self.inner.list_candidates(company, list, contacts)).await
    }
}

#[async_trait]
impl OrganizationReads for FaultyStore {
    async fn organization(
        &self,
        company: CompanyId,
        id: OrganizationId,
    ) -> Result<Option<Stored<Organization>>, StoreError> {
        self.read(self.inner.organization(company, id)).await
    }

    async fn organizations(&self, company: CompanyId) -> Result<Vec<Organization>, StoreError> {
        self.read(self.inner.organizations(company)).await
    }
}

#[async_trait]
impl TagReads for FaultyStore {
    async fn tag(&self, company: CompanyId, id: TagId) -> Result<Option<Stored<Tag>>, StoreError> {
        self.read(self.inner.tag(company, id)).await
    }

    async fn tags(&self, company: CompanyId) -> Result<Vec<Tag>, StoreError> {
        self.read(self.inner.tags(company)).await
    }

    async fn close_reason(
        &self,
        company: CompanyId,
        id: CloseReasonId,
    ) -> Result<Option<Stored<CloseReason>>, StoreError> {
        self.read(self.inner.close_reason(company, id)).await
    }

    async fn close_reasons(&self, company: CompanyId) -> Result<Vec<CloseReason>, StoreError> {
        self.read(self.inner.close_reasons(company)).await
    }
}
