//! The list and the tag that imported contacts get, named by their names and made if missing.

use std::collections::BTreeSet;

use recado_core::Recado;
use recado_core::ids::{CompanyId, ContactId, ListId, TagId};
use recado_core::lists::{AddContacts, ListDraft};
use recado_core::tags::TagDraft;

use crate::commands::{CommandError, refused};

/// The color of a tag that an import makes: a grey.
const COLOR: &str = "#9E9E9E";

/// What imported contacts are added to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Labels {
    list: Option<ListId>,
    tag: Option<TagId>,
}

impl Labels {
    /// Finds the list and the tag by their names, without regard to case, and makes what is
    /// missing.
    pub(super) async fn find_or_make(
        recado: &Recado,
        company: CompanyId,
        list: Option<&str>,
        tag: Option<&str>,
    ) -> Result<Self, CommandError> {
        let is_named =
            |name: &str, wanted: &str| name.to_lowercase() == wanted.trim().to_lowercase();
        let list = match list {
            None => None,
            Some(wanted) => {
                let all = recado.lists().all(company).await.map_err(refused)?;
                Some(match all.into_iter().find(|list| is_named(&list.name, wanted)) {
                    Some(list) => list.id,
                    None => {
                        let (lists, draft) = (recado.lists(), ListDraft::new(wanted.trim()));
                        lists.create(company, draft).await.map_err(refused)?.id
                    }
                })
            }
        };
        let tag = match tag {
            None => None,
            Some(wanted) => {
                let all = recado.tags().all(company).await.map_err(refused)?;
                Some(match all.into_iter().find(|tag| is_named(&tag.name, wanted)) {
                    Some(tag) => tag.id,
                    None => {
                        let (tags, draft) = (recado.tags(), TagDraft::new(wanted.trim(), COLOR));
                        tags.create(company, draft).await.map_err(refused)?.id
                    }
                })
            }
        };
        Ok(Self { list, tag })
    }

    /// The tag of new contacts.
    pub(super) const fn tag(&self) -> Option<TagId> {
        self.tag
    }

    /// Adds contacts to the list, those that are in it already included.
    pub(super) async fn list(
        &self,
        recado: &Recado,
        company: CompanyId,
        contacts: BTreeSet<ContactId>,
    ) -> Result<(), CommandError> {
        let Some(list) = self.list.filter(|_| !contacts.is_empty()) else { return Ok(()) };
        let contacts: Vec<ContactId> = contacts.into_iter().collect();
        let (lists, contacts) = (recado.lists(), AddContacts::new(contacts));
        lists.add_contacts(company, list, contacts).await.map(|_| ()).map_err(refused)
    }
}
