//! The keys of links to received media: the one that signs, and those that signed before (R194).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::media_link::{LinkEnd, LinkTarget, MediaLinks, target};
use crate::Timestamp;
use crate::ids::{CompanyId, MessageId};
use crate::secret::SecretBytes;

/// The bytes of a key.
pub(crate) const KEY_BYTES: usize = 32;
/// How old the keys that a process has read may be: a rotation holds everywhere after that (R194).
pub(crate) const KEYS_READ_AGAIN: Duration = Duration::from_secs(60);
/// How old they may be when a signature is of none of them. Strangers can present any signature, so
/// that not each of them causes a read.
pub(crate) const UNKNOWN_READ_AGAIN: Duration = Duration::from_secs(1);
/// How many replaced keys are kept; rotating more often ends the links of the oldest (R194).
const MAX_PREVIOUS: usize = 8;
/// The bytes of a replaced key as it is kept: its end, then the key.
const KEPT_BYTES: usize = 8 + KEY_BYTES;

/// A key that was replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PreviousKey {
    key: SecretBytes,
    /// Its links are good before that at most.
    end: LinkEnd,
}

/// All keys under which a link may be good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MediaKeys {
    current: SecretBytes,
    /// The newest first.
    previous: Vec<PreviousKey>,
}

impl MediaKeys {
    /// The keys as the secrets have them: the one that signs, and what [`MediaKeys::previous`]
    /// made. Replaced keys that cannot be read are left out, so that their links have ended.
    pub(crate) fn new(current: SecretBytes, previous: Option<&SecretBytes>) -> Self {
        let kept = previous.map_or(&[][..], SecretBytes::expose).chunks_exact(KEPT_BYTES);
        let previous = kept.filter_map(|kept| {
            let (end, key) = kept.split_first_chunk::<8>()?;
            Some(PreviousKey { key: SecretBytes::new(key), end: LinkEnd::from_bytes(*end) })
        });
        Self { current, previous: previous.collect() }
    }

    /// The keys after a rotation: `new` signs. Links of the replaced key are good until their own
    /// end, and those of earlier releases, which have none, for the lifetime of a link; `at_once`
    /// ends all links of all keys before (R194).
    pub(crate) fn rotated(
        &self,
        new: SecretBytes,
        at_once: bool,
        now: Timestamp,
        lifetime: Duration,
    ) -> Self {
        if at_once {
            return Self { current: new, previous: Vec::new() };
        }
        // Until other processes hear of the rotation they go on signing with this key.
        let end = LinkEnd::after(now.plus(KEYS_READ_AGAIN), lifetime);
        let replaced = PreviousKey { key: self.current.clone(), end };
        let others = self.previous.iter().filter(|previous| previous.end.is_after(now)).cloned();
        let previous = std::iter::once(replaced).chain(others).take(MAX_PREVIOUS).collect();
        Self { current: new, previous }
    }

    /// The key that signs.
    pub(crate) const fn current(&self) -> &SecretBytes {
        &self.current
    }

    /// The replaced keys as they are kept; `None` if there are none.
    pub(crate) fn previous(&self) -> Option<SecretBytes> {
        let bytes =
            |previous: &PreviousKey| [&previous.end.to_bytes()[..], previous.key.expose()].concat();
        let bytes: Vec<u8> = self.previous.iter().flat_map(bytes).collect();
        (!bytes.is_empty()).then(|| SecretBytes::new(bytes))
    }

    /// When the last link of a replaced key ends.
    pub(crate) fn previous_end(&self) -> Option<Timestamp> {
        self.previous.iter().map(|previous| previous.end).max().map(LinkEnd::moment)
    }

    /// Makes links, which the current key signs.
    pub(crate) fn links(&self, public_url: &str, now: Timestamp, lifetime: Duration) -> MediaLinks {
        MediaLinks::new(public_url, self.current.clone(), now, lifetime)
    }

    /// What the last part of a link leads to `now`; `None` if no key signed it for `id`, and once
    /// the link or its key has ended (R193, R194).
    pub(crate) fn target(
        &self,
        company: CompanyId,
        id: MessageId,
        presented: &str,
        now: Timestamp,
    ) -> Option<LinkTarget> {
        let previous = self.previous.iter().filter(|previous| previous.end.is_after(now));
        let mut keys = std::iter::once(&self.current).chain(previous.map(|previous| &previous.key));
        keys.find_map(|key| target(key, company, id, presented, now))
    }
}

/// The keys as this process last read them.
#[derive(Debug, Default)]
pub(crate) struct KnownKeys(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    keys: Option<(Arc<MediaKeys>, Timestamp)>,
    /// When somebody last began to read them.
    asked: Option<Timestamp>,
}

impl KnownKeys {
    /// The keys, unless the caller is to read them: they were never read, or are older than
    /// `max_age` and nobody has begun to read them for a moment (R194).
    pub(crate) fn recent(&self, now: Timestamp, max_age: Duration) -> Option<Arc<MediaKeys>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (keys, read) = known.keys.as_ref()?;
        let is_asked = known.asked.is_some_and(|at| is_within(at, now, UNKNOWN_READ_AGAIN));
        if is_asked || is_within(*read, now, max_age) {
            return Some(Arc::clone(keys));
        }
        known.asked = Some(now);
        None
    }

    /// Remembers keys that were read at `now` or shortly after, unless newer ones are known.
    pub(crate) fn remember(&self, keys: MediaKeys, now: Timestamp) -> Arc<MediaKeys> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = Arc::new(keys);
        if known.keys.as_ref().is_none_or(|(_, read)| *read <= now) {
            known.keys = Some((Arc::clone(&keys), now));
        }
        keys
    }

    /// Forgets the keys, so that the next caller reads them.
    pub(crate) fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Known::default();
    }
}

