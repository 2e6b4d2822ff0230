//! Sends whose file is still to be got (X10).

use super::{Delivered, Order, SendError, Sending};
use crate::error::Error;
use crate::ids::{CompanyId, UploadId};
use crate::store::StoreError;
use crate::uploads::{FileSource, FileWish};

impl Sending<'_> {
    /// [`Sending::deliver`] for an order with a content whose file is
    /// [pending](crate::gateway::OutgoingFile::pending): what refuses the send without the file
    /// comes first, then the file is got, then the order is delivered (X10). Nothing is left of a
    /// file that was got for a send that is refused. Without a wish it is `deliver`.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub async fn deliver_with_file(
        &self,
        order: Order,
        wish: Option<FileWish>,
    ) -> Result<Delivered, Error<SendError>> {
        let Some(wish) = wish else { return self.deliver(order).await };
        let app = self.app.clone();
        let sending = async move { app.sending().get_and_deliver(order, wish).await };
        let sent = self.app.tasks().run(sending).await;
        sent.unwrap_or_else(|cut_off| Err(Error::Store(StoreError::outcome_unknown(cut_off))))
    }

    async fn get_and_deliver(
        &self,
        mut order: Order,
        wish: FileWish,
    ) -> Result<Delivered, Error<SendError>> {
        let company = order.company;
        let received = match wish.source {
            FileSource::Received(id) => Some(id),
            FileSource::Url(_) | FileSource::Upload(_) => None,
        };
        let connection = match self.preview(&order).await {
            // A text goes in its place.
            Ok(intended) if intended.content.file().is_none() => {
                return self.end(company, received, self.deliver(order).await).await;
            }
            Ok(intended) => Some(intended.connection),
            // D33: after the file.
            Err(Error::Rejected(SendError::GroupAnnounceOnly)) => None,
            Err(refused) => return self.end(company, received, Err(refused)).await,
        };
        let connection = connection.as_ref().map(crate::store::Stored::value);
        let file = match self.app.uploads().outgoing(company, connection, &wish).await {
            Ok(file) => file,
            Err(refused) => return Err(refused.map(SendError::File)),
        };
        let own = (!matches!(wish.source, FileSource::Upload(_))).then_some(file.upload);
        order.content.put_file(file);
        let delivered = self.deliver(order).await;
        self.end(company, own, delivered).await
    }

    /// Removes a file that was got for a send which was refused before it was stored.
    async fn end(
        &self,
        company: CompanyId,
        own: Option<UploadId>,
        delivered: Result<Delivered, Error<SendError>>,
    ) -> Result<Delivered, Error<SendError>> {
        let is_stored = match &delivered {
            Ok(delivered) => delivered.message.media.upload.is_some(),
            Err(Error::Rejected(refused)) => {
                matches!(refused, SendError::Provider { .. } | SendError::Uncertain { .. })
            }
            // It may be; if not, the file is removed within an hour.
            Err(Error::Store(_)) => true,
            Err(Error::Busy | Error::Denied(_)) => false,
        };
        if let Some(id) = own.filter(|_| !is_stored) {
            self.app.uploads().release(company, id).await;
        }
        delivered
    }
}
