//! Remembering, heeding and forgetting that a number asked to stop.
//!
//! A contact can be made in many ways: by the API, an import, a form, a message. All of them
//! commit, so it is the commit that opts a contact out which comes back.

use super::{OptOutHash, RememberedOptOut};
use crate::contacts::{Contact, Phone};
use crate::conversations::{Act, ConversationState};
use crate::keyed_hash::HashKey;
use crate::store::{Change, ChangeKind, ChangeSet, Reads, RecordsExt, Row, StoreError, Stored};
use crate::{Recado, access};

/// The hashes of a contact's numbers, each once. Groups have none.
fn hashes_of(key: &HashKey, contact: &Contact) -> Vec<OptOutHash> {
    let mut hashes: Vec<OptOutHash> = Vec::new();
    for number in contact.numbers() {
        let hash = OptOutHash::of_phone(key, contact.company, &number);
        if !hashes.contains(&hash) {
            hashes.push(hash);
        }
    }
    hashes
}

/// How a commit writes a contact whose numbers may be remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heeded {
    /// It is made.
    Made,
    /// It was there, and may have opted in or learnt its number.
    Changed,
}

/// The contact of a change, if its numbers have to be looked up. A number is learnt only by a
/// contact whose name on its channel is none.
///
/// R415, R416.
fn heeded(change: &Change) -> Option<(Heeded, &Contact)> {
    let (contact, how) = match change.kind() {
        ChangeKind::Insert(Row::Contact(contact)) => (contact, Heeded::Made),
        ChangeKind::Update { row: Row::Contact(contact), .. } => (contact, Heeded::Changed),
        _ => return None,
    };
    let is_learner =
        || contact.phone.is_some() && Phone::on_channel(contact.identifier.as_str()).is_none();
    let is_looked_up = contact.opted_out_at.is_none()
        && (how == Heeded::Made || contact.opted_in_at.is_some() || is_learner());
    is_looked_up.then_some((how, contact))
}

/// Whether a contact has opted in after it asked to stop. What was asked for later holds.
///
/// R416.
fn is_lifted(contact: &Contact, remembered: &RememberedOptOut) -> bool {
    contact.opted_in_at.is_some_and(|opted_in_at| remembered.since < opted_in_at)
}

/// The contact that comes back with a remembered number: as if it had asked then.
///
/// R415.
fn opted_out(contact: &Contact, remembered: &RememberedOptOut) -> Contact {
    let mut contact = contact.clone();
    let state = ConversationState::of(&contact).after(Act::OptedOut { at: remembered.since });
    state.write_to(&mut contact);
    contact
}

/// The records that are remembered of these numbers.
async fn remembered_of(
    store: &dyn Reads,
    key: &HashKey,
    contact: &Contact,
) -> Result<Vec<Stored<RememberedOptOut>>, StoreError> {
    let mut found = Vec::new();
    for hash in hashes_of(key, contact) {
        found.extend(store.get::<RememberedOptOut>((contact.company, hash)).await?);
    }
    Ok(found)
}

/// Adds what the deletion of a contact leaves: that each of its numbers asked to stop, if it did.
///
/// R414.
pub(crate) async fn kept_on_deletion(
    store: &dyn Reads,
    key: Option<&HashKey>,
    contact: &Contact,
    mut changes: ChangeSet,
) -> Result<ChangeSet, StoreError> {
    let (Some(key), Some(since)) = (key, contact.opted_out_at) else { return Ok(changes) };
    let known = remembered_of(store, key, contact).await?;
    for hash in hashes_of(key, contact) {
        if !known.iter().any(|known| known.hash == hash) {
            changes = changes.insert(RememberedOptOut { company: contact.company, hash, since });
        }
    }
    Ok(changes)
}

/// Whether a number of the contact is remembered, so that it is opted out for that.
pub(crate) async fn is_remembered(app: &Recado, contact: &Contact) -> Result<bool, StoreError> {
    match app.heeding_key().await? {
        Some(key) => Ok(!remembered_of(app.store(), key, contact).await?.is_empty()),
        None => Ok(false),
    }
}

impl Recado {
    /// The key of the hashes, if opt-outs are remembered and any can be: nothing was hashed before
    /// the key was made. Unlike [`Recado::hash_key`] it never makes the key.
    async fn heeding_key(&self) -> Result<Option<&HashKey>, StoreError> {
        if !self.settings().remember_opt_outs {
            return Ok(None);
        }
        let cell = self.hash_key_cell();
        if cell.get().is_none()
            && let Some(secret) =
                self.store().get::<access::Secret>(access::SecretName::HashKey).await?
        {
            let _already = cell.set(HashKey::new(secret.bytes.clone()));
        }
        Ok(cell.get())
    }

    /// The numbers that a contact had before a change of it.
    async fn known_numbers(
        &self,
        key: &HashKey,
        contact: &Contact,
    ) -> Result<Vec<OptOutHash>, StoreError> {
        let before = self.store().get::<Contact>((contact.company, contact.id)).await?;
        Ok(before.map_or_else(Vec::new, |before| hashes_of(key, &before)))
    }

