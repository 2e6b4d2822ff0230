//! Keeps the ids of a contact's messages as forgotten.

use std::collections::BTreeSet;

use recado_core::Timestamp;
use recado_core::ids::{CompanyId, ContactId};
use recado_core::messages::{Message, MessageRef, RefTarget};
use recado_core::store::{Row, Version};

use super::State;
use super::rows::VersionedRow;

impl State {
    /// Stores a trace of each provider's id of a contact's messages.
    pub(super) fn forget_messages(
        &mut self,
        company: CompanyId,
        contact: ContactId,
        expires_at: Timestamp,
    ) {
        let own = |message: &&Message| (message.company, message.contact) == (company, contact);
        let ids: BTreeSet<_> = self
            .rows
            .all::<Message>()
            .filter(own)
            .filter_map(|message| Some((message.connection, message.provider_id.clone()?)))
            .collect();
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
