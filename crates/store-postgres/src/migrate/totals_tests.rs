//! The migration that makes the counts and sums of campaigns.

use recado_core::Timestamp;
use recado_core::campaigns::{CampaignReads, CampaignTotals, RecipientStatus};
use recado_core::ids::{CampaignId, CompanyId};
use recado_core::store::Upkeep;

use super::tests::{COMPANY, migrated};
use crate::PostgresStore;

/// A campaign with five recipients and two lines of the ledger, and a line of no campaign.
const AT_STEP_39: &str = "\
    INSERT INTO campaigns (company_id, id, name, template_id, list_id, variables, prosas, cost, \
    messages_per_second, status, created_at, updated_at, version) \
    SELECT id, id, 'n', id, id, '', 0, 0, 1, 'paused', 0, 0, 1 FROM companies; \
    INSERT INTO recipients (company_id, campaign_id, number, status, version) \
    SELECT id, id, n, CASE WHEN n < 4 THEN 'waiting' ELSE 'read' END, 1 \
    FROM companies, generate_series(1, 5) n; \
    INSERT INTO ledger_lines (company_id, id, consumption_id, kind, scope, prosas, cost, \
    refunded_prosas, refunded_cost, campaign_id, created_at, version) \
    SELECT id, gen_random_uuid(), id, 'debit', 'message', n, 10 * n, 0, 0, \
    CASE WHEN n < 3 THEN id END, n, 1 FROM companies, generate_series(1, 3) n";

async fn totals(store: &PostgresStore, id: uuid::Uuid) -> CampaignTotals {
    let (company, campaign) = (CompanyId::new(id), CampaignId::new(id));
    store.campaign_totals(company, campaign, None).await.unwrap()
}

/// What is shown: who waits, who has read, and what was spent.
fn shown(totals: &CampaignTotals) -> (u64, u64, i64, i64) {
    (
        totals.counts.of(RecipientStatus::Waiting),
        totals.counts.of(RecipientStatus::Read),
        totals.consumption.prosas.units(),
        totals.consumption.cost_brl.units(),
    )
}

/// R448: what was there before is counted, and what came since, folded or not.
#[tokio::test(flavor = "multi_thread")]
async fn the_recipients_and_lines_of_campaigns_of_an_older_database_are_counted() {
    let (_database, store) = migrated(39, &[COMPANY, AT_STEP_39]).await;
    let client = store.pool.get().await.unwrap();
    let id = client.query_one("SELECT id FROM companies", &[]).await.unwrap().get(0);
    assert_eq!(shown(&totals(&store, id).await), (3, 2, 3, 30));
    for (change, wanted) in [
        ("UPDATE recipients SET status = 'read', version = 2 WHERE number < 3", (1, 4, 3, 30)),
        ("UPDATE recipients SET message_id = gen_random_uuid()", (1, 4, 3, 30)),
        ("DELETE FROM recipients WHERE number = 5", (1, 3, 3, 30)),
        ("UPDATE ledger_lines SET refunded_prosas = 1", (1, 3, 3, 30)),
        ("UPDATE ledger_lines SET campaign_id = company_id", (1, 3, 6, 60)),
        ("UPDATE ledger_lines SET prosas = 7 WHERE prosas = 2", (1, 3, 11, 60)),
        ("DELETE FROM ledger_lines WHERE prosas = 7", (1, 3, 4, 40)),
    ] {
        client.batch_execute(change).await.unwrap();
        assert_eq!(shown(&totals(&store, id).await), wanted, "{change}");
    }
    let differences = "SELECT (SELECT count(*) FROM recipient_count_deltas) \
                       + (SELECT count(*) FROM campaign_sum_deltas)";
    let left: i64 = client.query_one(differences, &[]).await.unwrap().get(0);
    // One for each status and statement, two for a line that changes and one for any other.
    assert_eq!(left, 3 + 1 + 2 + 1);
    store.upkeep(Timestamp::from_millis(0)).await.unwrap();
    let left: i64 = client.query_one(differences, &[]).await.unwrap().get(0);
    assert_eq!(left, 0);
    assert_eq!(shown(&totals(&store, id).await), (1, 3, 4, 40));
    client.batch_execute("DELETE FROM campaigns").await.unwrap();
    assert_eq!(shown(&totals(&store, id).await), (0, 0, 4, 40));
}