/// Whether less than `time` has passed since `at`.
fn is_within(at: Timestamp, now: Timestamp, time: Duration) -> bool {
    at <= now && now < at.plus(time)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_763_000_000_000);
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    const LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);

    fn key(n: u8) -> SecretBytes {
        SecretBytes::new([n; KEY_BYTES])
    }

    fn ids() -> (CompanyId, MessageId) {
        (CompanyId::new(Uuid::from_u128(1)), MessageId::new(Uuid::from_u128(2)))
    }

    fn link(keys: &MediaKeys, now: Timestamp) -> String {
        let (company, message) = ids();
        let link = keys.links("https://recado.example", now, LIFETIME).link(company, message);
        link.rsplit('/').next().expect("a link has parts").to_owned()
    }

    fn is_good(keys: &MediaKeys, link: &str, now: Timestamp) -> bool {
        let (company, message) = ids();
        keys.target(company, message, link, now).is_some()
    }

    /// R194.
    #[test]
    fn links_of_a_replaced_key_are_good_until_their_end_and_new_ones_are_of_the_new_key() {
        let first = MediaKeys::new(key(1), None);
        let old = link(&first, NOW);
        let second = first.rotated(key(2), false, NOW, LIFETIME);
        let new = link(&second, NOW);
        assert!(is_good(&second, &old, NOW) && is_good(&second, &new, NOW));
        assert!(!is_good(&first, &new, NOW), "the old key did not sign it");
        assert!(is_good(&second, &old, NOW.plus(LIFETIME)));
        assert!(!is_good(&second, &old, NOW.plus(LIFETIME + DAY)));
        // What a process signed that had not heard of it yet.
        let heard = NOW.plus(KEYS_READ_AGAIN);
        assert!(is_good(&second, &link(&first, heard), heard.plus(LIFETIME)));
    }

    /// R194.
    #[test]
    fn a_rotation_at_once_ends_every_link_before_it() {
        let first = MediaKeys::new(key(1), None);
        let second = first.rotated(key(2), false, NOW, LIFETIME);
        let third = second.rotated(key(3), true, NOW, LIFETIME);
        for old in [link(&first, NOW), link(&second, NOW)] {
            assert!(!is_good(&third, &old, NOW));
        }
        assert!(is_good(&third, &link(&third, NOW), NOW));
        assert_eq!((third.previous(), third.previous_end()), (None, None));
    }

    /// R194.
    #[test]
    fn links_without_an_end_have_the_end_of_their_key() {
        let (company, message) = ids();
        // As an earlier release signed it, under a key of sevens.
        let earlier = "_jEftfZfXAK6TMTdDMW64vh5QLGc0trNL6-FygQxTOQ";
        let first = MediaKeys::new(key(7), None);
        assert!(first.target(company, message, earlier, NOW.plus(LIFETIME * 100)).is_some());
        let second = first.rotated(key(8), false, NOW, LIFETIME);
        let end = second.previous_end().expect("there is one");
        assert!(is_good(&second, earlier, end.minus(Duration::from_millis(1))));
        assert!(!is_good(&second, earlier, end));
    }

    /// R194.
    #[test]
    fn keys_are_read_again_when_they_are_old_and_by_one_caller_at_a_time() {
        let after = |millis| NOW.plus(Duration::from_millis(millis));
        let known = KnownKeys::default();
        assert!(known.recent(NOW, KEYS_READ_AGAIN).is_none());
        assert!(known.recent(NOW, KEYS_READ_AGAIN).is_none(), "there are none to use meanwhile");
        let keys = known.remember(MediaKeys::new(key(1), None), NOW);
        assert_eq!(known.recent(after(59_999), KEYS_READ_AGAIN), Some(keys.clone()));
        assert!(known.recent(after(60_000), KEYS_READ_AGAIN).is_none());
        assert_eq!(known.recent(after(60_999), KEYS_READ_AGAIN), Some(keys), "somebody reads");
        assert!(known.recent(after(61_000), KEYS_READ_AGAIN).is_none(), "that failed");
        known.remember(MediaKeys::new(key(2), None), after(61_000));
        known.remember(MediaKeys::new(key(1), None), after(60_000));
        let newest = known.recent(after(62_000), KEYS_READ_AGAIN).expect("they are recent");
        assert_eq!(newest.current(), &key(2), "an answer that comes late changes nothing");
        assert!(known.recent(after(62_000), UNKNOWN_READ_AGAIN).is_none());
        assert!(known.recent(NOW, KEYS_READ_AGAIN).is_none(), "the clock was set back");
        known.forget();
        assert!(known.recent(after(62_000), KEYS_READ_AGAIN).is_none());
    }

    /// R194.
    #[test]
    fn what_is_kept_of_replaced_keys_is_read_again_and_has_a_bound() {
        let mut keys = MediaKeys::new(key(0), None);
        let mut links = Vec::new();
        for n in 1..=10 {
            links.push(link(&keys, NOW));
            keys = keys.rotated(key(n), false, NOW, LIFETIME);
            assert_eq!(MediaKeys::new(key(n), keys.previous().as_ref()), keys);
        }
        let good: Vec<bool> = links.iter().map(|link| is_good(&keys, link, NOW)).collect();
        assert_eq!(good, [[false; 2].as_slice(), &[true; MAX_PREVIOUS]].concat());
        let later = NOW.plus(LIFETIME + DAY + DAY);
        let next = keys.rotated(key(11), false, later, LIFETIME);
        assert_eq!(next.previous().expect("one").expose().len(), KEPT_BYTES);
        assert_eq!(MediaKeys::new(key(1), Some(&SecretBytes::new([1; 39]))).previous, []);
    }
}
