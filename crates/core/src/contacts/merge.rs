//! The operator's merge of two contacts that are the same person (D62, D67).

use crate::jobs::JobKind;
use async_trait::async_trait;

use super::portions::PORTION;
use super::{Address, Alias, ChannelKey, Contact, Contacts, InboxStatus, Profile};
use crate::Timestamp;
use crate::body::{Required, body};
use crate::conversations::{ChannelContact, ChannelQuery, Conversation};
use crate::deals::{Deal, focus_stage};
use crate::dispatches::DispatchWindow;
use crate::error::Error;
use crate::ids::{CompanyId, ContactId};
use crate::leads::{LeadMemory, united};
use crate::manage::{ManageError, ManageResult};
use crate::problems::Problems;
use crate::store::{Change, ChangeSet, Decided, ManyRows, Reads, RecordsExt, StoreError, Stored};
use crate::use_case::UseCase;

/// Merges two contacts (R116).
#[derive(Clone, Copy, Debug)]
pub struct MergeContacts {
    /// The company of both.
    pub company: CompanyId,
    /// The contact that stays.
    pub id: ContactId,
    /// The contact that is deleted.
    pub other: ContactId,
}

/// What a merge reads.
#[derive(Debug)]
pub struct MergeFacts {
    found: Vec<ChannelContact>,
    memories: [Option<Stored<LeadMemory>>; 2],
    deals: Vec<Deal>,
    /// Whether the other contact's identifier is an alias of some contact.
    identifier_held: bool,
    /// Whether one of them is being deleted.
    is_purged: bool,
    /// The dispatches to both whose window is still reserved.
    dispatches: Vec<DispatchWindow>,
    /// Of what the other contact has more rows than one commit moves.
    many: ManyRows,
}

impl MergeFacts {
    /// Whether work is under way that names one of both and that a merge would have to undo: a
    /// deletion that has begun to remove files, or a dispatch that holds a window (R143).
    fn is_busy(&self, now: Timestamp) -> bool {
        self.is_purged || self.dispatches.iter().any(|window| window.is_under_way(now))
    }
}

/// The outcome of a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merging {
    /// They are merged.
    Done,
    /// Some of the other contact's many rows were moved; go on.
    Begun,
    /// One of them is being deleted, or a template is being dispatched to it; try again.
    Busy,
}

/// The contact that stays, with its empty fields filled from the other one. Of two states the
/// stricter one stays: of two opt-outs the earlier one; a block; an AI that is off. It is open if
/// one of them is.
#[must_use]
pub fn merged(kept: &Contact, other: &Contact, deals: &[Deal], now: Timestamp) -> Contact {
    let mut contact = kept.changed(now, |contact| {
        fill_in(contact, other);
        fill_in_address(&mut contact.address, &other.address);
        fill_in_profile(&mut contact.profile, &other.profile);
        unite_states(contact, other);
        contact.first_message_at = earlier(contact.first_message_at, other.first_message_at);
        if other.last_message_at > contact.last_message_at {
            contact.last_connection_id = other.last_connection_id.or(contact.last_connection_id);
        }
        contact.last_connection_id = contact.last_connection_id.or(other.last_connection_id);
        contact.last_message_at = contact.last_message_at.max(other.last_message_at);
        contact.last_inbound_at = contact.last_inbound_at.max(other.last_inbound_at);
        contact.last_read_at = contact.last_read_at.max(other.last_read_at);
        for (field, value) in &other.custom_fields {
            contact.custom_fields.entry(*field).or_insert_with(|| value.clone());
        }
        contact.pipeline_stage_id = focus_stage(deals);
    });
    contact.updated_at = now;
    contact
}

fn fill<T: Clone>(own: &mut Option<T>, other: &Option<T>) {
    if own.is_none() {
        own.clone_from(other);
    }
}

fn earlier(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    one.into_iter().chain(other).min()
}

fn fill_in(contact: &mut Contact, other: &Contact) {
    if contact.name.trim().is_empty() {
        contact.name.clone_from(&other.name);
    }
    fill(&mut contact.phone, &other.phone);
    // A contact whose shared address was the other's has it as its own now.
    if contact.email.is_none() && other.email.is_some() {
        contact.email.clone_from(&other.email);
        contact.shared_email = None;
    }
    if contact.email.is_none() {
        fill(&mut contact.shared_email, &other.shared_email);
    }
    if contact.shared_email.is_some() && contact.shared_email == other.email {
        contact.shared_email = None;
    }
    fill(&mut contact.wa_profile_name, &other.wa_profile_name);
    fill(&mut contact.wa_push_name, &other.wa_push_name);
    fill(&mut contact.avatar_url, &other.avatar_url);
    fill(&mut contact.observation, &other.observation);
    fill(&mut contact.organization_id, &other.organization_id);
    fill(&mut contact.assigned_to_member_id, &other.assigned_to_member_id);
}

