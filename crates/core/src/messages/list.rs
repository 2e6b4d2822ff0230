//! Listing messages (4.6, 4.7).

use serde_json::{Map, Value};

use super::handle::Messages;
use super::{
    ContactBrief, Direction, MessageFilter, MessageListItem, MessageRecord, MessageSearch,
    MessageSearchError, MessageStatus, MessageType, MessageView,
};
use crate::access::{Caller, Scope};
use crate::code::Code;
use crate::contacts::Contact;
use crate::error::{Error, NotFound, Rejection};
use crate::ids::{CompanyId, ConnectionId, ContactId, MessageId};
use crate::page::{Page, PageRequest, Pagination};
use crate::query::{InvalidParameter, Params, from_bound, to_bound};
use crate::store::{RecordsExt, StoreError};

/// A listing of messages, as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageQuery {
    /// Which messages.
    pub filter: MessageFilter,
    /// Which page.
    pub page: PageRequest,
}

impl MessageQuery {
    /// Reads the parameters of 4.6.
    ///
    /// # Errors
    ///
    /// The first parameter that is not acceptable (D7).
    pub fn parse(params: &Params) -> Result<Self, InvalidParameter> {
        let contact = params.read("contact_id", "a UUID", ContactId::parse)?;
        let connection = params.read("connection_id", "a UUID", ConnectionId::parse)?;
        let types = format!("one of {}", MessageType::WORDS.join(", "));
        let message_type = params.read("type", &types, MessageType::parse)?;
        let statuses = format!("one of {}", MessageStatus::WORDS.join(", "));
        let status = params.read("status", &statuses, MessageStatus::parse)?;
        let shared = Self::parse_shared(params)?;
        let filter = MessageFilter { contact, connection, message_type, status, ..shared.filter };
        Ok(Self { filter, ..shared })
    }

    /// Reads the parameters of 4.7, for the messages of one contact.
    ///
    /// # Errors
    ///
    /// The first parameter that is not acceptable (D7).
    pub fn parse_of_contact(params: &Params, contact: ContactId) -> Result<Self, InvalidParameter> {
        let shared = Self::parse_shared(params)?;
        let filter = MessageFilter { contact: Some(contact), ..shared.filter };
        Ok(Self { filter, ..shared })
    }

    fn parse_shared(params: &Params) -> Result<Self, InvalidParameter> {
        let direction = params.read("direction", "inbound or outbound", Direction::parse)?;
        let (from, to) = (from_bound(params)?, to_bound(params)?);
        let search = match params.text("search")? {
            Some(text) => Some(MessageSearch::parse(text).map_err(refused)?),
            None => None,
        };
        let filter = MessageFilter { direction, from, to, search, ..MessageFilter::default() };
        Ok(Self { filter, page: PageRequest::parse(params)? })
    }
}

fn refused(error: MessageSearchError) -> InvalidParameter {
    InvalidParameter::new("search", error.to_string())
}

impl MessageFilter {
    /// Whether no message can match.
    fn is_void(&self) -> bool {
        matches!((self.from, self.to), (Some(from), Some(to)) if from > to)
    }
}

/// One page of a listing of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessagePage<T> {
    /// The messages, newest first.
    pub items: Vec<T>,
    /// Which page this is of how many.
    pub pagination: Pagination,
}

/// Why the messages of a contact were not listed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListMessagesError {
    /// A parameter is not acceptable.
    #[error(transparent)]
    Parameter(#[from] InvalidParameter),
    /// There is no such contact.
    #[error("no such record")]
    NotFound,
}

impl Rejection for ListMessagesError {
    fn code(&self) -> Code {
        match self {
            Self::Parameter(parameter) => parameter.code(),
            Self::NotFound => Code::NotFound,
        }
    }

    fn details(&self) -> Option<Map<String, Value>> {
        match self {
            Self::Parameter(parameter) => parameter.details(),
            Self::NotFound => None,
        }
    }
}

impl Messages<'_> {
    /// One page of the company's messages, newest first (4.6).
    ///
    /// # Errors
    ///
    /// The first parameter that is not acceptable.
    pub async fn list(
        &self,
        caller: &Caller,
        params: &Params,
    ) -> Result<MessagePage<MessageListItem>, Error<InvalidParameter>> {
        caller.require(Scope::MessagesRead)?;
        self.list_of_company(caller.company(), params).await
    }

    /// [`Messages::list`] for the operator.
    ///
    /// # Errors
    ///
    /// The first parameter that is not acceptable.
    pub async fn list_of_company(
        &self,
        company: CompanyId,
        params: &Params,
    ) -> Result<MessagePage<MessageListItem>, Error<InvalidParameter>> {
        let query = MessageQuery::parse(params).map_err(Error::Rejected)?;
        let page = self.page(company, &query).await?;
        let links = &self.app.media_links().await?;
        let items = page.items.iter().map(|record| MessageListItem::new(record, links)).collect();
        Ok(MessagePage { items, pagination: Pagination::new(query.page, page.total) })
    }

    /// One page of a contact's messages, newest first (4.7).
    ///
    /// # Errors
    ///
    /// [`ListMessagesError`].
    pub async fn list_of_contact(
        &self,
        caller: &Caller,
        contact: ContactId,
        params: &Params,
    ) -> Result<MessagePage<MessageView>, Error<ListMessagesError>> {
        caller.require(Scope::MessagesRead)?;
        let company = caller.company();
        let query = MessageQuery::parse_of_contact(params, contact)
            .map_err(|parameter| Error::Rejected(parameter.into()))?;
        if self.app.store().get::<Contact>((company, contact)).await?.is_none() {
            return Err(Error::Rejected(ListMessagesError::NotFound));
        }
        let page = self.page(company, &query).await?;
        let links = &self.app.media_links().await?;
        let items =
            page.items.iter().map(|record| MessageView::new(&record.message, links)).collect();
        Ok(MessagePage { items, pagination: Pagination::new(query.page, page.total) })
    }

    /// A message in the form of the general listing, for the operator.
    ///
    /// # Errors
    ///
    /// [`NotFound`], of another company too.
    pub async fn get(
        &self,
        company: CompanyId,
        id: MessageId,
    ) -> Result<MessageListItem, Error<NotFound>> {
        let store = self.app.store();
        let Some(message) = store.messages(company, &[id]).await?.into_iter().next() else {
            return Err(Error::Rejected(NotFound));
        };
        // The contact and its messages were deleted since the message was read.
        let Some(contact) = store.get::<Contact>((company, message.contact)).await? else {
            return Err(Error::Rejected(NotFound));
        };
        let contact = ContactBrief::of(contact.value());
        let mut record = [MessageRecord { message: message.into_value(), contact }];
        self.identify_writers(company, &mut record).await?;
        Ok(MessageListItem::new(&record[0], &self.app.media_links().await?))
    }

    async fn page(
        &self,
        company: CompanyId,
        query: &MessageQuery,
    ) -> Result<Page<MessageRecord>, StoreError> {
        if query.filter.is_void() {
            return Ok(Page::empty());
        }
        let read = self.app.listing(|store| store.message_page(company, &query.filter, query.page));
        let mut page = read.await?;
        self.identify_writers(company, &mut page.items).await?;
        Ok(page)
    }
}
