-- Connections, groups, conversations, messages, prosas, lead memories, remembered calls, workers and
-- templates. Conventions as in the first migration.

-- Whether the current block was announced by a backfill, and when a block was last lifted.
ALTER TABLE contacts ADD COLUMN opt_out_backfilled INTEGER NOT NULL DEFAULT 0;
ALTER TABLE contacts ADD COLUMN opted_in_at INTEGER;
-- The connection of a contact's last message may be gone, so it is no reference.
CREATE INDEX contacts_by_connection ON contacts (company_id, last_connection_id)
    WHERE last_connection_id IS NOT NULL;
CREATE INDEX contacts_by_chat ON contacts (company_id, external_chat_id)
    WHERE external_chat_id IS NOT NULL;

CREATE TABLE connections (
    company_id BLOB NOT NULL REFERENCES companies (id),
    id BLOB NOT NULL,
    kind TEXT NOT NULL,
    platform TEXT NOT NULL,
    name TEXT NOT NULL,
    identifier TEXT NOT NULL,
    gateway TEXT NOT NULL,
    settings TEXT NOT NULL,
    is_active INTEGER NOT NULL,
    status TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE connection_groups (
    company_id BLOB NOT NULL,
    connection_id BLOB NOT NULL,
    code TEXT NOT NULL,
    subject TEXT,
    is_community INTEGER NOT NULL,
    community_code TEXT,
    is_announcement INTEGER NOT NULL,
    announce_only INTEGER NOT NULL,
    participates INTEGER NOT NULL,
    is_admin INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, connection_id, code),
    FOREIGN KEY (company_id, connection_id) REFERENCES connections (company_id, id)
        ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX connection_groups_by_code ON connection_groups (company_id, code);
CREATE INDEX connection_groups_by_community ON connection_groups (company_id, community_code)
    WHERE community_code IS NOT NULL;

-- The key comes before the channel: aliases are also looked up on any channel.
CREATE TABLE aliases (
    company_id BLOB NOT NULL,
    source_platform TEXT NOT NULL,
    key TEXT NOT NULL,
    contact_id BLOB NOT NULL,
    PRIMARY KEY (company_id, key, source_platform),
    FOREIGN KEY (company_id, contact_id) REFERENCES contacts (company_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX aliases_by_contact ON aliases (company_id, contact_id);

CREATE TABLE conversations (
    company_id BLOB NOT NULL,
    contact_id BLOB NOT NULL,
    connection_id BLOB NOT NULL,
    identifier TEXT NOT NULL,
    last_message_at INTEGER,
    last_inbound_at INTEGER,
    unread INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, contact_id, connection_id),
    FOREIGN KEY (company_id, contact_id) REFERENCES contacts (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, connection_id) REFERENCES connections (company_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX conversations_by_connection ON conversations (company_id, connection_id);

-- One row for each combination of values that the listings of messages compare, with how many
-- messages have it; kept by the commit that writes the message. It refers to the connection on behalf
-- of its messages, which therefore need no index of connections.
CREATE TABLE message_facets (
    id INTEGER PRIMARY KEY,
    company_id BLOB NOT NULL,
    connection_id BLOB NOT NULL,
    direction TEXT NOT NULL,
    message_type TEXT NOT NULL,
    status TEXT NOT NULL,
    messages INTEGER NOT NULL,
    UNIQUE (company_id, connection_id, direction, message_type, status),
    FOREIGN KEY (company_id, connection_id) REFERENCES connections (company_id, id)
) STRICT;
CREATE TRIGGER connections_unused BEFORE DELETE ON connections BEGIN
    DELETE FROM message_facets
        WHERE company_id = old.company_id AND connection_id = old.id AND messages = 0;
END;

-- What the listings compare stands first in the row. Messages lie in the order of their arrival.
CREATE TABLE messages (
    seq INTEGER PRIMARY KEY,
    company_id BLOB NOT NULL,
    id BLOB NOT NULL,
    facet_id INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    contact_id BLOB NOT NULL,
    connection_id BLOB NOT NULL,
    direction TEXT NOT NULL,
    message_type TEXT NOT NULL,
    sender_type TEXT NOT NULL,
    status TEXT NOT NULL,
    timestamp INTEGER NOT NULL,
    is_history INTEGER NOT NULL,
    version INTEGER NOT NULL,
    -- The process that sends it, while it is pending.
    sender_id BLOB,
    error_type TEXT,
    error_code TEXT,
    error_message TEXT,
    content TEXT,
    media_url TEXT,
    media_source TEXT,
    media_document_id BLOB,
    media_mimetype TEXT,
    media_filename TEXT,
    media_caption TEXT,
    provider_id TEXT,
    external_id TEXT,
    quoted_message_id BLOB,
    quoted_content TEXT,
    quoted_type TEXT,
    participant TEXT,
    template_category TEXT,
    consumption_id BLOB,
    prosas INTEGER,
    cost INTEGER,
    prosa_scope TEXT,
    edited_at INTEGER,
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, contact_id) REFERENCES contacts (company_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX messages_by_creation ON messages (company_id, created_at, id);
CREATE INDEX messages_by_facet ON messages (facet_id, created_at, id);
-- Two ranges of either direction make up a contact's listing, and the newest message of a direction
-- that is not from a history is the end of one range. The status is left out: it changes, and the
-- messages of a contact lie far apart in this index.
CREATE INDEX messages_by_contact
    ON messages (company_id, contact_id, direction, is_history, created_at, id);
CREATE INDEX messages_in_flight ON messages (sender_id)
    WHERE status = 'pending' AND sender_id IS NOT NULL;
-- A trigger, because messages also go by cascade. Those that come or change are counted by statements
-- of their own: a trigger would make SQLite keep a journal of each statement.
CREATE TRIGGER messages_went AFTER DELETE ON messages BEGIN
    UPDATE message_facets SET messages = messages - 1 WHERE id = old.facet_id;
END;

-- What a provider's message id stands for: a message, or a report (`status`) until `expires_at`.
CREATE TABLE message_refs (
    company_id BLOB NOT NULL,
    connection_id BLOB NOT NULL,
    provider_id TEXT NOT NULL,
    message_id BLOB,
    status TEXT,
    error_type TEXT,
    error_code TEXT,
    error_message TEXT,
    expires_at INTEGER,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, connection_id, provider_id),
    CHECK ((message_id IS NULL) = (status IS NOT NULL)),
    CHECK ((message_id IS NULL) = (expires_at IS NOT NULL)),
    FOREIGN KEY (company_id, connection_id) REFERENCES connections (company_id, id)
        ON DELETE CASCADE,
    FOREIGN KEY (company_id, message_id) REFERENCES messages (company_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX message_refs_by_message ON message_refs (company_id, message_id)
    WHERE message_id IS NOT NULL;
CREATE INDEX message_refs_by_expiry ON message_refs (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE lead_memories (
    company_id BLOB NOT NULL,
    contact_id BLOB NOT NULL,
    -- How often it was written, as it is shown.
    memory_version INTEGER NOT NULL,
    inferred TEXT NOT NULL,
    interaction_count INTEGER NOT NULL,
    first_interaction_at INTEGER NOT NULL,
    last_memory_update_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, contact_id),
    FOREIGN KEY (company_id, contact_id) REFERENCES contacts (company_id, id) ON DELETE CASCADE
) STRICT;

-- The ledger. It outlives the contacts it is about; amounts are in their smallest units.
CREATE TABLE ledger_lines (
    seq INTEGER PRIMARY KEY,
    company_id BLOB NOT NULL REFERENCES companies (id),
    id BLOB NOT NULL,
    consumption_id BLOB NOT NULL,
    kind TEXT NOT NULL,
    scope TEXT NOT NULL,
    prosas INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    refunded_prosas INTEGER NOT NULL,
    refunded_cost INTEGER NOT NULL,
    contact_id BLOB,
    campaign_id BLOB,
    description TEXT,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, contact_id) REFERENCES contacts (company_id, id)
) STRICT;
-- Holds all that is summed.
CREATE INDEX ledger_lines_by_kind ON ledger_lines (company_id, kind, created_at, id, prosas, cost);
CREATE INDEX ledger_lines_by_contact ON ledger_lines (company_id, contact_id)
    WHERE contact_id IS NOT NULL;
-- Not `ON DELETE SET NULL`, which would take the company away, too.
CREATE TRIGGER contacts_leave_the_ledger BEFORE DELETE ON contacts BEGIN
    UPDATE ledger_lines SET contact_id = NULL
        WHERE company_id = old.company_id AND contact_id = old.id;
END;

-- A call has either a process that is at it or an answer.
CREATE TABLE remembered_calls (
    company_id BLOB NOT NULL REFERENCES companies (id),
    operation TEXT NOT NULL,
    key TEXT NOT NULL,
    body_hash BLOB NOT NULL,
    worker_id BLOB,
    answer TEXT,
    contact_id BLOB,
    expires_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, operation, key),
    CHECK ((worker_id IS NULL) = (answer IS NOT NULL)),
    FOREIGN KEY (company_id, contact_id) REFERENCES contacts (company_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX remembered_calls_by_contact ON remembered_calls (company_id, contact_id)
    WHERE contact_id IS NOT NULL;
CREATE INDEX remembered_calls_by_expiry ON remembered_calls (expires_at);

CREATE TABLE workers (
    id BLOB NOT NULL PRIMARY KEY,
    leased_until INTEGER NOT NULL,
    version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE templates (
    company_id BLOB NOT NULL REFERENCES companies (id),
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    category TEXT NOT NULL,
    language TEXT NOT NULL,
    body TEXT NOT NULL,
    status TEXT NOT NULL,
    connection_id BLOB,
    token BLOB NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, connection_id) REFERENCES connections (company_id, id)
) STRICT;
CREATE INDEX templates_by_connection ON templates (company_id, connection_id)
    WHERE connection_id IS NOT NULL;

-- What the planner is to believe, whatever the tables hold: a company has many rows, and whatever
-- else a key names has few. Without it, the rows of a contact or of a message would be looked for
-- among all of the company, where the primary key begins with the company. Numbers are rows of the
-- table, then rows for one value of the first column, of the first two, and so on.
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('stages', 'stages', '1000000 100000 1'),
    ('stages', 'stages_by_pipeline', '1000000 100000 10 1'),
    ('contact_tags', 'contact_tags', '1000000 100000 4 1'),
    ('contact_tags', 'contact_tags_by_tag', '1000000 100000 1000'),
    ('list_members', 'list_members', '1000000 100000 1000 1'),
    ('list_members', 'list_members_by_contact', '1000000 100000 4'),
    ('deals', 'deals', '1000000 100000 1'),
    ('deals', 'deals_by_contact', '1000000 100000 4'),
    ('deals', 'deals_by_stage', '1000000 100000 1000'),
    ('documents', 'documents', '1000000 100000 1'),
    ('documents', 'documents_by_contact', '1000000 100000 4'),
    ('links', 'links', '1000000 100000 1'),
    ('links', 'links_by_contact', '1000000 100000 4'),
    ('clicks', 'clicks', '1000000 100000 1'),
    ('clicks', 'clicks_by_link', '1000000 100000 4'),
    ('clicks', 'clicks_by_contact', '1000000 100000 4 4 1'),
    ('connection_groups', 'connection_groups', '1000000 100000 1000 1'),
    ('connection_groups', 'connection_groups_by_code', '1000000 100000 4'),
    ('connection_groups', 'connection_groups_by_community', '1000000 100000 10'),
    ('aliases', 'aliases', '1000000 100000 2 1'),
    ('aliases', 'aliases_by_contact', '1000000 100000 4'),
    ('conversations', 'conversations', '1000000 100000 2 1'),
    ('conversations', 'conversations_by_connection', '1000000 100000 10000'),
    ('message_refs', 'message_refs', '1000000 100000 10000 1'),
    ('message_refs', 'message_refs_by_message', '1000000 100000 1'),
    ('message_refs', 'message_refs_by_expiry', '1000000 10');
ANALYZE sqlite_schema;
