-- Until when a key is accepted, and the hour in which it was last used.
ALTER TABLE api_keys ADD COLUMN expires_at bigint;
ALTER TABLE api_keys ADD COLUMN last_used_at bigint;
