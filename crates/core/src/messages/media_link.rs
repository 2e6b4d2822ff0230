//! Links to received media. They cannot be guessed, and whoever has one can read the file until the
//! link ends (D31a, R193).

use std::fmt;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use uuid::Uuid;

use crate::Timestamp;
use crate::ids::{CompanyId, DocumentId, MessageId, UploadId};
use crate::secret::SecretBytes;

/// The length of the text of a signature of 32 bytes.
const SIGNATURE_CHARS: usize = 43;
/// What a signature is of, so that none is good for something else with the same id.
const OF_MESSAGE_UNTIL: &[u8] = b"recado link with an end to the file of a message";
const OF_MESSAGE: &[u8] = b"recado link to the file of a message";
const OF_DOCUMENT: &[u8] = b"recado media link";
const OF_UPLOAD_UNTIL: &[u8] = b"recado link with an end to an upload";
/// Links end with a day of UTC, so that those that are made on one day are alike (R193).
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Makes links to the files of messages, all with one end.
#[derive(Clone, PartialEq, Eq)]
pub struct MediaLinks {
    public_url: String,
    key: SecretBytes,
    end: LinkEnd,
}

/// When a link ends: it is good before it, in seconds since the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LinkEnd(u64);

/// What a link with a good signature leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkTarget {
    /// The file of a message, which may still have to be fetched.
    Message(MessageId),
    /// A document. Links named the document before they named the message.
    Document(DocumentId),
    /// An upload (X11).
    Upload(UploadId),
}

/// The last part of a link, as it was presented.
pub(crate) struct Presented {
    /// Its end; links of earlier releases have none.
    end: Option<LinkEnd>,
    tag: Vec<u8>,
}

impl fmt::Debug for MediaLinks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MediaLinks").field("public_url", &self.public_url).finish_non_exhaustive()
    }
}

impl LinkEnd {
    /// The end of links that are made `now` and are good for `lifetime`: the end of a day (R193).
    pub(crate) fn after(now: Timestamp, lifetime: Duration) -> Self {
        let seconds = now.plus(lifetime).since(Timestamp::from_millis(0)).as_secs();
        Self((seconds / DAY.as_secs() + 1) * DAY.as_secs())
    }

    /// An end as it is kept.
    pub(crate) const fn from_bytes(bytes: [u8; 8]) -> Self {
        Self(u64::from_be_bytes(bytes))
    }

    pub(crate) const fn to_bytes(self) -> [u8; 8] {
        self.0.to_be_bytes()
    }

    /// Whether it is still to come.
    pub(crate) fn is_after(self, now: Timestamp) -> bool {
        now.since(Timestamp::from_millis(0)) < Duration::from_secs(self.0)
    }

    /// The moment.
    pub(crate) fn moment(self) -> Timestamp {
        Timestamp::from_millis(0).plus(Duration::from_secs(self.0))
    }

    /// Reads it as links write it, in one way only.
    fn parse(text: &str) -> Option<Self> {
        let end = text.parse::<u64>().ok()?;
        (end.to_string() == text).then_some(Self(end))
    }
}

impl Presented {
    /// Reads `{end}.{signature}`, or `{signature}` of a link of an earlier release.
    fn parse(text: &str) -> Option<Self> {
        let (end, signature) = match text.split_once('.') {
            Some((end, signature)) => (Some(LinkEnd::parse(end)?), signature),
            None => (None, text),
        };
        if signature.len() != SIGNATURE_CHARS {
            return None;
        }
        Some(Self { end, tag: URL_SAFE_NO_PAD.decode(signature).ok()? })
    }

    /// What it leads to if `key` signed it for `id`, compared in constant time.
    fn target(&self, key: &SecretBytes, company: CompanyId, id: MessageId) -> Option<LinkTarget> {
        let message = LinkTarget::Message(id);
        // Links to documents never had an end, and those to uploads always do.
        let known = match self.end {
            Some(_) => [message, LinkTarget::Upload(UploadId::new(id.uuid()))],
            None => [message, LinkTarget::Document(DocumentId::new(id.uuid()))],
        };
        let signed = |target: &&LinkTarget| {
            mac(key, company, **target, self.end).verify_slice(&self.tag).is_ok()
        };
        known.iter().find(signed).copied()
    }
}

