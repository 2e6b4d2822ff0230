//! The file in the header of a campaign's template, fetched once for all recipients (X15, R374).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::lock::{Mutex as Turns, OwnedMutexGuard};

use crate::ids::{CampaignId, UploadId};
use crate::uploads::{FileSource, FileWish};

/// The most campaigns whose files are remembered.
const MAX: usize = 1_000;

/// A file that was fetched, and from where.
type Fetched = Option<(String, UploadId)>;

/// The uploads that hold what was fetched for campaigns that name the address of a file. They are
/// kept by the messages that were sent with them; one that is gone is fetched again.
#[derive(Debug, Default)]
pub(super) struct CampaignFiles(Mutex<BTreeMap<CampaignId, Arc<Turns<Fetched>>>>);

/// The turn to fetch the file of a campaign; the other recipients wait until it is dropped.
#[derive(Debug)]
pub(super) struct FetchTurn {
    fetched: OwnedMutexGuard<Fetched>,
    url: String,
}

impl CampaignFiles {
    fn of(&self, campaign: CampaignId) -> Arc<Turns<Fetched>> {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if files.len() >= MAX && !files.contains_key(&campaign) {
            files.clear();
        }
        files.entry(campaign).or_default().clone()
    }

    /// The same wish, of the file that was fetched for an earlier recipient; or the turn to fetch
    /// it.
    pub(super) async fn turn(
        &self,
        campaign: CampaignId,
        wish: FileWish,
    ) -> (FileWish, Option<FetchTurn>) {
        let FileSource::Url(url) = &wish.source else { return (wish, None) };
        let url = url.as_str().to_owned();
        let fetched = self.of(campaign).lock_owned().await;
        match &*fetched {
            Some((known, upload)) if *known == url => {
                (FileWish { source: FileSource::Shared(*upload), ..wish }, None)
            }
            _ => (wish, Some(FetchTurn { fetched, url })),
        }
    }

    /// Forgets a file that is gone.
    pub(super) async fn forget(&self, campaign: CampaignId) {
        *self.of(campaign).lock_owned().await = None;
    }
}

impl FetchTurn {
    /// Remembers the file that was fetched for a message.
    pub(super) fn done(mut self, upload: UploadId) {
        *self.fetched = Some((self.url, upload));
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use uuid::Uuid;

    use super::*;
    use crate::gateway::FileKind;
    use crate::webhooks::WebhookUrl;

    fn wish(url: &str) -> FileWish {
        let url = WebhookUrl::parse(url).expect("an address");
        FileWish::new(FileKind::Image, FileSource::Url(url))
    }

    #[test]
    fn a_file_is_fetched_by_one_recipient_while_the_others_wait() {
        let (files, campaign) = (CampaignFiles::default(), CampaignId::new(Uuid::from_u128(1)));
        let upload = UploadId::new(Uuid::from_u128(2));
        let (one, other) = (wish("https://loja.example/a.png"), wish("https://loja.example/b.png"));
        let now = |wish: &FileWish| files.turn(campaign, wish.clone()).now_or_never();
        let Some((same, Some(turn))) = now(&one) else { panic!("no turn") };
        assert_eq!(same, one);
        assert!(now(&one).is_none(), "it waits");
        turn.done(upload);
        let (known, turn) = now(&one).expect("nobody fetches");
        assert_eq!((known.source, turn.is_none()), (FileSource::Shared(upload), true));
        let Some((same, Some(_))) = now(&other) else { panic!("another address") };
        assert_eq!(same, other);
        files.forget(campaign).now_or_never().expect("nobody fetches");
        assert!(matches!(now(&one), Some((_, Some(_)))), "it is fetched again");
    }

    #[test]
    fn a_turn_that_brought_nothing_goes_to_the_next() {
        let (files, campaign) = (CampaignFiles::default(), CampaignId::new(Uuid::from_u128(1)));
        let wish = wish("https://loja.example/a.png");
        for _ in 0..2 {
            let turn = files.turn(campaign, wish.clone()).now_or_never();
            assert!(matches!(turn, Some((_, Some(_)))));
        }
    }
}
