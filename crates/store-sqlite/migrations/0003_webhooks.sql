-- Webhooks, their deliveries, and events that outlive what they told. Conventions as in the first
-- migration.

CREATE TABLE webhooks (
    company_id BLOB NOT NULL REFERENCES companies (id),
    id BLOB NOT NULL,
    url TEXT NOT NULL,
    topics TEXT NOT NULL,
    state TEXT NOT NULL,
    standard_headers INTEGER NOT NULL,
    secret TEXT NOT NULL,
    previous_secret TEXT,
    previous_until INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, id),
    CHECK ((previous_secret IS NULL) = (previous_until IS NULL))
) STRICT;
-- Deleted webhooks stay for their deliveries; listings do not meet them.
CREATE INDEX webhooks_kept ON webhooks (company_id, created_at, id) WHERE state <> 'deleted';

-- Where the events of a company go; there is no row before its first webhook.
CREATE TABLE routes (
    company_id BLOB NOT NULL PRIMARY KEY REFERENCES companies (id),
    fires INTEGER NOT NULL,
    routes TEXT NOT NULL,
    version INTEGER NOT NULL
) STRICT;

-- Which worker dispatches which share of the webhooks.
CREATE TABLE shards (
    number INTEGER PRIMARY KEY,
    owner BLOB,
    version INTEGER NOT NULL
) STRICT;
ALTER TABLE workers ADD COLUMN dispatches INTEGER NOT NULL DEFAULT 0;

-- In the order of commits; a `seq` is never used again. There are no references: webhooks are never
-- removed, and events are swept only when no delivery names them. `queued_at` is null exactly when a
-- delivery is settled.
CREATE TABLE deliveries (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id BLOB NOT NULL,
    id BLOB NOT NULL,
    webhook_id BLOB NOT NULL,
    event_id BLOB NOT NULL,
    event_type TEXT NOT NULL,
    status TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    tries INTEGER NOT NULL,
    due_at INTEGER,
    queued_at INTEGER,
    created_at INTEGER NOT NULL,
    delivered_at INTEGER,
    log TEXT NOT NULL,
    version INTEGER NOT NULL,
    UNIQUE (company_id, id),
    CHECK ((queued_at IS NOT NULL) = (status = 'pending'))
) STRICT;
-- The queues; goes on with `seq`.
CREATE INDEX deliveries_pending ON deliveries (company_id, webhook_id, queued_at)
    WHERE queued_at IS NOT NULL;
-- The listings.
CREATE INDEX deliveries_listed
    ON deliveries (company_id, webhook_id, status, event_type, created_at, id);
-- Whether an event is still needed.
CREATE INDEX deliveries_by_event ON deliveries (company_id, event_id);
-- What may be swept.
CREATE INDEX deliveries_settled ON deliveries (created_at) WHERE queued_at IS NULL;

-- The outbox anew: the data of an event can be erased, and a `seq` is never used again, so that a
-- position in the journal keeps its meaning when everything before it was swept.
ALTER TABLE events RENAME TO events_before;
CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id BLOB NOT NULL,
    id BLOB NOT NULL,
    event_type TEXT NOT NULL,
    contact_id BLOB,
    at INTEGER NOT NULL,
    data TEXT,
    UNIQUE (company_id, id)
) STRICT;
INSERT INTO events (seq, company_id, id, event_type, contact_id, at, data)
    SELECT seq, company_id, id, event_type, contact_id, at, data FROM events_before ORDER BY seq;
DROP TABLE events_before;
-- The journal; goes on with `seq`.
CREATE INDEX events_by_type ON events (company_id, event_type);
-- What still tells of a contact.
CREATE INDEX events_about_contact ON events (company_id, contact_id)
    WHERE contact_id IS NOT NULL AND data IS NOT NULL;
CREATE INDEX events_by_time ON events (at);

-- What the planner is to believe, as in the migration before.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('webhooks', 'sqlite_autoindex_webhooks_1', '1000000 100000 1'),
    ('webhooks', 'webhooks_kept', '1000000 100 1 1'),
    ('deliveries', 'sqlite_autoindex_deliveries_1', '1000000 100000 1'),
    ('deliveries', 'deliveries_pending', '1000000 100000 10000 10'),
    ('deliveries', 'deliveries_listed', '1000000 100000 10000 5000 2000 2 1'),
    ('deliveries', 'deliveries_by_event', '1000000 100000 4'),
    ('deliveries', 'deliveries_settled', '1000000 10'),
    ('events', 'sqlite_autoindex_events_1', '1000000 100000 1'),
    ('events', 'events_by_type', '1000000 100000 50000'),
    ('events', 'events_about_contact', '1000000 100000 10'),
    ('events', 'events_by_time', '1000000 10');
ANALYZE sqlite_schema;
