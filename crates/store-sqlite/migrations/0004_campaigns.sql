-- Inbound endpoints, the windows of template dispatch, campaigns and their recipients. Conventions as
-- in the first migration.

CREATE TABLE inbound_endpoints (
    company_id BLOB NOT NULL REFERENCES companies (id),
    id BLOB NOT NULL,
    -- Over all companies: a call names nothing else.
    slug TEXT NOT NULL UNIQUE,
    variable_mapping TEXT NOT NULL,
    auth_mode TEXT NOT NULL,
    secret TEXT NOT NULL,
    is_active INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, id)
) STRICT, WITHOUT ROWID;

-- The last dispatch of its kind to a contact. Its message goes with the contact, so it is no
-- reference.
CREATE TABLE dispatch_windows (
    company_id BLOB NOT NULL,
    contact_id BLOB NOT NULL,
    key BLOB NOT NULL,
    message_id BLOB NOT NULL,
    sent_at INTEGER NOT NULL,
    state TEXT NOT NULL,
    ends_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, contact_id, key),
    FOREIGN KEY (company_id, contact_id) REFERENCES contacts (company_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX dispatch_windows_by_end ON dispatch_windows (ends_at);

-- What a campaign sends, to whom and through what may be gone, so none of it is a reference. Amounts
-- are in their smallest units.
CREATE TABLE campaigns (
    company_id BLOB NOT NULL REFERENCES companies (id),
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    template_id BLOB NOT NULL,
    list_id BLOB NOT NULL,
    connection_id BLOB,
    variables TEXT NOT NULL,
    prosas INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    messages_per_second INTEGER NOT NULL,
    status TEXT NOT NULL,
    pause_reason TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    started_at INTEGER,
    finished_at INTEGER,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, id)
) STRICT, WITHOUT ROWID;
-- Asked for again and again, by every process: those that do not run are not met.
CREATE INDEX campaigns_running ON campaigns (id) WHERE status = 'running';

-- In the order of sending. The message and the debit go their own ways, so they are no references.
CREATE TABLE recipients (
    company_id BLOB NOT NULL,
    campaign_id BLOB NOT NULL,
    number INTEGER NOT NULL,
    contact_id BLOB,
    status TEXT NOT NULL,
    message_id BLOB,
    debit_id BLOB,
    fault TEXT,
    sent_at INTEGER,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, campaign_id, number),
    FOREIGN KEY (company_id, campaign_id) REFERENCES campaigns (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, contact_id) REFERENCES contacts (company_id, id)
) STRICT, WITHOUT ROWID;
-- Whose turn is next, the listings of one status, and all that is counted.
CREATE INDEX recipients_by_status ON recipients (company_id, campaign_id, status, number);
-- A contact is met once by a campaign; the contact comes first so that it is found when it goes.
CREATE UNIQUE INDEX recipients_by_contact ON recipients (company_id, contact_id, campaign_id)
    WHERE contact_id IS NOT NULL;
CREATE INDEX recipients_by_message ON recipients (company_id, message_id)
    WHERE message_id IS NOT NULL;
-- Not `ON DELETE SET NULL`, which would take the company away, too.
CREATE TRIGGER contacts_leave_campaigns BEFORE DELETE ON contacts BEGIN
    UPDATE recipients SET contact_id = NULL
        WHERE company_id = old.company_id AND contact_id = old.id;
END;

-- What the planner is to believe, as in the second migration.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('inbound_endpoints', 'inbound_endpoints', '1000000 100000 1'),
    ('inbound_endpoints', 'sqlite_autoindex_inbound_endpoints_1', '1000000 1'),
    ('dispatch_windows', 'dispatch_windows', '1000000 100000 4 1'),
    ('dispatch_windows', 'dispatch_windows_by_end', '1000000 10'),
    ('campaigns', 'campaigns', '1000000 100000 1'),
    ('campaigns', 'campaigns_running', '100 1'),
    ('recipients', 'recipients', '1000000 100000 10000 1'),
    ('recipients', 'recipients_by_status', '1000000 100000 10000 2000 1'),
    ('recipients', 'recipients_by_contact', '1000000 100000 10 1'),
    ('recipients', 'recipients_by_message', '1000000 100000 1');
ANALYZE sqlite_schema;