    /// Opts out each contact of the set that is made with a remembered number or learns one, and
    /// forgets the numbers of those that have opted in since.
    ///
    /// R415, R416.
    pub(crate) async fn heed_opt_outs(
        &self,
        mut changes: ChangeSet,
    ) -> Result<ChangeSet, StoreError> {
        if !changes.changes.iter().any(|change| heeded(change).is_some()) {
            return Ok(changes);
        }
        let Some(key) = self.heeding_key().await? else { return Ok(changes) };
        let mut forgotten = Vec::new();
        for change in &mut changes.changes {
            let Some((how, contact)) = heeded(change) else { continue };
            let found = remembered_of(self.store(), key, contact).await?;
            let (lifted, mut holding): (Vec<_>, Vec<_>) =
                found.into_iter().partition(|found| is_lifted(contact, found));
            forgotten.extend(lifted);
            if how == Heeded::Changed && !holding.is_empty() {
                let known = self.known_numbers(key, contact).await?;
                holding.retain(|found| !known.contains(&found.hash));
            }
            if let Some(earliest) = holding.iter().min_by_key(|found| found.since) {
                changes.requires.push(earliest.unchanged());
                let out = opted_out(contact, earliest);
                *change = match change.kind() {
                    ChangeKind::Update { read_at, .. } => {
                        Stored::new(out.clone(), *read_at).update(out)
                    }
                    _ => Change::insert(out),
                };
            }
        }
        for (at, one) in forgotten.iter().enumerate() {
            if !forgotten[..at].iter().any(|before| before.hash == one.hash) {
                changes.changes.push(one.delete());
            }
        }
        Ok(changes)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::Timestamp;
    use crate::contacts::{Identifier, Phone, Platform, Region};
    use crate::ids::{CompanyId, ContactId};
    use crate::secret::SecretBytes;
    use crate::store::Version;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn contact() -> Contact {
        let phone = Phone::parse("+5534991230001", &Region::br()).expect("a phone");
        Contact::new(
            ContactId::new(Uuid::from_u128(1)),
            CompanyId::new(Uuid::from_u128(2)),
            Platform::whatsapp(),
            Identifier::of_phone(&phone),
            Some(phone),
            at(9),
        )
    }

    /// R415, R416.
    #[test]
    fn contacts_are_looked_up_when_made_after_an_opt_in_and_when_they_may_have_learnt_a_number() {
        let (new, stored) = (contact(), Stored::new(contact(), Version::FIRST));
        let how = |change: &Change| heeded(change).map(|(how, _)| how);
        assert_eq!(how(&Change::insert(new.clone())), Some(Heeded::Made));
        assert_eq!(how(&stored.update(new.clone())), None);
        let back = Contact { opted_in_at: Some(at(5)), ..contact() };
        assert_eq!(how(&stored.update(back.clone())), Some(Heeded::Changed));
        let out = Contact { opted_out_at: Some(at(6)), ..back };
        assert_eq!(how(&stored.update(out.clone())), None);
        assert_eq!(how(&Change::insert(out)), None);
        assert_eq!(how(&stored.delete()), None);
        let lid = Identifier::parse("123456@lid").expect("an identifier");
        let learnt = Contact { identifier: lid, ..new };
        assert_eq!(how(&stored.update(learnt.clone())), Some(Heeded::Changed));
        assert_eq!(how(&stored.update(Contact { phone: None, ..learnt })), None);
    }

    /// R416.
    #[test]
    fn an_opt_in_lifts_what_was_asked_for_before_it() {
        let key = HashKey::new(SecretBytes::new([7; 32]));
        let hash = hashes_of(&key, &contact())[0];
        let asked = |since| RememberedOptOut { company: contact().company, hash, since: at(since) };
        let back = Contact { opted_in_at: Some(at(5)), ..contact() };
        for (since, lifted) in [(4, true), (5, false), (6, false)] {
            assert_eq!(is_lifted(&back, &asked(since)), lifted, "{since}");
        }
        assert!(!is_lifted(&contact(), &asked(4)));
    }

    /// R415.
    #[test]
    fn a_contact_that_comes_back_is_as_if_it_had_asked_then() {
        let key = HashKey::new(SecretBytes::new([7; 32]));
        let hashes = hashes_of(&key, &contact());
        assert_eq!(hashes.len(), 1, "the phone and the identifier are one number");
        let remembered =
            RememberedOptOut { company: contact().company, hash: hashes[0], since: at(3) };
        let out = opted_out(&contact(), &remembered);
        assert_eq!((out.opted_out_at, out.external_ai_enabled), (Some(at(3)), false));
        let same = Contact { opted_out_at: None, external_ai_enabled: true, ..out };
        assert_eq!(same, contact(), "nothing else changes");
    }

    #[test]
    fn a_group_has_no_number_to_remember() {
        let key = HashKey::new(SecretBytes::new([7; 32]));
        assert_eq!(hashes_of(&key, &Contact { is_group: true, ..contact() }), []);
    }
}
