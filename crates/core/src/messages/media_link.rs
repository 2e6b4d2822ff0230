//! Links to received media. They cannot be guessed, and whoever has one can read the file (D31a).

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::ids::{CompanyId, DocumentId};
use crate::secret::SecretBytes;

/// The length of the text of a signature of 32 bytes.
const SIGNATURE_CHARS: usize = 43;

/// Makes and checks links to documents. The key is kept in the store, so that links of every
/// process stay valid in the others and across restarts.
#[derive(Clone, PartialEq, Eq)]
pub struct MediaLinks {
    public_url: String,
    key: SecretBytes,
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

    /// The link to a document: `{public_url}/media/{company}/{document}/{signature}`.
    pub fn link(&self, company: CompanyId, document: DocumentId) -> String {
        let tag = self.mac(company, document).finalize().into_bytes();
        let signature = URL_SAFE_NO_PAD.encode(tag);
        format!("{}/media/{company}/{document}/{signature}", self.public_url)
    }

    /// Whether a signature is the one for this document, compared in constant time.
    pub fn verifies(&self, company: CompanyId, document: DocumentId, signature: &str) -> bool {
        if signature.len() != SIGNATURE_CHARS {
            return false;
        }
        let Ok(tag) = URL_SAFE_NO_PAD.decode(signature) else { return false };
        self.mac(company, document).verify_slice(&tag).is_ok()
    }

    fn mac(&self, company: CompanyId, document: DocumentId) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.key.expose())
            .expect("HMAC takes keys of any length");
        mac.update(b"recado media link");
        mac.update(company.uuid().as_bytes());
        mac.update(document.uuid().as_bytes());
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

    fn ids(company: u128, document: u128) -> (CompanyId, DocumentId) {
        (CompanyId::new(Uuid::from_u128(company)), DocumentId::new(Uuid::from_u128(document)))
    }

    fn signature(link: &str) -> &str {
        link.rsplit('/').next().expect("a link has parts")
    }

    #[test]
    fn a_link_holds_the_document_and_a_signature_that_verifies() {
        let (company, document) = ids(1, 2);
        let link = links(7).link(company, document);
        let start = format!("https://recado.example/media/{company}/{document}/");
        assert!(link.starts_with(&start), "{link}");
        assert_eq!(signature(&link).len(), SIGNATURE_CHARS);
        assert!(links(7).verifies(company, document, signature(&link)));
    }

    #[test]
    fn a_signature_is_good_for_one_document_of_one_company_under_one_key() {
        let (company, document) = ids(1, 2);
        let link = links(7).link(company, document);
        assert!(!links(8).verifies(company, document, signature(&link)));
        for (company, document) in [ids(2, 2), ids(1, 1), ids(2, 1)] {
            assert!(!links(7).verifies(company, document, signature(&link)));
        }
    }

    #[test]
    fn a_signature_with_any_character_changed_does_not_verify() {
        let (company, document) = ids(1, 2);
        let link = links(7).link(company, document);
        let good = signature(&link);
        for at in 0..good.len() {
            let other = if good.as_bytes()[at] == b'A' { "B" } else { "A" };
            let changed = format!("{}{other}{}", &good[..at], &good[at + 1..]);
            assert!(!links(7).verifies(company, document, &changed), "{at}");
        }
        for wrong in ["", "x", &good[1..], &format!("{good}A"), &format!("{good}=")] {
            assert!(!links(7).verifies(company, document, wrong));
        }
    }

    #[test]
    fn links_do_not_print_their_key() {
        let printed = format!("{:?}", links(7));
        assert_eq!(printed, "MediaLinks { public_url: \"https://recado.example\", .. }");
    }
}
