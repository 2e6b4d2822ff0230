-- What gateways need: connections by their id alone, kinds of events that no adapter knows, templates
-- as providers know them, messages that got no further than sent. Conventions as in the first
-- migration.

-- The call of a gateway names a connection and no company. Not unique: the key has the company.
CREATE INDEX connections_by_id ON connections (id);

ALTER TABLE templates ADD COLUMN provider_id TEXT;
ALTER TABLE templates ADD COLUMN is_complex INTEGER NOT NULL DEFAULT 0;

-- The shape may be long, so it lies outside the key's tree.
CREATE TABLE unknown_kinds (
    company_id BLOB NOT NULL,
    connection_id BLOB NOT NULL,
    kind TEXT NOT NULL,
    shape TEXT NOT NULL,
    seen INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, connection_id, kind),
    FOREIGN KEY (company_id, connection_id) REFERENCES connections (company_id, id)
        ON DELETE CASCADE
) STRICT;
CREATE INDEX unknown_kinds_by_last ON unknown_kinds (last_at);

-- Those that wait for the news of their delivery. A message is in it for a moment only, mostly, and
-- all that is asked of it is there.
CREATE INDEX messages_left_sent ON messages (created_at, company_id, connection_id, contact_id)
    WHERE status = 'sent' AND direction = 'outbound' AND is_history = 0;

-- What still names a contact though it tells nothing of it any more; few, and soon swept.
CREATE INDEX events_erased ON events (company_id, contact_id)
    WHERE contact_id IS NOT NULL AND data IS NULL;

-- What the planner is to believe, as in the second migration.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('unknown_kinds', 'sqlite_autoindex_unknown_kinds_1', '1000000 100000 100 1'),
    ('unknown_kinds', 'unknown_kinds_by_last', '1000000 10'),
    ('events', 'events_erased', '1000000 100000 10');
ANALYZE sqlite_schema;
