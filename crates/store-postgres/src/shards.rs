//! How many shards the installation has (R464). Two functions of the database say it: one has the
//! number, the other one computes shards by it and is in indexes.

use recado_core::deliveries::Shards;
use recado_core::store::StoreError;
use tokio_postgres::Client;

use crate::PostgresStore;
use crate::error::failed;
use crate::migrate::MigrateError;
use crate::param::params;
use crate::session::rows;

const COUNT: &str = "SELECT recado_shards()";

/// Whether shards may have been computed: a company may have webhooks and campaigns, and processes
/// claim shards.
const IN_USE: &str = "SELECT EXISTS (SELECT FROM companies) OR EXISTS (SELECT FROM workers) \
                      OR EXISTS (SELECT FROM shards)";

impl PostgresStore {
    /// The number, which is read once.
    pub(crate) async fn known_shards(&self) -> Result<Shards, StoreError> {
        let read = async || {
            let found = rows(&self.pool, COUNT, params![]).await?;
            let count = found.first().map(|row| row.get::<_, i16>(0));
            count.and_then(shards).ok_or_else(|| StoreError::corrupt("no number of shards"))
        };
        self.shards.get_or_try_init(read).await.copied()
    }
}

fn shards(count: i16) -> Option<Shards> {
    u16::try_from(count).ok().and_then(Shards::new)
}

/// The number that the database has.
async fn count(client: &Client) -> Result<Shards, StoreError> {
    let count = client.query_one(COUNT, &[]).await.map_err(failed)?.get(0);
    shards(count).ok_or_else(|| StoreError::corrupt("no number of shards"))
}

/// Gives the installation this number of shards. `client` is in no transaction, and is dropped if
/// this fails.
///
/// # Errors
///
/// [`MigrateError::Shards`] if it has another number and is in use.
pub(crate) async fn choose(client: &Client, wanted: Shards) -> Result<(), MigrateError> {
    if count(client).await? == wanted {
        return Ok(());
    }
    let locked = "BEGIN; LOCK TABLE companies, workers, shards IN SHARE ROW EXCLUSIVE MODE";
    client.batch_execute(locked).await.map_err(failed)?;
    let has = count(client).await?;
    let in_use = client.query_one(IN_USE, &[]).await.map_err(failed)?.get(0);
    if has != wanted && in_use {
        return Err(MigrateError::Shards { has: has.count(), wanted: wanted.count() });
    }
    let script = if has == wanted { "COMMIT".to_owned() } else { replacing(wanted.count()) };
    Ok(client.batch_execute(&script).await.map_err(failed)?)
}

/// Replaces both functions, and ends the transaction. No row is in an index that was computed
/// otherwise.
fn replacing(count: u16) -> String {
    format!(
        "CREATE OR REPLACE FUNCTION recado_shards() RETURNS smallint LANGUAGE sql IMMUTABLE \
         PARALLEL SAFE AS $$ SELECT {count}::smallint $$; \
         CREATE OR REPLACE FUNCTION recado_shard_of(id uuid) RETURNS smallint LANGUAGE sql \
         IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ((get_byte(uuid_send(id), 14) * 256 \
         + get_byte(uuid_send(id), 15)) % {count})::smallint $$; COMMIT"
    )
}

#[cfg(test)]
mod tests {
    use recado_core::deliveries::DeliveryReads;
    use recado_core::ids::{CampaignId, WebhookId};
    use recado_testkit::postgres::TestPostgres;
    use uuid::Uuid;

    use super::*;
    use crate::Options;

    /// Ids with all values of their last two bytes that make a difference, and others.
    fn ids() -> Vec<Uuid> {
        let of = |n: u16| Uuid::from_u128(u128::from(n) * 0x0001_0001_0000_0000_0000_0001_0001);
        (0..=1_100).chain([4_095, 65_535]).map(of).collect()
    }

    /// R67, R98, R464.
    #[tokio::test(flavor = "multi_thread")]
    async fn the_database_has_each_id_in_the_shard_that_the_program_has_it_in() {
        for count in [64, 128, 256, 512, 1_024] {
            let database = TestPostgres::shared().fresh_database();
            let store = PostgresStore::connect(database.url(), Options::default()).await.unwrap();
            store.migrate_into(Shards::new(count).unwrap()).await.unwrap();
            let shards = store.shards().await.unwrap();
            assert_eq!(shards.count(), count);
            let sql = "SELECT recado_shard_of(id) FROM unnest($1::uuid[]) \
                       WITH ORDINALITY AS u (id, n) ORDER BY n";
            let found = rows(&store.pool, sql, params![ids()]).await.unwrap();
            let found: Vec<u16> =
                found.iter().map(|row| row.get::<_, i16>(0).try_into().unwrap()).collect();
            assert_eq!(found.len(), ids().len());
            for (id, found) in ids().into_iter().zip(found) {
                assert_eq!(found, shards.of_webhook(WebhookId::new(id)).number());
                assert_eq!(found, shards.of_campaign(CampaignId::new(id)).number());
            }
        }
    }

    /// R464.
    #[tokio::test(flavor = "multi_thread")]
    async fn the_number_is_chosen_before_the_database_is_in_use() {
        let database = TestPostgres::shared().fresh_database();
        let store = PostgresStore::connect(database.url(), Options::default()).await.unwrap();
        let of = |count| Shards::new(count).unwrap();
        store.migrate().await.unwrap();
        store.migrate_into(of(256)).await.unwrap();
        store.migrate_into(of(128)).await.unwrap();
        let workers = "INSERT INTO workers (id, leased_until, dispatches, version) \
                       VALUES (gen_random_uuid(), 0, true, 1)";
        rows(&store.pool, workers, params![]).await.unwrap();
        store.migrate_into(of(128)).await.unwrap();
        store.migrate().await.unwrap();
        let refused = store.migrate_into(of(256)).await.unwrap_err();
        assert!(matches!(refused, MigrateError::Shards { has: 128, wanted: 256 }), "{refused}");
        assert_eq!(store.shards().await.unwrap().count(), 128);
    }
}
