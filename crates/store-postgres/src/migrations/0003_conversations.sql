ALTER TABLE contacts
    ADD COLUMN opt_out_backfilled boolean NOT NULL DEFAULT false,
    ADD COLUMN opted_in_at bigint;

CREATE TABLE connections (
    company_id uuid NOT NULL REFERENCES companies,
    id uuid NOT NULL,
    kind text NOT NULL,
    platform text NOT NULL,
    name text NOT NULL,
    identifier text NOT NULL,
    gateway text NOT NULL,
    -- JSON, as it was given.
    settings text NOT NULL,
    is_active boolean NOT NULL,
    status text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (company_id, id)
);
CREATE INDEX connections_by_creation ON connections (company_id, created_at, id);

-- The last connection of a contact is remembered, not referred to: it may be gone.
CREATE INDEX contacts_by_last_connection ON contacts (company_id, last_connection_id)
    WHERE last_connection_id IS NOT NULL;
CREATE INDEX contacts_by_chat ON contacts (company_id, external_chat_id)
    WHERE external_chat_id IS NOT NULL;

-- A group as one connection sees it.
CREATE TABLE connection_groups (
    company_id uuid NOT NULL,
    connection_id uuid NOT NULL,
    code text COLLATE "C" NOT NULL,
    subject text,
    is_community boolean NOT NULL,
    community_code text COLLATE "C",
    is_announcement boolean NOT NULL,
    announce_only boolean NOT NULL,
    participates boolean NOT NULL,
    is_admin boolean NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT group_code PRIMARY KEY (company_id, connection_id, code),
    FOREIGN KEY (company_id, connection_id) REFERENCES connections ON DELETE CASCADE
);
CREATE INDEX connection_groups_by_code ON connection_groups (company_id, code);
CREATE INDEX connection_groups_by_community ON connection_groups (company_id, community_code)
    WHERE community_code IS NOT NULL;

-- The key comes before the channel, so that it can be looked up on any channel.
CREATE TABLE aliases (
    company_id uuid NOT NULL,
    source_platform text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    contact_id uuid NOT NULL,
    CONSTRAINT alias_key PRIMARY KEY (company_id, key, source_platform),
    FOREIGN KEY (company_id, contact_id) REFERENCES contacts ON DELETE CASCADE
);
CREATE INDEX aliases_by_contact ON aliases (company_id, contact_id) INCLUDE (key);

-- No index holds what a message changes, so that an update touches nothing else.
CREATE TABLE conversations (
    company_id uuid NOT NULL,
    contact_id uuid NOT NULL,
    connection_id uuid NOT NULL,
    identifier text NOT NULL,
    last_message_at bigint,
    last_inbound_at bigint,
    unread bigint NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT conversation PRIMARY KEY (company_id, contact_id, connection_id),
    FOREIGN KEY (company_id, contact_id) REFERENCES contacts ON DELETE CASCADE,
    FOREIGN KEY (company_id, connection_id) REFERENCES connections
) WITH (fillfactor = 80);
CREATE INDEX conversations_by_connection ON conversations (company_id, connection_id);

CREATE TABLE messages (
    company_id uuid NOT NULL,
    id uuid NOT NULL,
    contact_id uuid NOT NULL,
    connection_id uuid NOT NULL,
    direction text COLLATE "C" NOT NULL,
    message_type text COLLATE "C" NOT NULL,
    sender_type text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    error_type text,
    error_code text,
    error_message text,
    content text,
    media_url text,
    media_source text,
    media_document_id uuid,
    media_mimetype text,
    media_filename text,
    media_caption text,
    provider_id text COLLATE "C",
    external_id text,
    quoted_message_id uuid,
    quoted_content text,
    quoted_type text,
    participant text,
    template_category text,
    -- The debit that covers the message, with what never changes of it.
    consumption_id uuid,
    prosas bigint,
    cost bigint,
    prosa_scope text,
    is_history boolean NOT NULL,
    edited_at bigint,
    -- The process that sends the message, while it does.
    sender_id uuid,
    created_at bigint NOT NULL,
    -- The provider's time.
    stamped_at bigint NOT NULL,
    version bigint NOT NULL,
    is_failed boolean NOT NULL GENERATED ALWAYS AS (status = 'failed') STORED,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, contact_id) REFERENCES contacts ON DELETE CASCADE,
    FOREIGN KEY (company_id, connection_id) REFERENCES connections
) WITH (fillfactor = 85, autovacuum_vacuum_insert_scale_factor = 0.02,
        autovacuum_vacuum_scale_factor = 0.05);
-- Each order of a listing; what else listings filter by, and never changes, is beside it. No index
-- holds the status: a report of it touches the message's row and nothing else.
CREATE INDEX messages_by_creation ON messages (company_id, created_at DESC, id DESC)
    INCLUDE (direction, message_type);
CREATE INDEX messages_failed ON messages (company_id, created_at DESC, id DESC) WHERE is_failed;
CREATE INDEX messages_by_connection
    ON messages (company_id, connection_id, created_at DESC, id DESC)
    INCLUDE (direction, message_type);
CREATE INDEX messages_by_contact ON messages (company_id, contact_id, created_at DESC, id DESC)
    INCLUDE (direction, message_type);
CREATE INDEX messages_newest
    ON messages (company_id, contact_id, direction, created_at DESC, id DESC)
    WHERE NOT is_history;
CREATE INDEX messages_in_flight ON messages (sender_id) WHERE sender_id IS NOT NULL;

