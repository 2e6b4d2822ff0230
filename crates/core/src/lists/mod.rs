//! Lists of contacts (4.12, D58, D78).

mod draft;
mod list;
mod manage;
mod members;
mod reads;

pub use draft::{AddContacts, ListDraft, ListPatch, RemoveContacts, ReplaceContacts};
pub use list::{List, ListCandidates, ListMember, ListView};
pub use manage::Lists;
pub use members::{
    AddToList, Added, ListMembersError, RemoveFromList, Removed, ReplaceList, Replaced,
};
pub use reads::ListReads;
