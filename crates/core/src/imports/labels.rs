//! The list and the tag that imported contacts get, named by their names and made if missing.

use std::collections::BTreeSet;

use crate::Recado;
use crate::ids::{CompanyId, ContactId, ListId, TagId};
use crate::lists::{AddContacts, ListDraft};
use crate::manage::{ManageError, ManageResult};
use crate::tags::TagDraft;

/// The color of a tag that an import makes: a grey.
const COLOR: &str = "#9E9E9E";

/// What imported contacts are added to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Labels {
    list: Option<ListId>,
    tag: Option<TagId>,
}

impl Labels {
    /// Finds the list and the tag by their names, without regard to case, and makes what is
    /// missing.
    ///
    /// # Errors
    ///
    /// When a name is not acceptable, or the store fails.
    pub async fn find_or_make(
        recado: &Recado,
        company: CompanyId,
        list: Option<&str>,
        tag: Option<&str>,
    ) -> ManageResult<Self> {
        let is_named =
            |name: &str, wanted: &str| name.to_lowercase() == wanted.trim().to_lowercase();
        let list = match list {
            None => None,
            Some(wanted) => {
                let all = recado.lists().all(company).await?;
                Some(match all.into_iter().find(|list| is_named(&list.name, wanted)) {
                    Some(list) => list.id,
                    None => {
                        let (lists, draft) = (recado.lists(), ListDraft::new(wanted.trim()));
                        lists.create(company, draft).await?.id
                    }
                })
            }
        };
        let tag = match tag {
            None => None,
            Some(wanted) => {
                let all = recado.tags().all(company).await?;
                Some(match all.into_iter().find(|tag| is_named(&tag.name, wanted)) {
                    Some(tag) => tag.id,
                    None => {
                        let (tags, draft) = (recado.tags(), TagDraft::new(wanted.trim(), COLOR));
                        tags.create(company, draft).await?.id
                    }
                })
            }
        };
        Ok(Self { list, tag })
    }

    /// The tag of new contacts.
    pub const fn tag(&self) -> Option<TagId> {
        self.tag
    }

    /// Adds contacts to the list, those that are in it already included.
    ///
    /// # Errors
    ///
    /// When the list or a contact is gone, or the store fails.
    pub async fn list(
        &self,
        recado: &Recado,
        company: CompanyId,
        contacts: BTreeSet<ContactId>,
    ) -> ManageResult<()> {
        let Some(list) = self.list.filter(|_| !contacts.is_empty()) else { return Ok(()) };
        let contacts: Vec<ContactId> = contacts.into_iter().collect();
        let (lists, contacts) = (recado.lists(), AddContacts::new(contacts));
        let added = lists.add_contacts(company, list, contacts).await;
        added.map(|_| ()).map_err(|error| error.map(|_| ManageError::NotFound))
    }
}
