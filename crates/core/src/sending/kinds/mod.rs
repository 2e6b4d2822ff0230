//! The kinds of messages beside texts, templates and files: what is offered to choose from, places,
//! address cards, reactions (X12, X13).

mod card_draft;
mod declare;
mod forms;
mod offer_checks;
mod offer_draft;
mod offer_parts;
mod offer_text;
mod place_draft;
mod reaction_draft;
mod send;

pub use card_draft::{CardDraft, CardsDraft, SendContacts};
pub(crate) use card_draft::{Cards, content as cards_content};
pub use offer_draft::{OfferDraft, SendInteractive};
pub use place_draft::{PlaceDraft, SendLocation};
pub use reaction_draft::{ReactDraft, SendReaction};
