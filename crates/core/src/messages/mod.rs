//! Messages: what was said, by whom, and how far it came (2.4, 3.2, 4.6, 4.7).

mod failure;
mod message;
mod reads;

pub use failure::{DeliveryCode, ErrorType, Failure};
pub use message::{Direction, Media, Message, MessageStatus, MessageType, Quoted, SenderType};
pub use reads::{
    ContactBrief, MessageFilter, MessageReads, MessageRecord, MessageRef, ProviderMessageId,
    RefTarget, Referred, StatusReport,
};