-- How many messages there are of each combination of what listings filter by: the folded count, and
-- the differences that came since. The sum of both is exact in every snapshot.
CREATE TABLE message_counts (
    company_id uuid NOT NULL,
    connection_id uuid NOT NULL,
    direction text COLLATE "C" NOT NULL,
    message_type text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    n bigint NOT NULL,
    PRIMARY KEY (company_id, connection_id, direction, message_type, status)
) WITH (fillfactor = 50);

-- Has no index: it is written with every message, and folded before it is large.
CREATE TABLE message_count_deltas (
    company_id uuid NOT NULL,
    connection_id uuid NOT NULL,
    direction text COLLATE "C" NOT NULL,
    message_type text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    n bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

CREATE FUNCTION recado_count_message() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO message_count_deltas VALUES
            (NEW.company_id, NEW.connection_id, NEW.direction, NEW.message_type, NEW.status, 1);
    ELSE
        INSERT INTO message_count_deltas VALUES
            (OLD.company_id, OLD.connection_id, OLD.direction, OLD.message_type, OLD.status, -1),
            (NEW.company_id, NEW.connection_id, NEW.direction, NEW.message_type, NEW.status, 1);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER message_added AFTER INSERT ON messages
    FOR EACH ROW EXECUTE FUNCTION recado_count_message();
CREATE TRIGGER message_moved AFTER UPDATE ON messages
    FOR EACH ROW WHEN (OLD.status <> NEW.status OR OLD.direction <> NEW.direction
        OR OLD.message_type <> NEW.message_type OR OLD.connection_id <> NEW.connection_id)
    EXECUTE FUNCTION recado_count_message();

CREATE FUNCTION recado_count_gone_messages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO message_count_deltas
    SELECT company_id, connection_id, direction, message_type, status, -count(*)
    FROM gone GROUP BY 1, 2, 3, 4, 5;
    RETURN NULL;
END
$$;
CREATE TRIGGER messages_gone AFTER DELETE ON messages
    REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION recado_count_gone_messages();

-- What a provider's message id stands for: a message, or a report that came before its message.
CREATE TABLE message_refs (
    company_id uuid NOT NULL,
    connection_id uuid NOT NULL,
    provider_id text COLLATE "C" NOT NULL,
    message_id uuid,
    report_status text,
    error_type text,
    error_code text,
    error_message text,
    expires_at bigint,
    version bigint NOT NULL,
    CONSTRAINT provider_message PRIMARY KEY (company_id, connection_id, provider_id),
    FOREIGN KEY (company_id, connection_id) REFERENCES connections ON DELETE CASCADE,
    FOREIGN KEY (company_id, message_id) REFERENCES messages ON DELETE CASCADE
);
CREATE INDEX message_refs_by_message ON message_refs (company_id, message_id)
    WHERE message_id IS NOT NULL;
CREATE INDEX message_refs_by_expiry ON message_refs (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE lead_memories (
    company_id uuid NOT NULL,
    contact_id uuid NOT NULL,
    memory_version bigint NOT NULL,
    -- JSON.
    inferred text NOT NULL,
    interaction_count bigint NOT NULL,
    first_interaction_at bigint NOT NULL,
    last_memory_update_at bigint NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT lead_memory PRIMARY KEY (company_id, contact_id),
    FOREIGN KEY (company_id, contact_id) REFERENCES contacts ON DELETE CASCADE
);

-- Amounts in the smallest units that are kept. Lines outlive their contacts.
CREATE TABLE ledger_lines (
    company_id uuid NOT NULL REFERENCES companies,
    id uuid NOT NULL,
    consumption_id uuid NOT NULL,
    kind text COLLATE "C" NOT NULL,
    scope text NOT NULL,
    prosas bigint NOT NULL,
    cost bigint NOT NULL,
    refunded_prosas bigint NOT NULL,
    refunded_cost bigint NOT NULL,
    contact_id uuid,
    campaign_id uuid,
    description text,
    created_at bigint NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, contact_id) REFERENCES contacts ON DELETE SET NULL (contact_id)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02);
-- Sums are taken from the index alone.
CREATE INDEX ledger_lines_by_creation ON ledger_lines (company_id, created_at DESC, id DESC)
    INCLUDE (kind, prosas, cost);
CREATE INDEX ledger_lines_by_contact ON ledger_lines (company_id, contact_id)
    WHERE contact_id IS NOT NULL;

CREATE TABLE remembered_calls (
    company_id uuid NOT NULL REFERENCES companies,
    operation text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    body_hash bytea NOT NULL,
    -- Who is at it, or what was answered.
    worker_id uuid,
    answer text,
    contact_id uuid,
    expires_at bigint NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT call_key PRIMARY KEY (company_id, operation, key),
    FOREIGN KEY (company_id, contact_id) REFERENCES contacts ON DELETE CASCADE
);
CREATE INDEX remembered_calls_by_contact ON remembered_calls (company_id, contact_id)
    WHERE contact_id IS NOT NULL;
CREATE INDEX remembered_calls_by_expiry ON remembered_calls (expires_at);

-- Running processes.
CREATE TABLE workers (
    id uuid PRIMARY KEY,
    leased_until bigint NOT NULL,
    version bigint NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE templates (
    company_id uuid NOT NULL REFERENCES companies,
    id uuid NOT NULL,
    name text NOT NULL,
    category text NOT NULL,
    language text NOT NULL,
    body text NOT NULL,
    status text NOT NULL,
    connection_id uuid,
    token uuid NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (company_id, id),
    CONSTRAINT template_token UNIQUE (token),
    FOREIGN KEY (company_id, connection_id) REFERENCES connections
);
CREATE INDEX templates_by_creation ON templates (company_id, created_at, id);
CREATE INDEX templates_by_connection ON templates (company_id, connection_id)
    WHERE connection_id IS NOT NULL;
