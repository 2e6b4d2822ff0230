CREATE TABLE inbound_endpoints (
    company_id uuid NOT NULL REFERENCES companies,
    id uuid NOT NULL,
    slug text COLLATE "C" NOT NULL,
    -- JSON.
    variable_mapping text NOT NULL,
    auth_mode text NOT NULL,
    secret text NOT NULL,
    is_active boolean NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (company_id, id),
    CONSTRAINT endpoint_slug UNIQUE (slug)
);
CREATE INDEX inbound_endpoints_by_creation ON inbound_endpoints (company_id, created_at, id);

-- The last dispatch of its kind to a contact. Its message is remembered, not referred to.
CREATE TABLE dispatch_windows (
    company_id uuid NOT NULL,
    contact_id uuid NOT NULL,
    -- A digest of what duplicates have in common.
    key bytea NOT NULL,
    message_id uuid NOT NULL,
    sent_at bigint NOT NULL,
    state text NOT NULL,
    ends_at bigint NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT dispatch_window PRIMARY KEY (company_id, contact_id, key),
    FOREIGN KEY (company_id, contact_id) REFERENCES contacts ON DELETE CASCADE
);
CREATE INDEX dispatch_windows_by_end ON dispatch_windows (ends_at);

-- What a campaign names is remembered, not referred to: it may be gone.
CREATE TABLE campaigns (
    company_id uuid NOT NULL REFERENCES companies,
    id uuid NOT NULL,
    name text NOT NULL,
    template_id uuid NOT NULL,
    list_id uuid NOT NULL,
    connection_id uuid,
    -- JSON.
    variables text NOT NULL,
    prosas bigint NOT NULL,
    cost bigint NOT NULL,
    messages_per_second bigint NOT NULL,
    status text COLLATE "C" NOT NULL,
    pause_reason text,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    started_at bigint,
    finished_at bigint,
    version bigint NOT NULL,
    PRIMARY KEY (company_id, id)
);
CREATE INDEX campaigns_by_creation ON campaigns (company_id, created_at, id);
CREATE INDEX campaigns_running ON campaigns (id, company_id) WHERE status = 'running';

-- Recipients outlive their contacts. What they name beside them is remembered, not referred to.
CREATE TABLE recipients (
    company_id uuid NOT NULL,
    campaign_id uuid NOT NULL,
    number bigint NOT NULL,
    contact_id uuid,
    status text COLLATE "C" NOT NULL,
    message_id uuid,
    debit_id uuid,
    fault text,
    sent_at bigint,
    version bigint NOT NULL,
    CONSTRAINT recipient PRIMARY KEY (company_id, campaign_id, number),
    FOREIGN KEY (company_id, campaign_id) REFERENCES campaigns ON DELETE CASCADE,
    FOREIGN KEY (company_id, contact_id) REFERENCES contacts ON DELETE SET NULL (contact_id)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05,
    autovacuum_analyze_scale_factor = 0.05);
-- The queue of a campaign, and what its recipients are listed and counted by. It does not begin as
-- the primary key does: while the table is small, the planner could not tell which one finds a row.
CREATE INDEX recipients_by_status ON recipients (status, company_id, campaign_id, number);
-- Also finds the recipients that a contact was.
CREATE UNIQUE INDEX recipient_contact ON recipients (company_id, contact_id, campaign_id)
    WHERE contact_id IS NOT NULL;
CREATE INDEX recipients_by_message ON recipients (company_id, message_id)
    WHERE message_id IS NOT NULL;
