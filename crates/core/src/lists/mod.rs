//! Lists of contacts (4.12, D58).

mod draft;
mod list;
mod manage;
mod reads;

pub use draft::{AddContacts, ListDraft, ListPatch};
pub use list::{List, ListCandidates, ListMember, ListView};
pub use manage::{AddToList, AddToListError, Added, Lists};
pub use reads::ListReads;
