//! Sending (4.8, 7.1, D33–D39, D71): record the intent, call the provider, record the outcome.
//!
//! [`Sending::send_text`] is what integrators call; replies, AI turns and templates are sent in the
//! same way under other [rules](SendRules). A message is stored as pending before its provider is
//! called, and its outcome is recorded afterwards. A message that a process leaves pending becomes
//! `failed` as uncertain and is never sent again automatically.

mod address;
mod choose;
mod claim;
mod deliver;
mod draft;
mod error;
mod find;
mod find_job;
mod handle;
mod in_flight;
mod intent;
mod kinds;
mod leftovers;
mod marks;
mod named;
mod names;
mod order;
mod put_off;
mod quoted;
mod record_outcome;
mod recover;
mod route;
mod send_media;
mod send_text;
mod template;
mod view;
mod with_file;

pub(crate) use choose::keeps_number;
pub use choose::{NoConnection, choose_for_person, recipient_on};
pub use claim::Claim;
pub(crate) use claim::refunded_whole;
pub(crate) use draft::MessageText;
pub use draft::{SendAddress, SendMessage, SendRecipient, TextDraft};
pub use error::{Cause, SendError};
pub(crate) use find::find_sent_job;
pub use handle::Sending;
pub use kinds::{
    CardDraft, CardsDraft, OfferDraft, PlaceDraft, ReactDraft, SendContacts, SendInteractive,
    SendLocation, SendReaction,
};
pub(crate) use kinds::{Cards, cards_content};
pub(crate) use leftovers::Unrecorded;
pub use marks::{EditDraft, ReadMessageView, TypedView, TypingDraft};
pub use order::{Automation, Delivered, Order, SendRules, SendTarget, TurnDebit};
pub use quoted::QuotedMessage;
pub(crate) use record_outcome::asks_to_stop;
pub use send_media::{MediaDraft, SendMedia};
pub use template::{SendTemplate, SendTemplateDraft, TemplateSentView};
pub use view::{KindSentView, SentView};
