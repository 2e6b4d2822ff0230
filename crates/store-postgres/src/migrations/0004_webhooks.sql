-- Webhooks stay when they are deleted, for the deliveries that name them.
CREATE TABLE webhooks (
    company_id uuid NOT NULL REFERENCES companies,
    id uuid NOT NULL,
    url text NOT NULL,
    -- JSON.
    topics text NOT NULL,
    state text NOT NULL,
    standard_headers boolean NOT NULL,
    secret text NOT NULL,
    previous_secret text,
    previous_until bigint,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (company_id, id)
);

-- Where the events of a company go: derived from its webhooks and its plan.
CREATE TABLE routes (
    company_id uuid CONSTRAINT company_routes PRIMARY KEY REFERENCES companies,
    fires boolean NOT NULL,
    -- JSON.
    routes text NOT NULL,
    version bigint NOT NULL
) WITH (fillfactor = 50);

-- Which process dispatches which share of the webhooks.
CREATE TABLE shards (
    number bigint CONSTRAINT shard_number PRIMARY KEY,
    owner uuid,
    version bigint NOT NULL
) WITH (fillfactor = 50);

ALTER TABLE workers ADD COLUMN dispatches boolean NOT NULL DEFAULT false;

-- Data is null once it was erased.
ALTER TABLE events ALTER COLUMN data DROP NOT NULL;
ALTER TABLE events ALTER COLUMN event_type TYPE text COLLATE "C";
-- The journal of a company, by type.
CREATE INDEX events_by_type ON events (company_id, event_type, place);
-- What is old.
CREATE INDEX events_by_time ON events (at);
-- What is still told of a contact.
CREATE INDEX events_by_contact ON events (company_id, contact_id)
    WHERE contact_id IS NOT NULL AND data IS NOT NULL;
ALTER TABLE events SET (autovacuum_vacuum_scale_factor = 0.05,
    autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

-- Every delivery is inserted once and changed once, if all goes well: each index is paid for twice.
-- Deliveries refer to nothing: they outlive their webhooks, and events outlive them. A delivery's
-- created_at is that of its event, so what names an event is found by both.
CREATE TABLE deliveries (
    company_id uuid NOT NULL,
    id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    event_id uuid NOT NULL,
    -- The order in which they were written.
    seq bigint GENERATED ALWAYS AS IDENTITY,
    created_at bigint NOT NULL,
    due_at bigint,
    -- The place in the queue of the webhook; null once it is settled.
    queued_at bigint,
    delivered_at bigint,
    attempts bigint NOT NULL,
    tries bigint NOT NULL,
    version bigint NOT NULL,
    status text COLLATE "C" NOT NULL,
    event_type text COLLATE "C" NOT NULL,
    -- JSON.
    log text NOT NULL,
    PRIMARY KEY (company_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
CREATE INDEX deliveries_by_creation ON deliveries (company_id, created_at, event_id);
CREATE INDEX deliveries_queued ON deliveries (company_id, webhook_id, queued_at, seq)
    WHERE queued_at IS NOT NULL;
CREATE INDEX deliveries_settled ON deliveries (created_at, id) WHERE queued_at IS NULL;
