//! The file in the header of a campaign's template, fetched once for all recipients (X15).

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::ids::{CampaignId, UploadId};
use crate::uploads::{FileSource, FileWish};

/// The most campaigns whose files are remembered.
const MAX: usize = 1_000;

/// The uploads that hold what was fetched for campaigns that name the address of a file. They are
/// kept by the messages that were sent with them; one that is gone is fetched again.
#[derive(Debug, Default)]
pub(super) struct CampaignFiles(Mutex<BTreeMap<CampaignId, (String, UploadId)>>);

impl CampaignFiles {
    /// The same wish, of the file that was fetched for an earlier recipient.
    pub(super) fn known(&self, campaign: CampaignId, wish: FileWish) -> FileWish {
        let FileSource::Url(url) = &wish.source else { return wish };
        let files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match files.get(&campaign) {
            Some((known, upload)) if known == url.as_str() => {
                FileWish { source: FileSource::Received(*upload), ..wish }
            }
            _ => wish,
        }
    }

    /// Remembers the file that was fetched for a message.
    pub(super) fn fetched(&self, campaign: CampaignId, url: &str, upload: UploadId) {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if files.len() >= MAX && !files.contains_key(&campaign) {
            files.clear();
        }
        files.insert(campaign, (url.to_owned(), upload));
    }

    /// Forgets a file that is gone; false if none was known.
    pub(super) fn forget(&self, campaign: CampaignId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&campaign).is_some()
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::gateway::FileKind;
    use crate::webhooks::WebhookUrl;

    #[test]
    fn a_file_is_fetched_once_for_each_address() {
        let (files, campaign) = (CampaignFiles::default(), CampaignId::new(Uuid::from_u128(1)));
        let upload = UploadId::new(Uuid::from_u128(2));
        let wish = |url: &str| {
            let url = WebhookUrl::parse(url).expect("an address");
            FileWish::new(FileKind::Image, FileSource::Url(url))
        };
        let (one, other) = (wish("https://loja.example/a.png"), wish("https://loja.example/b.png"));
        assert_eq!(files.known(campaign, one.clone()), one);
        files.fetched(campaign, "https://loja.example/a.png", upload);
        assert_eq!(files.known(campaign, one.clone()).source, FileSource::Received(upload));
        assert_eq!(files.known(campaign, other.clone()), other);
        assert!(files.forget(campaign) && !files.forget(campaign));
        assert_eq!(files.known(campaign, one.clone()), one);
    }
}
