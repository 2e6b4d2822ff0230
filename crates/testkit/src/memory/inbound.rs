//! Reads of inbound endpoints and of the windows of template dispatch.

use async_trait::async_trait;
use recado_core::access::Company;
use recado_core::dispatches::{DispatchReads, DispatchWindow, WindowKey, WindowState};
use recado_core::ids::{CompanyId, ContactId, InboundEndpointId};
use recado_core::inbound::{EndpointSlug, InboundEndpoint, InboundReads};
use recado_core::store::{RowKey, StoreError, Stored};

use super::{MemoryStore, State};

impl State {
    /// A company.
    pub(super) fn company(&self, company: CompanyId) -> Option<Company> {
        self.rows.get(&RowKey::Company { company }).map(Stored::into_value)
    }
}

#[async_trait]
impl InboundReads for MemoryStore {
    async fn inbound_endpoint(
        &self,
        company: CompanyId,
        id: InboundEndpointId,
    ) -> Result<Option<Stored<InboundEndpoint>>, StoreError> {
        Ok(self.state().rows.get(&RowKey::InboundEndpoint { company, id }))
    }

    async fn inbound_endpoints(
        &self,
        company: CompanyId,
    ) -> Result<Vec<InboundEndpoint>, StoreError> {
        Ok(self.state().sorted(
            |endpoint: &InboundEndpoint| endpoint.company == company,
            |endpoint| (endpoint.created_at, endpoint.id),
        ))
    }

    async fn endpoint_by_slug(
        &self,
        slug: &EndpointSlug,
    ) -> Result<Option<(InboundEndpoint, Company)>, StoreError> {
        let state = self.state();
        let found = state.rows.all::<InboundEndpoint>().find(|endpoint| endpoint.slug == *slug);
        Ok(found.and_then(|endpoint| Some((endpoint.clone(), state.company(endpoint.company)?))))
    }
}

#[async_trait]
impl DispatchReads for MemoryStore {
    async fn dispatch_window(
        &self,
        company: CompanyId,
        contact: ContactId,
        key: WindowKey,
    ) -> Result<Option<Stored<DispatchWindow>>, StoreError> {
        Ok(self.state().rows.get(&RowKey::DispatchWindow { company, contact, key }))
    }

    async fn reserved_windows(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Vec<Stored<DispatchWindow>>, StoreError> {
        Ok(self.state().sorted_stored(
            |window: &DispatchWindow| {
                (window.company, window.contact) == (company, contact)
                    && window.state == WindowState::Reserved
            },
            |window| *window.key.as_bytes(),
        ))
    }
}