fn fill_in_address(own: &mut Address, other: &Address) {
    fill(&mut own.street, &other.street);
    fill(&mut own.street_number, &other.street_number);
    fill(&mut own.complement, &other.complement);
    fill(&mut own.neighborhood, &other.neighborhood);
    fill(&mut own.city, &other.city);
    fill(&mut own.state, &other.state);
    fill(&mut own.postal_code, &other.postal_code);
    fill(&mut own.country, &other.country);
}

fn fill_in_profile(own: &mut Profile, other: &Profile) {
    fill(&mut own.birthday, &other.birthday);
    fill(&mut own.cpf, &other.cpf);
    fill(&mut own.rg, &other.rg);
    fill(&mut own.genero, &other.genero);
    fill(&mut own.estado_civil, &other.estado_civil);
    fill(&mut own.profissao, &other.profissao);
    fill(&mut own.cargo, &other.cargo);
}

fn unite_states(contact: &mut Contact, other: &Contact) {
    if other.inbox_status == InboxStatus::Open {
        contact.inbox_status = InboxStatus::Open;
    }
    contact.is_ai_enabled &= other.is_ai_enabled;
    contact.external_ai_enabled &= other.external_ai_enabled;
    contact.ai_paused_until = contact.ai_paused_until.max(other.ai_paused_until);
    contact.opted_out_at = earlier(contact.opted_out_at, other.opted_out_at);
    contact.opt_out_backfilled |= other.opt_out_backfilled;
    contact.opted_in_at = contact.opted_in_at.max(other.opted_in_at);
    contact.is_blocked |= other.is_blocked;
    contact.is_archived &= other.is_archived;
    contact.is_pinned |= other.is_pinned;
    contact.has_unread |= other.has_unread;
    if other.last_closed_at > contact.last_closed_at {
        contact.last_closed_at = other.last_closed_at;
        contact.last_close_reason_id = other.last_close_reason_id;
    }
}

/// The conversation of the contact that stays, joined with the other's on the same connection: its
/// recipient's name is that of the one with the newest message.
fn joined(own: Option<&Conversation>, other: &Conversation, id: ContactId) -> Conversation {
    let Some(own) = own else { return Conversation { contact: id, ..other.clone() } };
    let newer = other.last_message_at > own.last_message_at;
    let identifier = if newer { &other.identifier } else { &own.identifier };
    Conversation {
        identifier: identifier.clone(),
        last_message_at: own.last_message_at.max(other.last_message_at),
        last_inbound_at: own.last_inbound_at.max(other.last_inbound_at),
        unread: own.unread.saturating_add(other.unread),
        ..own.clone()
    }
}

impl MergeContacts {
    fn conversations(&self, own: &ChannelContact, other: &ChannelContact) -> Vec<Change> {
        let mut changes = Vec::new();
        for theirs in &other.conversations {
            let ours = own.conversations.iter().find(|ours| ours.connection == theirs.connection);
            let joined = joined(ours.map(|ours| ours.value()), theirs, self.id);
            changes.push(match ours {
                Some(ours) => ours.update(joined),
                None => Change::insert(joined),
            });
        }
        changes
    }

    fn memory(&self, [own, other]: &[Option<Stored<LeadMemory>>; 2]) -> Option<Change> {
        let other = other.as_ref()?;
        Some(match own {
            Some(own) => own.update(united(own, other)),
            None => Change::insert(LeadMemory { contact: self.id, ..other.value().clone() }),
        })
    }

    /// The other's identifier as an alias of the contact that stays, unless a contact has it
    /// already.
    fn identifier(&self, facts: &MergeFacts, other: &Contact) -> Option<Alias> {
        let key =
            ChannelKey::parse(other.identifier.as_str()).filter(|_| !facts.identifier_held)?;
        let platform = other.source_platform.clone();
        Some(Alias { company: self.company, platform, key, contact: self.id })
    }
}

