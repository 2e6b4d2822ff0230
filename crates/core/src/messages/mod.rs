//! Messages: content, sender and status (2.4, 3.2, 4.6, 4.7).

mod announce;
mod blocks;
mod deletion;
mod early;
mod early_facts;
mod erase;
mod event_blocks;
mod events;
mod failure;
mod file_transport;
mod glance;
mod handle;
mod import;
mod import_draft;
mod left_sent;
mod list;
mod media;
mod media_key;
mod media_link;
mod media_type;
mod message;
mod message_ref;
mod of_content;
mod participant;
mod provider_id;
mod read_media;
mod reads;
mod rotate_media_key;
#[cfg(test)]
mod samples;
mod search_text;
mod status;
mod touch;
mod updated;
mod view;
mod votes;
mod who_wrote;
mod written_by;

pub(crate) use announce::{announce_job, announce_late_job};
pub(crate) use blocks::rounded;
pub use blocks::{
    Answer, AnswerKind, Blocks, Choice, Forwarded, Interactive, ListRow, ListSection, Location,
    Money, Offer, OfferHeader, OfferKind, Order, OrderItem, PollOption, Product, Reaction,
    Referral, SharedContact, SharedEmail, SharedPhone, SystemKind, SystemNotice, Unsupported,
};
pub(crate) use deletion::deleted;
pub(crate) use early::naming;
pub use early::{Early, EarlyEdit, StatusReport};
pub(crate) use early_facts::EarlyFacts;
pub(crate) use erase::{LeftOfMessage, erase_message_job};
pub use event_blocks::EventContact;
#[cfg(feature = "openapi")]
pub(crate) use events::{MessageData, SentData, StatusData};
pub use events::{message_received, message_sent, status_updated};
pub use failure::{DeliveryCode, ErrorType, Failure};
pub use glance::{GLANCES_AT_ONCE, Glance};
pub use handle::Messages;
pub use import::ImportMessageError;
pub use import_draft::{CoveredBy, ImportedMessage, ShownFailure};
pub use left_sent::{is_left_sent, left_sent_between};
pub use list::{ListMessagesError, MessagePage, MessageQuery};
pub(crate) use media::fetch_media_job;
pub use media::{fetch_job, wants_fetch};
pub(crate) use media_key::{KEY_BYTES, KEYS_READ_AGAIN, KnownKeys, MediaKeys, UNKNOWN_READ_AGAIN};
pub(crate) use media_link::LinkTarget;
pub use media_link::MediaLinks;
pub use message::{Direction, Media, Message, MessageStatus, MessageType, Quoted, SenderType};
pub use message_ref::{MessageRef, RefTarget};
pub(crate) use of_content::Shown;
pub use participant::{Participant, ParticipantView};
pub(crate) use provider_id::OWN;
pub use provider_id::ProviderMessageId;
pub use read_media::{KeptFile, LinkedFile, ReadMediaError};
pub use reads::{
    ContactBrief, FORGOTTEN_KEPT, MessageFilter, MessageReads, MessageRecord, Referred,
};
pub use rotate_media_key::MediaKeyRotation;
pub use search_text::{MessageSearch, MessageSearchError, MessageText};
pub(crate) use status::steps;
pub use status::{StatusStep, advance, merge_reports};
pub use touch::{touch_contact, touch_conversation};
#[cfg(feature = "openapi")]
pub(crate) use updated::UpdatedData;
pub use updated::{message_updated, reaction_updated};
pub use view::{FailureView, MessageListItem, MessageView, ProsaView};
pub(crate) use votes::{add_vote, count_vote};
pub use written_by::WrittenBy;

pub use crate::events::{OptOutSource, contact_opted_out};
