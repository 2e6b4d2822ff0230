-- What was not understood is kept as it came, in place of its kind and shape.
DROP TABLE unknown_kinds;
CREATE TABLE unknown_events (
    company_id uuid NOT NULL,
    id uuid NOT NULL,
    connection_id uuid NOT NULL,
    contact_id uuid,
    kind text COLLATE "C" NOT NULL,
    reason text NOT NULL,
    form text NOT NULL,
    received_at bigint NOT NULL,
    provider_id text COLLATE "C",
    -- As text, not as JSON: it is given back as it came.
    body text NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, connection_id) REFERENCES connections ON DELETE CASCADE,
    FOREIGN KEY (company_id, contact_id) REFERENCES contacts ON DELETE CASCADE
);
CREATE INDEX unknown_events_by_company ON unknown_events (company_id, received_at, id);
CREATE INDEX unknown_events_by_connection
    ON unknown_events (company_id, connection_id, received_at, id);
CREATE INDEX unknown_events_by_kind
    ON unknown_events (company_id, connection_id, kind, received_at, id);
CREATE INDEX unknown_events_by_contact ON unknown_events (company_id, contact_id)
    WHERE contact_id IS NOT NULL;
CREATE INDEX unknown_events_by_time ON unknown_events (received_at);

-- When the gateway was last heard.
ALTER TABLE connections ADD COLUMN last_heard_at bigint;
