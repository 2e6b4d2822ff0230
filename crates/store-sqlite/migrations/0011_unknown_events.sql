-- What was not understood is kept as it came, in place of its kind and shape; and when each
-- connection was last heard. Conventions as in the first migration.
DROP TABLE unknown_kinds;
DELETE FROM sqlite_stat1 WHERE tbl = 'unknown_kinds';

-- The body may be long, so it is the last column, and lies outside the key's tree.
CREATE TABLE unknown_events (
    company_id BLOB NOT NULL,
    id BLOB NOT NULL,
    connection_id BLOB NOT NULL,
    contact_id BLOB,
    kind TEXT NOT NULL,
    reason TEXT NOT NULL,
    form TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    provider_id TEXT,
    version INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, connection_id) REFERENCES connections (company_id, id)
        ON DELETE CASCADE,
    FOREIGN KEY (company_id, contact_id) REFERENCES contacts (company_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX unknown_events_by_company ON unknown_events (company_id, received_at, id);
CREATE INDEX unknown_events_by_connection
    ON unknown_events (company_id, connection_id, received_at, id);
CREATE INDEX unknown_events_by_kind
    ON unknown_events (company_id, connection_id, kind, received_at, id);
CREATE INDEX unknown_events_by_contact ON unknown_events (company_id, contact_id)
    WHERE contact_id IS NOT NULL;
CREATE INDEX unknown_events_by_time ON unknown_events (received_at);

ALTER TABLE connections ADD COLUMN last_heard_at INTEGER;

-- What the planner is to believe, as in the second migration.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('unknown_events', 'sqlite_autoindex_unknown_events_1', '1000000 100000 1'),
    ('unknown_events', 'unknown_events_by_company', '1000000 100000 10 1'),
    ('unknown_events', 'unknown_events_by_connection', '1000000 100000 10000 10 1'),
    ('unknown_events', 'unknown_events_by_kind', '1000000 100000 10000 1000 10 1'),
    ('unknown_events', 'unknown_events_by_contact', '100000 10000 10'),
    ('unknown_events', 'unknown_events_by_time', '1000000 10');
ANALYZE sqlite_schema;
