//! Contacts: the people and groups that a company exchanges messages with (2.1, 2.2, 4.1–4.5).

mod alias;
mod birthday;
mod body;
mod by_phone;
mod contact;
mod cpf;
mod create;
mod created;
mod cursor;
mod delete;
mod delete_error;
mod draft;
mod duplicates;
mod email;
mod facets;
mod filter;
mod get;
mod handle;
mod identifier;
mod import;
mod import_body;
mod kept_events;
mod label;
mod link_facts;
mod list;
mod merge;
mod merge_precedence;
mod operator;
mod phone;
mod phone_forms;
mod portions;
mod postal_code;
mod purge;
mod reads;
mod receipt;
mod region;
mod search_text;
mod set;
mod shown;
mod status;
mod update;
mod view;

pub use alias::{Alias, ChannelKey, is_scoped_id};
pub use birthday::{Birthday, BirthdayError};
pub use body::{ContactPatch, NewContact};
pub use by_phone::ByPhoneError;
pub use contact::{Address, Contact, ContactTag, Profile, display_name};
pub use cpf::{Cpf, CpfError};
pub use create::{CreateContact, CreateContactError, Created};
pub(crate) use created::contact_created;
pub use created::creation_stamp;
pub use cursor::{CursorKey, ExportPosition};
pub use delete_error::DeleteContactError;
pub use draft::ContactDraft;
pub use duplicates::{DuplicateContact, DuplicateGroup, DuplicatesPage, duplicate_groups};
pub use email::{Email, EmailError};
pub use facets::{FacetKey, Facets};
pub use filter::{AssigneeFilter, ContactFilter};
pub use handle::Contacts;
pub use identifier::{Identifier, Platform};
pub use import::{ImportContact, ImportContactError, ImportDraft};
pub use import_body::ImportedContact;
pub(crate) use kept_events::KeptOfPerson;
pub use link_facts::{OrganizationIds, Warning};
pub(crate) use link_facts::{apply_email, link_organization};
pub(crate) use list::listed;
pub use list::{ExportQuery, ListQuery, ListedPage};
pub use merge::{MergeBody, MergeContacts, Merging, merged};
pub use merge_precedence::{Stays, recipient_that_stays, window_that_stays};
pub use operator::{ContactChange, OperatorPatch, PatchContact};
pub use phone::{Phone, PhoneError};
pub use postal_code::{PostalCode, PostalCodeError};
pub(crate) use purge::finish_purge;
pub use reads::{
    ContactReads, ContactRecord, ContactSlice, DraftFacts, DraftQuery, ListBrief, OrganizationKey,
    Related,
};
pub use receipt::Receipt;
pub use region::Region;
pub use search_text::{SearchError, SearchQuery, SearchText, normalize};
pub use set::ContactSet;
pub use status::{CrmStatus, InboxStatus, Priority};
pub use update::{UpdateContact, UpdateContactError};
pub use view::{
    AssignedTo, ContactConnection, ContactDetail, ContactListItem, ContactSummary, OperatorContact,
    ProfileView, StageView, TagView,
};
