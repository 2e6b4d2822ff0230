//! Keeps the ids of a contact's messages as forgotten.

use std::collections::{BTreeMap, BTreeSet};

use recado_core::Timestamp;
use recado_core::ids::{CompanyId, ContactId};
use recado_core::messages::{Message, MessageRef, RefTarget};
use recado_core::store::{Row, Version};

use super::State;
use super::rows::VersionedRow;

impl State {
    /// Stores a trace of each provider's id of the contact's messages that are `wanted`.
    pub(super) fn forget_messages(
        &mut self,
        company: CompanyId,
        contact: ContactId,
        expires_at: Timestamp,
        wanted: impl Fn(&Message) -> bool,
    ) {
        let own = |message: &&Message| {
            (message.company, message.contact) == (company, contact) && wanted(message)
        };
        let messages: BTreeMap<_, _> = self
            .rows
            .all::<Message>()
            .filter(own)
            .map(|message| (message.id, (message.connection, message.provider_id.clone())))
            .collect();
        let of_messages =
            messages.values().filter_map(|(connection, id)| Some((*connection, id.clone()?)));
        // A gateway reports no id that begins with a tab.
        let of_references = self.rows.all::<MessageRef>().filter_map(|reference| {
            let is_their = matches!(&reference.target, RefTarget::Message(id)
                if messages.contains_key(id) && reference.company == company);
            let is_reported = is_their && !reference.provider_id.as_str().starts_with('\t');
            is_reported.then(|| (reference.connection, reference.provider_id.clone()))
        });
        let ids: BTreeSet<_> = of_messages.chain(of_references).collect();
        for (connection, id) in ids {
            let target = RefTarget::Forgotten { expires_at };
            let provider_id = id.trace(connection);
            let row = Row::from(MessageRef { company, connection, provider_id, target });
            let known = self.rows.entry(&row.key()).map(|entry| (entry.version, entry.sequence));
            let (version, sequence) = match known {
                Some((version, sequence)) => (version.next(), sequence),
                None => {
                    self.next_sequence += 1;
                    (Version::FIRST, self.next_sequence)
                }
            };
            self.rows.set(row.key(), Some(VersionedRow { row, version, sequence }));
        }
    }
}
