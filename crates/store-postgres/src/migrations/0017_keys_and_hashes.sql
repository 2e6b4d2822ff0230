-- Until when a key is accepted, and the hour in which it was last used.
ALTER TABLE api_keys ADD COLUMN expires_at bigint;
ALTER TABLE api_keys ADD COLUMN last_used_at bigint;

-- Of secrets that are only compared a keyed hash is kept (R222). A new database gets its key from
-- the core.
INSERT INTO secrets (name, bytes, version)
SELECT 'hash_key', sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
    || uuid_send(gen_random_uuid())), 1
WHERE EXISTS (SELECT FROM inbound_endpoints) OR EXISTS (SELECT FROM templates)
    OR EXISTS (SELECT FROM links);

-- HMAC-SHA-256 of the label, a colon and the secret, as the core makes it: the key, of 32 bytes, is
-- filled up with zeros to a block and combined with the two constants of RFC 2104.
CREATE TEMPORARY TABLE recado_pads ON COMMIT DROP AS
SELECT string_agg(set_byte('\x00', 0, byte # 54), '' ORDER BY at) AS inside,
    string_agg(set_byte('\x00', 0, byte # 92), '' ORDER BY at) AS outside
FROM (
    SELECT at, CASE WHEN at < 32 THEN get_byte(bytes, at) ELSE 0 END AS byte
    FROM secrets, generate_series(0, 63) AS at
    WHERE name = 'hash_key'
) AS key;
CREATE FUNCTION pg_temp.recado_hash(label text, secret bytea) RETURNS bytea LANGUAGE sql STABLE AS $$
    SELECT sha256(outside || sha256(inside || convert_to(label || ':', 'UTF8') || secret))
    FROM recado_pads
$$;
CREATE FUNCTION pg_temp.recado_hash_text(label text, secret text) RETURNS text LANGUAGE sql STABLE
AS $$
    SELECT translate(
        encode(pg_temp.recado_hash(label, convert_to(secret, 'UTF8')), 'base64'), '+/=', '-_')
$$;
-- Changing the type writes the tables anew, so that no dead row has the text.
ALTER TABLE inbound_endpoints ALTER COLUMN secret TYPE text
    USING pg_temp.recado_hash_text('endpoint secret', secret);
ALTER TABLE templates ALTER COLUMN token TYPE bytea
    USING pg_temp.recado_hash('template token', uuid_send(token));
ALTER TABLE links ALTER COLUMN code TYPE text COLLATE "C"
    USING pg_temp.recado_hash_text('link code', code);
DROP FUNCTION pg_temp.recado_hash_text(text, text);
DROP FUNCTION pg_temp.recado_hash(text, bytea);
ALTER TABLE inbound_endpoints RENAME COLUMN secret TO secret_hash;
ALTER TABLE templates RENAME COLUMN token TO token_hash;
ALTER TABLE links RENAME COLUMN code TO code_hash;
