-- Until when a key is accepted, and the hour in which it was last used.
ALTER TABLE api_keys ADD COLUMN expires_at INTEGER;
ALTER TABLE api_keys ADD COLUMN last_used_at INTEGER;

-- Of secrets that are only compared a keyed hash is kept (R222). The functions are this crate's;
-- they hash as the core does. A new database gets its key from the core.
INSERT INTO secrets (name, bytes, version)
SELECT 'hash_key', randomblob(32), 1
WHERE EXISTS (SELECT 1 FROM inbound_endpoints) OR EXISTS (SELECT 1 FROM templates)
    OR EXISTS (SELECT 1 FROM links);
UPDATE inbound_endpoints SET secret =
    endpoint_secret_hash((SELECT bytes FROM secrets WHERE name = 'hash_key'), secret);
UPDATE templates SET token =
    template_token_hash((SELECT bytes FROM secrets WHERE name = 'hash_key'), token);
UPDATE links SET code =
    link_code_hash((SELECT bytes FROM secrets WHERE name = 'hash_key'), code);
ALTER TABLE inbound_endpoints RENAME COLUMN secret TO secret_hash;
ALTER TABLE templates RENAME COLUMN token TO token_hash;
ALTER TABLE links RENAME COLUMN code TO code_hash;
