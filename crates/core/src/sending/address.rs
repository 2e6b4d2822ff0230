//! Where a contact is reached on a connection.

use super::recipient_on;
use crate::connections::Connection;
use crate::conversations::ChannelQuery;
use crate::groups::GroupCode;
use crate::ids::ContactId;
use crate::store::{Reads, StoreError};

/// A contact as a connection's channel names it.
pub(super) struct ChannelAddress {
    /// The person's or the group's name.
    pub(super) recipient: String,
    /// The group, if it is one.
    pub(super) group: Option<GroupCode>,
}

/// Where a contact is reached on a connection; `None` if the contact is gone or its channel has no
/// name for it.
pub(super) async fn address_of(
    store: &dyn Reads,
    contact: ContactId,
    connection: &Connection,
) -> Result<Option<ChannelAddress>, StoreError> {
    let query = ChannelQuery { ids: vec![contact], ..ChannelQuery::default() };
    let found = store.channel_contacts(connection.company, &query).await?.pop();
    let Some(found) = found else { return Ok(None) };
    let contact = found.contact.value();
    let group = contact.external_chat_id.as_ref().filter(|_| contact.is_group);
    let group = group.map(|code| GroupCode::from_stored(code.clone()));
    let recipient = match &group {
        Some(code) => Some(code.as_str().to_owned()),
        None => recipient_on(&found, connection),
    };
    Ok(recipient.map(|recipient| ChannelAddress { recipient, group }))
}