#[async_trait]
impl UseCase for MergeContacts {
    type Loaded = MergeFacts;
    type Output = Merging;
    type Error = ManageError;

    async fn load(&self, store: &dyn Reads) -> Result<MergeFacts, StoreError> {
        let both = [self.id, self.other];
        let query = ChannelQuery { ids: both.to_vec(), ..ChannelQuery::default() };
        let found = store.channel_contacts(self.company, &query).await?;
        let mut deals = Vec::new();
        for id in both {
            deals.extend(store.deals(self.company, Some(id)).await?);
        }
        let memories = [
            store.get::<LeadMemory>((self.company, self.id)).await?,
            store.get::<LeadMemory>((self.company, self.other)).await?,
        ];
        let other = found.iter().find(|found| found.contact.id == self.other);
        let key = other.and_then(|other| ChannelKey::parse(other.contact.identifier.as_str()));
        let identifier_held = match (other, key) {
            (Some(other), Some(key)) => {
                let platform = Some(other.contact.source_platform.clone());
                let query =
                    ChannelQuery { platform, keys: vec![key.clone()], ..ChannelQuery::default() };
                let holders = store.channel_contacts(self.company, &query).await?;
                holders.iter().any(|holder| holder.aliases.contains(&key))
            }
            _ => false,
        };
        // Read after the contacts: beginning to delete one, or to dispatch to it, writes it.
        let (mut is_purged, mut dispatches) = (false, Vec::new());
        for id in both {
            is_purged |= store.job_like(self.company, &JobKind::purge_of(id)).await?.is_some();
            let reserved = store.reserved_windows(self.company, id).await?;
            dispatches.extend(reserved.into_iter().map(Stored::into_value));
        }
        let many = store.has_many(self.company, self.other, PORTION).await?;
        Ok(MergeFacts { found, memories, deals, identifier_held, is_purged, dispatches, many })
    }

    fn decide(&self, facts: MergeFacts, now: Timestamp) -> Result<Decided<Merging>, ManageError> {
        let of = |id: ContactId| facts.found.iter().find(|found| found.contact.id == id);
        let (Some(own), Some(other)) = (of(self.id), of(self.other)) else {
            return Err(ManageError::NotFound);
        };
        let refuse = |reason: &str| Err(Problems::of("other_contact_id", reason).into());
        if self.id == self.other {
            return refuse("must name another contact");
        }
        if own.contact.is_group || other.contact.is_group {
            return refuse("groups are not merged");
        }
        if own.contact.source_platform != other.contact.source_platform {
            return refuse("must be a contact of the same channel");
        }
        if facts.is_busy(now) {
            return Ok(Decided::unchanged(Merging::Busy));
        }
        if facts.many != ManyRows::default() {
            let some = Change::reassign_some(self.company, self.other, self.id, PORTION);
            return Ok(Decided::new(ChangeSet::new().with(some), Merging::Begun));
        }
        let contact = merged(&own.contact, &other.contact, &facts.deals, now);
        let mut changes =
            ChangeSet::new().with(Change::reassign(self.company, self.other, self.id));
        for change in self.conversations(own, other) {
            changes = changes.with(change);
        }
        if let Some(change) = self.memory(&facts.memories) {
            changes = changes.with(change);
        }
        // Deleted here and not with its contact: values that were added meanwhile must not be
        // deleted with it.
        if let Some(memory) = &facts.memories[1] {
            changes = changes.with(memory.delete());
        }
        // Before the contact that stays takes its e-mail address.
        changes = changes.with(other.contact.delete()).with(own.contact.update(contact));
        if let Some(alias) = self.identifier(&facts, &other.contact) {
            changes = changes.insert(alias);
        }
        Ok(Decided::new(changes, Merging::Done))
    }
}

body! {
    /// The contact that is deleted.
    #[derive(Clone, Debug)]
    pub struct MergeBody as "MergeContact" {
        /// The contact that is merged into the one of the path.
        other as "other_contact_id": ContactId = Required<ContactId>,
    }
}