/// What the last part of a link, `presented`, leads to `now` if `key` signed it for `id`; `None`
/// once it has ended (R193). Links of earlier releases have no end of their own.
pub(crate) fn target(
    key: &SecretBytes,
    company: CompanyId,
    id: MessageId,
    presented: &str,
    now: Timestamp,
) -> Option<LinkTarget> {
    let presented = Presented::parse(presented)?;
    let target = presented.target(key, company, id)?;
    presented.end.is_none_or(|end| end.is_after(now)).then_some(target)
}

impl MediaLinks {
    /// Links that begin with `public_url` (without a slash at its end), are signed with `key`, are
    /// made `now` and are good for at least `lifetime`.
    pub fn new(
        public_url: impl Into<String>,
        key: SecretBytes,
        now: Timestamp,
        lifetime: Duration,
    ) -> Self {
        Self { public_url: public_url.into(), key, end: LinkEnd::after(now, lifetime) }
    }

    /// The link to the file of a message:
    /// `{public_url}/media/{company}/{message}/{end}.{signature}` (R193). It is known as soon as
    /// the message is (D31a).
    pub fn link(&self, company: CompanyId, message: MessageId) -> String {
        self.signed(company, LinkTarget::Message(message), message.uuid())
    }

    /// The link to an upload, in the same form (X11).
    pub fn link_to_upload(&self, company: CompanyId, upload: UploadId) -> String {
        self.signed(company, LinkTarget::Upload(upload), upload.uuid())
    }

    fn signed(&self, company: CompanyId, target: LinkTarget, id: Uuid) -> String {
        let mac = mac(&self.key, company, target, Some(self.end));
        let signature = URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes());
        let end = self.end.0;
        format!("{}/media/{company}/{id}/{end}.{signature}", self.public_url)
    }
}

fn mac(
    key: &SecretBytes,
    company: CompanyId,
    target: LinkTarget,
    end: Option<LinkEnd>,
) -> Hmac<Sha256> {
    let mut mac =
        Hmac::<Sha256>::new_from_slice(key.expose()).expect("HMAC takes keys of any length");
    let (context, id) = match (target, end) {
        (LinkTarget::Message(message), Some(_)) => (OF_MESSAGE_UNTIL, message.uuid()),
        (LinkTarget::Message(message), None) => (OF_MESSAGE, message.uuid()),
        (LinkTarget::Document(document), _) => (OF_DOCUMENT, document.uuid()),
        (LinkTarget::Upload(upload), _) => (OF_UPLOAD_UNTIL, upload.uuid()),
    };
    mac.update(context);
    mac.update(company.uuid().as_bytes());
    mac.update(id.as_bytes());
    if let Some(end) = end {
        mac.update(&end.to_bytes());
    }
    mac
}

#[cfg(test)]
mod tests {
    use super::*;

    /// X11.
    #[test]
    fn a_link_to_an_upload_is_no_link_to_a_message() {
        let (company, message) = ids(1, 2);
        let upload = UploadId::new(message.uuid());
        let links = MediaLinks::new("https://recado.example", key(7), NOW, LIFETIME);
        let to_upload = links.link_to_upload(company, upload);
        let read = |link: &str| target(&key(7), company, message, last(link), NOW);
        assert_eq!(read(&to_upload), Some(LinkTarget::Upload(upload)));
        assert_eq!(read(&links.link(company, message)), Some(LinkTarget::Message(message)));
        let other = ids(3, 2).0;
        assert_eq!(target(&key(7), other, message, last(&to_upload), NOW), None);
    }

