-- The number of shards, which a new installation may choose. recado_shard_of computes by it, and has it as
-- a number of its own: indexes are restored from backups where functions find no others.
CREATE FUNCTION recado_shards() RETURNS smallint LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT 64::smallint $$;