impl Contacts<'_> {
    /// Merges two contacts: `id` stays and keeps its own fields. The fields of `other` fill its
    /// empty ones. All records of `other` (messages, deals, documents, links, lists, tags, aliases,
    /// ledger lines, campaign recipients) are reassigned to `id`, and `other` is deleted. Fires no
    /// event. The outcome of a message that is being sent to `other` is recorded on `id`.
    ///
    /// Atomic, except that many messages, ledger lines and events are moved in portions before the
    /// commit that moves the rest (R441). A merge that fails between them is completed by a repeat.
    ///
    /// # Errors
    ///
    /// [`ManageError::NotFound`] when the company lacks one of them; what forbids the merge:
    /// groups, two channels, one contact twice. [`Error::Busy`] while one of them is being deleted,
    /// or while a template is being dispatched to one of them: until then it is not known which
    /// window stays.
    pub async fn merge(
        &self,
        company: CompanyId,
        id: ContactId,
        other: ContactId,
    ) -> ManageResult<()> {
        loop {
            match self.app.run(&MergeContacts { company, id, other }).await? {
                Merging::Done => return Ok(()),
                Merging::Begun => {}
                Merging::Busy => return Err(Error::Busy),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;
    use crate::contacts::{Identifier, Phone, Platform, Region};
    use crate::ids::{CloseReasonId, ConnectionId};

    const NOW: Timestamp = Timestamp::from_millis(1_763_000_000_000);

    fn contact(n: u128, identifier: &str, phone: Option<&str>) -> Contact {
        let phone = phone.map(|phone| Phone::parse(phone, &Region::br()).expect("a phone"));
        Contact::new(
            ContactId::new(Uuid::from_u128(n)),
            CompanyId::new(Uuid::from_u128(9)),
            Platform::whatsapp(),
            Identifier::parse(identifier).expect("an identifier"),
            phone,
            Timestamp::from_millis(0),
        )
    }

    fn two() -> (Contact, Contact) {
        (contact(1, "5511987654321", Some("+5511987654321")), contact(2, "123@lid", None))
    }

    fn conversation(n: u128, at: Option<i64>, identifier: &str, unread: u32) -> Conversation {
        Conversation {
            company: CompanyId::new(Uuid::from_u128(9)),
            contact: ContactId::new(Uuid::from_u128(n)),
            connection: ConnectionId::new(Uuid::from_u128(7)),
            identifier: identifier.to_owned(),
            last_message_at: at.map(Timestamp::from_millis),
            last_inbound_at: None,
            unread,
        }
    }

    /// R116.
    #[test]
    fn what_the_contact_has_stays_and_what_it_lacks_comes_from_the_other() {
        let (mut kept, mut other) = two();
        kept.name = "Ana".to_owned();
        kept.profile.cargo = Some("CEO".to_owned());
        other.name = "Ana Maria".to_owned();
        other.profile.cargo = Some("CTO".to_owned());
        other.address.city = Some("Uberlândia".to_owned());
        let one = merged(&kept, &other, &[], NOW);
        assert_eq!((one.id, one.name.as_str(), one.display_name.as_str()), (kept.id, "Ana", "Ana"));
        assert_eq!(one.profile.cargo.as_deref(), Some("CEO"));
        assert_eq!(one.address.city.as_deref(), Some("Uberlândia"));
        assert_eq!((one.phone, one.updated_at), (kept.phone, NOW));
    }

    /// R116: a state that both share stays, one that only one of them has is the stricter one.
    #[test]
    fn a_merged_contact_is_archived_only_if_both_were_and_pinned_if_one_was() {
        for (own, theirs) in [(false, false), (false, true), (true, false), (true, true)] {
            let (mut kept, mut other) = two();
            (kept.is_archived, other.is_archived) = (own, theirs);
            (kept.is_pinned, other.is_pinned) = (own, theirs);
            (kept.is_ai_enabled, other.is_ai_enabled) = (own, theirs);
            (kept.opt_out_backfilled, other.opt_out_backfilled) = (own, theirs);
            let one = merged(&kept, &other, &[], NOW);
            let found = (one.is_archived, one.is_pinned, one.is_ai_enabled);
            assert_eq!(found, (own && theirs, own || theirs, own && theirs));
            assert_eq!(one.opt_out_backfilled, own || theirs);
        }
    }

    /// R116.
    #[test]
    fn of_two_closings_the_later_one_stays_and_of_two_at_one_time_the_contacts_own() {
        let reason = |n: u128| Some(CloseReasonId::new(Uuid::from_u128(n)));
        for (theirs, expected) in [(4, reason(1)), (5, reason(1)), (6, reason(2))] {
            let (mut kept, mut other) = two();
            kept.last_closed_at = Some(Timestamp::from_millis(5));
            kept.last_close_reason_id = reason(1);
            other.last_closed_at = Some(Timestamp::from_millis(theirs));
            other.last_close_reason_id = reason(2);
            let one = merged(&kept, &other, &[], NOW);
            assert_eq!(one.last_close_reason_id, expected, "{theirs}");
        }
    }

    /// R116.
    #[test]
    fn what_is_empty_in_the_profile_comes_from_the_other() {
        let (kept, mut other) = two();
        other.profile.rg = Some("MG-1".to_owned());
        other.profile.cargo = Some("CTO".to_owned());
        let one = merged(&kept, &other, &[], NOW);
        assert_eq!(one.profile, other.profile);
    }

    /// R116.
    #[test]
    fn the_last_connection_is_that_of_the_newest_message() {
        let connection = |n| Some(ConnectionId::new(Uuid::from_u128(n)));
        let time = |at: i64| Some(Timestamp::from_millis(at));
        for (own, theirs, last) in [(5, 6, 2), (6, 5, 1), (5, 5, 1)] {
            let (mut kept, mut other) = two();
            (kept.last_message_at, other.last_message_at) = (time(own), time(theirs));
            (kept.last_connection_id, other.last_connection_id) = (connection(1), connection(2));
            let one = merged(&kept, &other, &[], NOW);
            assert_eq!(one.last_connection_id, connection(last), "{own} {theirs}");
        }
    }

    #[test]
    fn an_address_that_was_shared_with_the_other_is_its_own_now() {
        let (mut kept, mut other) = two();
        let email = crate::contacts::Email::parse("ana@x.example").expect("an address");
        kept.shared_email = Some(email.clone());
        other.email = Some(email.clone());
        let one = merged(&kept, &other, &[], NOW);
        assert_eq!((one.email, one.shared_email), (Some(email), None));
    }

    #[test]
    fn an_address_is_shared_as_long_as_somebody_else_holds_it() {
        let email = |text: &str| Some(crate::contacts::Email::parse(text).expect("an address"));
        for (of_other, stays) in
            [("shared@x.example", None), ("b@x.example", email("shared@x.example"))]
        {
            let (mut kept, mut other) = two();
            kept.email = email("a@x.example");
            kept.shared_email = email("shared@x.example");
            other.email = email(of_other);
            let one = merged(&kept, &other, &[], NOW);
            assert_eq!((one.email, one.shared_email), (email("a@x.example"), stays));
        }
    }

    /// R116.
    #[test]
    fn of_two_conversations_the_newer_one_says_how_the_contact_is_addressed() {
        let id = ContactId::new(Uuid::from_u128(1));
        let own = conversation(1, Some(5), "5511987654321", 2);
        let one = joined(Some(&own), &conversation(2, Some(6), "123@lid", 3), id);
        assert_eq!((one.identifier.as_str(), one.unread), ("123@lid", 5));
        let one = joined(Some(&own), &conversation(2, Some(5), "123@lid", 0), id);
        assert_eq!(one.identifier, "5511987654321", "its own, where both are equally new");
        let one = joined(Some(&own), &conversation(2, None, "123@lid", 0), id);
        assert_eq!((one.identifier.as_str(), one.unread), ("5511987654321", 2));
        let one = joined(None, &conversation(2, None, "123@lid", 1), id);
        assert_eq!((one.contact, one.identifier.as_str()), (id, "123@lid"));
    }

    proptest! {
        /// R116.
        #[test]
        fn the_stricter_of_two_states_stays(
            stops in proptest::array::uniform2(proptest::option::of(0_i64..100)),
            blocks in proptest::array::uniform2(any::<bool>()),
            ai in proptest::array::uniform2(any::<bool>()),
        ) {
            let (mut kept, mut other) = two();
            for (contact, n) in [(&mut kept, 0), (&mut other, 1)] {
                contact.opted_out_at = stops[n].map(Timestamp::from_millis);
                contact.is_blocked = blocks[n];
                contact.external_ai_enabled = ai[n];
            }
            let one = merged(&kept, &other, &[], NOW);
            let earliest = stops.into_iter().flatten().min();
            prop_assert_eq!(one.opted_out_at, earliest.map(Timestamp::from_millis));
            prop_assert_eq!(one.is_blocked, blocks[0] || blocks[1]);
            prop_assert_eq!(one.external_ai_enabled, ai[0] && ai[1]);
        }
    }
}
