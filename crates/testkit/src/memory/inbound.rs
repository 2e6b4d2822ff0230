//! Reads of inbound endpoints and of the windows of template dispatch.

use async_trait::async_trait;
use recado_core::access::Company;
use recado_core::dispatches::{DispatchReads, DispatchWindow, WindowState};
use recado_core::ids::{CompanyId, ContactId};
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
