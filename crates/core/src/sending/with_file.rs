//! Sends whose file is still to be got (X10).

use super::{Delivered, Order, SendError, Sending};
use crate::error::Error;
use crate::gateway::Content;
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
        match wish {
            None => self.deliver(order).await,
            Some(wish) => self.deliver_keeping_file(order, wish).await.1,
        }
    }

    /// [`Sending::deliver_with_file`], which also returns the file that was got, unless nothing is
    /// left of it: other messages may carry it too (R374).
    pub(crate) async fn deliver_keeping_file(
        &self,
        order: Order,
        wish: FileWish,
    ) -> (Option<UploadId>, Result<Delivered, Error<SendError>>) {
        let app = self.app.clone();
        let sending = async move { app.sending().get_and_deliver(order, wish).await };
        let sent = self.app.tasks().run(sending).await;
        let unknown = |cut_off| (None, Err(Error::Store(StoreError::outcome_unknown(cut_off))));
        sent.unwrap_or_else(unknown)
    }

    async fn get_and_deliver(
        &self,
        mut order: Order,
        wish: FileWish,
    ) -> (Option<UploadId>, Result<Delivered, Error<SendError>>) {
        let company = order.company;
        let received = match wish.source {
            FileSource::Received(id) => Some(id),
            FileSource::Url(_) | FileSource::Upload(_) | FileSource::Shared(_) => None,
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
            Err(refused) => {
                let is_header = !matches!(order.content, Content::Media(_));
                let refused = refused.map(|why| if is_header { why.in_header() } else { why });
                return (None, Err(refused.map(SendError::File)));
            }
        };
        let own = wish.source.is_own().then_some(file.upload);
        order.content.put_file(file);
        let delivered = self.deliver(order).await;
        self.end(company, own, delivered).await
    }

    /// Removes a file that was got for a send which was refused before it was stored; returns it if
    /// it stays.
    async fn end(
        &self,
        company: CompanyId,
        own: Option<UploadId>,
        delivered: Result<Delivered, Error<SendError>>,
    ) -> (Option<UploadId>, Result<Delivered, Error<SendError>>) {
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
        (own.filter(|_| is_stored), delivered)
    }
}
