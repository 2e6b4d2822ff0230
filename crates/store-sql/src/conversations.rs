//! Conversations: contacts on connections.

use recado_core::conversations::Conversation;

use crate::record::record;

record! {
    Conversation in "conversations" key(company_id, contact_id, connection_id) {
        company("company_id"),
        contact("contact_id"),
        connection("connection_id"),
        identifier,
        last_message_at,
        last_inbound_at,
        unread,
    }
}
