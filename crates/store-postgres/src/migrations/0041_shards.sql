-- The shard of a webhook or a campaign: a process looks for pending deliveries and for active campaigns
-- in its own shards. The number is that of the program for the same id, and never changes.
CREATE FUNCTION recado_shard_of(id uuid) RETURNS smallint LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$ SELECT (get_byte(uuid_send(id), 15) % 64)::smallint $$;

CREATE INDEX deliveries_by_shard
ON deliveries (recado_shard_of(webhook_id), company_id, webhook_id, queued_at, seq)
WHERE queued_at IS NOT NULL;
DROP INDEX deliveries_queued;

CREATE INDEX campaigns_running_by_shard ON campaigns (recado_shard_of(id)) WHERE status = 'running';
CREATE INDEX campaigns_scheduled_by_shard ON campaigns (recado_shard_of(id), scheduled_at)
WHERE status = 'scheduled';
DROP INDEX campaigns_running;
DROP INDEX campaigns_scheduled;
