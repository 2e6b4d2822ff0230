//! Links to received media. They cannot be guessed, and whoever has one can read the file (D31a).

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::ids::{CompanyId, DocumentId, MessageId};
use crate::secret::SecretBytes;

/// The length of the text of a signature of 32 bytes.
const SIGNATURE_CHARS: usize = 43;
/// What a signature is of, so that none is good for something else with the same id.
const OF_MESSAGE: &[u8] = b"recado link to the file of a message";
const OF_DOCUMENT: &[u8] = b"recado media link";

/// Makes and checks links to the files of messages. The key is kept in the store, so that links of
/// every process stay valid in the others and across restarts.
#[derive(Clone, PartialEq, Eq)]
pub struct MediaLinks {
    public_url: String,
    key: SecretBytes,
}

/// What a link with a good signature leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkTarget {
    /// The file of a message, which may still have to be fetched.
    Message(MessageId),
    /// A document. Links named the document before they named the message; those that were given
    /// out go on working.
    Document(DocumentId),
}

impl fmt::Debug for MediaLinks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MediaLinks").field("public_url", &self.public_url).finish_non_exhaustive()
    }
}

impl MediaLinks {
    /// Links that begin with `public_url` (without a slash at its end) and are signed with `key`.
    pub fn new(public_url: impl Into<String>, key: SecretBytes) -> Self {
        Self { public_url: public_url.into(), key }
    }

    /// The link to the file of a message: `{public_url}/media/{company}/{message}/{signature}`. It
    /// is known as soon as the message is, and stays the same (D31a).
    pub fn link(&self, company: CompanyId, message: MessageId) -> String {
        let signature = self.sign(company, LinkTarget::Message(message));
        format!("{}/media/{company}/{message}/{signature}", self.public_url)
    }

    /// What a link leads to that names `id`; `None` when the signature is not the one for it,
    /// compared in constant time.
    pub fn target(&self, company: CompanyId, id: MessageId, signature: &str) -> Option<LinkTarget> {
        if signature.len() != SIGNATURE_CHARS {
            return None;
        }
        let tag = URL_SAFE_NO_PAD.decode(signature).ok()?;
        let targets = [LinkTarget::Message(id), LinkTarget::Document(DocumentId::new(id.uuid()))];
        targets.into_iter().find(|target| self.mac(company, *target).verify_slice(&tag).is_ok())
    }

    fn sign(&self, company: CompanyId, target: LinkTarget) -> String {
        URL_SAFE_NO_PAD.encode(self.mac(company, target).finalize().into_bytes())
    }

    fn mac(&self, company: CompanyId, target: LinkTarget) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.key.expose())
            .expect("HMAC takes keys of any length");
        let (context, id) = match target {
            LinkTarget::Message(message) => (OF_MESSAGE, message.uuid()),
            LinkTarget::Document(document) => (OF_DOCUMENT, document.uuid()),
        };
        mac.update(context);
        mac.update(company.uuid().as_bytes());
        mac.update(id.as_bytes());
        mac
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn links(key: u8) -> MediaLinks {
        MediaLinks::new("https://recado.example", SecretBytes::new([key; 32]))
    }

    fn ids(company: u128, message: u128) -> (CompanyId, MessageId) {
        (CompanyId::new(Uuid::from_u128(company)), MessageId::new(Uuid::from_u128(message)))
    }

    fn signature(link: &str) -> &str {
        link.rsplit('/').next().expect("a link has parts")
    }

    #[test]
    fn a_link_holds_the_message_and_a_signature_that_verifies() {
        let (company, message) = ids(1, 2);
        let link = links(7).link(company, message);
        let start = format!("https://recado.example/media/{company}/{message}/");
        assert!(link.starts_with(&start), "{link}");
        assert_eq!(signature(&link).len(), SIGNATURE_CHARS);
        let target = links(7).target(company, message, signature(&link));
        assert_eq!(target, Some(LinkTarget::Message(message)));
    }

    #[test]
    fn a_link_that_names_a_document_goes_on_working() {
        let (company, id) = ids(1, 2);
        let document = LinkTarget::Document(DocumentId::new(id.uuid()));
        let signature = links(7).sign(company, document);
        assert_eq!(links(7).target(company, id, &signature), Some(document));
        // As the links of the first release were signed.
        assert_eq!(signature, "_jEftfZfXAK6TMTdDMW64vh5QLGc0trNL6-FygQxTOQ");
    }

    #[test]
    fn a_signature_is_good_for_one_message_of_one_company_under_one_key() {
        let (company, message) = ids(1, 2);
        let link = links(7).link(company, message);
        assert_eq!(links(8).target(company, message, signature(&link)), None);
        for (company, message) in [ids(2, 2), ids(1, 1), ids(2, 1)] {
            assert_eq!(links(7).target(company, message, signature(&link)), None);
        }
    }

    #[test]
    fn a_signature_with_any_character_changed_does_not_verify() {
        let (company, message) = ids(1, 2);
        let link = links(7).link(company, message);
        let good = signature(&link);
        for at in 0..good.len() {
            let other = if good.as_bytes()[at] == b'A' { "B" } else { "A" };
            let changed = format!("{}{other}{}", &good[..at], &good[at + 1..]);
            assert_eq!(links(7).target(company, message, &changed), None, "{at}");
        }
        for wrong in ["", "x", &good[1..], &format!("{good}A"), &format!("{good}=")] {
            assert_eq!(links(7).target(company, message, wrong), None);
        }
    }

    #[test]
    fn links_do_not_print_their_key() {
        let printed = format!("{:?}", links(7));
        assert_eq!(printed, "MediaLinks { public_url: \"https://recado.example\", .. }");
    }
}