    /// 2025-11-13T02:13:20Z.
    const NOW: Timestamp = Timestamp::from_millis(1_763_000_000_000);
    const LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);

    fn key(key: u8) -> SecretBytes {
        SecretBytes::new([key; 32])
    }

    fn link(by: u8, company: CompanyId, message: MessageId) -> String {
        MediaLinks::new("https://recado.example", key(by), NOW, LIFETIME).link(company, message)
    }

    fn ids(company: u128, message: u128) -> (CompanyId, MessageId) {
        (CompanyId::new(Uuid::from_u128(company)), MessageId::new(Uuid::from_u128(message)))
    }

    fn last(link: &str) -> &str {
        link.rsplit('/').next().expect("a link has parts")
    }

    fn leads(by: u8, (company, id): (CompanyId, MessageId), last: &str) -> Option<LinkTarget> {
        target(&key(by), company, id, last, NOW)
    }

    /// R193.
    #[test]
    fn a_link_holds_the_message_its_end_and_a_signature_that_verifies() {
        let (company, message) = ids(1, 2);
        let link = link(7, company, message);
        let start = format!("https://recado.example/media/{company}/{message}/1765670400.");
        assert!(link.starts_with(&start), "{link}");
        assert_eq!(link.len(), start.len() + SIGNATURE_CHARS);
        let target = leads(7, (company, message), last(&link));
        assert_eq!(target, Some(LinkTarget::Message(message)));
    }

    /// R193.
    #[test]
    fn a_link_is_good_for_its_lifetime_until_the_day_is_over_and_no_longer() {
        let (company, message) = ids(1, 2);
        let link = link(7, company, message);
        let end = LinkEnd::after(NOW, LIFETIME).moment();
        assert_eq!(end.to_string(), "2025-12-14T00:00:00.000Z");
        let at = |now| target(&key(7), company, message, last(&link), now);
        for good in [NOW, NOW.plus(LIFETIME), end.minus(Duration::from_millis(1))] {
            assert!(at(good).is_some(), "{good}");
        }
        for over in [end, end.plus(LIFETIME)] {
            assert_eq!(at(over), None, "{over}");
        }
    }

    /// R193.
    #[test]
    fn links_of_one_day_are_alike_and_never_shorter_lived_than_promised() {
        let day = DAY.as_secs();
        for (second, ends) in [(0, 2), (1, 2), (day - 1, 2), (day, 3), (day + 1, 3)] {
            let now = Timestamp::from_millis(0).plus(Duration::from_secs(second));
            assert_eq!(LinkEnd::after(now, DAY), LinkEnd(ends * day), "{second}");
        }
        let far = LinkEnd::after(Timestamp::MAX, Duration::MAX);
        assert!(far.is_after(Timestamp::from_millis(0)));
    }

    /// R193.
    #[test]
    fn an_end_cannot_be_changed_or_left_out() {
        let (company, message) = ids(1, 2);
        let link = link(7, company, message);
        let (end, signature) = last(&link).split_once('.').expect("an end");
        let later = end.parse::<u64>().expect("a number") + DAY.as_secs();
        let changed = [
            format!("{later}.{signature}"),
            format!("0{end}.{signature}"),
            format!("+{end}.{signature}"),
            format!(".{signature}"),
            format!("{end}.{end}.{signature}"),
            signature.to_owned(),
        ];
        for changed in changed {
            assert_eq!(leads(7, (company, message), &changed), None, "{changed}");
        }
    }

    /// R193.
    #[test]
    fn links_of_earlier_releases_go_on_working() {
        let (company, id) = ids(1, 2);
        let document = LinkTarget::Document(DocumentId::new(id.uuid()));
        // As the links of the first release were signed, and those of the second.
        let first = "_jEftfZfXAK6TMTdDMW64vh5QLGc0trNL6-FygQxTOQ";
        assert_eq!(leads(7, (company, id), first), Some(document));
        let message = LinkTarget::Message(id);
        let mac = mac(&key(7), company, message, None).finalize().into_bytes();
        let second = URL_SAFE_NO_PAD.encode(mac);
        assert_eq!(leads(7, (company, id), &second), Some(message));
        for earlier in [first, &second] {
            assert_eq!(leads(8, (company, id), earlier), None);
            assert_eq!(leads(7, (company, id), &format!("1765670400.{earlier}")), None);
        }
    }

    #[test]
    fn a_signature_is_good_for_one_message_of_one_company_under_one_key() {
        let (company, message) = ids(1, 2);
        let link = link(7, company, message);
        assert_eq!(leads(8, (company, message), last(&link)), None);
        for other in [ids(2, 2), ids(1, 1), ids(2, 1)] {
            assert_eq!(leads(7, other, last(&link)), None);
        }
    }

    #[test]
    fn a_link_with_any_character_changed_does_not_verify() {
        let (company, message) = ids(1, 2);
        let link = link(7, company, message);
        let good = last(&link);
        for at in 0..good.len() {
            let other = if good.as_bytes()[at] == b'A' { "B" } else { "A" };
            let changed = format!("{}{other}{}", &good[..at], &good[at + 1..]);
            assert_eq!(leads(7, (company, message), &changed), None, "{at}");
        }
        for wrong in ["", "x", ".", &good[1..], &format!("{good}A"), &format!("{good}=")] {
            assert_eq!(leads(7, (company, message), wrong), None);
        }
    }

    #[test]
    fn links_do_not_print_their_key() {
        let links = MediaLinks::new("https://recado.example", key(7), NOW, LIFETIME);
        let printed = format!("{links:?}");
        assert_eq!(printed, "MediaLinks { public_url: \"https://recado.example\", .. }");
    }
}
