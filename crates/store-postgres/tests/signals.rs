//! Words between two processes on one database.

mod support;

use std::pin::pin;
use std::time::Duration;

use recado_core::deliveries::{Lane, Signals};
use recado_core::ids::{CompanyId, WebhookId};
use recado_store_postgres::PostgresStore;
use support::Database;
use uuid::Uuid;

fn lane(n: u128) -> Lane {
    Lane {
        company: CompanyId::new(Uuid::from_u128(n)),
        webhook: WebhookId::new(Uuid::from_u128(n << 64)),
    }
}

/// What the listener hears of a word. Words from before it listens are lost, as they may be: the
/// word is said until it is heard.
async fn heard(
    speaker: &PostgresStore,
    listener: &PostgresStore,
    word: &[Lane],
) -> Option<Vec<Lane>> {
    let mut hearing = pin!(listener.rung());
    for _ in 0..300 {
        speaker.ring(word);
        if let Ok(heard) = tokio::time::timeout(Duration::from_millis(50), &mut hearing).await {
            return heard;
        }
    }
    panic!("nothing was heard");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_process_hears_whose_queues_have_something_new() {
    let database = Database::fresh().await;
    let other = database.another_process().await;
    let lanes = [lane(1), lane(2)];
    assert_eq!(heard(&database.store, &other, &lanes).await, Some(lanes.to_vec()));
    let many: Vec<Lane> = (1..=300).map(lane).collect();
    assert_eq!(heard(&database.store, &other, &[]).await, None);
    // More than fit into a word, whatever of the last ones is still on its way.
    while heard(&database.store, &other, &many).await.is_some() {}
}
