//! Who of a group wrote the messages of a listing: the phone and name of their own contact (D72).

use super::{MessageRecord, Messages, Participant};
use crate::contacts::ChannelKey;
use crate::conversations::{ChannelContact, ChannelQuery};
use crate::ids::CompanyId;
use crate::store::StoreError;

impl Participant {
    /// The name of a participant whose own contact may know more than their message says.
    fn unknown_key(&self) -> Option<ChannelKey> {
        let is_known = self.phone().is_some() && self.name.is_some();
        ChannelKey::parse(&self.identifier).filter(|_| !is_known)
    }

    /// The participant with what their own contact says, where the message says nothing.
    fn identified(&self, own: &ChannelContact) -> Self {
        let own = own.contact.value();
        Self {
            phone: self.phone().or_else(|| own.phone.clone()),
            name: self.name.clone().or_else(|| own.wa_push_name.clone()),
            identifier: self.identifier.clone(),
        }
    }
}

impl ChannelContact {
    /// Whether it is the person that a channel knows by a name.
    fn is_known_by(&self, platform: &str, key: &ChannelKey) -> bool {
        let contact = self.contact.value();
        let identifier = ChannelKey::parse(contact.identifier.as_str());
        contact.source_platform.as_str() == platform
            && !contact.is_group
            && (identifier.is_some_and(|identifier| key.is(&identifier))
                || self.aliases.iter().any(|alias| key.is(alias)))
    }
}

impl Messages<'_> {
    /// Adds the phone and name that the own contact of a participant has, where the message says
    /// none (D72). They are read for each listing and not kept with the message: nothing of a
    /// contact is shown after its deletion (D74).
    pub(super) async fn identify_writers(
        &self,
        company: CompanyId,
        records: &mut [MessageRecord],
    ) -> Result<(), StoreError> {
        let writer = |record: &MessageRecord| record.message.participant.as_ref()?.unknown_key();
        let mut query = ChannelQuery::default();
        for key in records.iter().filter_map(writer) {
            // Not by stored phone, which any number of imported contacts may share.
            query.add_forms(&key.forms(), false);
        }
        if query.is_empty() {
            return Ok(());
        }
        let known = self.app.store().channel_contacts(company, &query).await?;
        for record in records {
            let Some(key) = writer(record) else { continue };
            let platform = &record.contact.source_platform;
            let own = known.iter().find(|contact| contact.is_known_by(platform, &key));
            if let (Some(participant), Some(own)) = (&mut record.message.participant, own) {
                *participant = participant.identified(own);
            }
        }
        Ok(())
    }
}
