//! In place of `traces` in a build without them: no span is made.

use recado_core::connections::GatewayName;
use recado_core::jobs::Job;
use recado_core::store::{ChangeSet, Commit, CommitError, Stored};
use recado_core::transport::{OutboundRequest, OutboundResponse, Transport, TransportError};

/// Makes no spans.
#[derive(Clone, Debug, Default)]
pub(crate) struct Traces(());

impl Traces {
    pub(crate) async fn commit(
        &self,
        store: &(dyn Commit + '_),
        changes: ChangeSet,
    ) -> Result<(), CommitError> {
        store.commit(changes).await
    }

    pub(crate) async fn outbound(
        &self,
        transport: &dyn Transport,
        request: OutboundRequest,
    ) -> Result<OutboundResponse, TransportError> {
        transport.send(request).await
    }

    pub(crate) async fn gateway<T, E>(
        &self,
        _: &GatewayName,
        _: &'static str,
        _: fn(&Result<T, E>) -> &'static str,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        work.await
    }

    pub(crate) const fn claimed(&self, _: &[Stored<Job>]) {}
}
