-- Ids are UUIDs as 16 bytes, times are milliseconds since the epoch in UTC, truth values are 0 and
-- 1. `version` counts the writes of a row. Every key of a company's rows begins with the company.
--
-- Foreign keys are checked at once (never deferred), so that a row that leads nowhere fails in the
-- savepoint of the change set that brought it.

CREATE TABLE companies (
    -- Small number of the company: the upper part of its contacts' `seq`.
    no INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    name TEXT NOT NULL,
    plan TEXT NOT NULL,
    inbound_contacts INTEGER NOT NULL,
    template_dispatch INTEGER NOT NULL,
    default_region TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL
) STRICT;

CREATE TABLE api_keys (
    company_id BLOB NOT NULL REFERENCES companies (id),
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    hash BLOB NOT NULL UNIQUE,
    scopes TEXT NOT NULL,
    rate_per_minute INTEGER NOT NULL,
    export_rate_per_minute INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE members (
    company_id BLOB NOT NULL REFERENCES companies (id),
    id BLOB NOT NULL,
    display_name TEXT NOT NULL,
    role TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE secrets (
    name TEXT NOT NULL PRIMARY KEY,
    bytes BLOB NOT NULL,
    version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tags (
    company_id BLOB NOT NULL REFERENCES companies (id),
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    color TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE close_reasons (
    company_id BLOB NOT NULL REFERENCES companies (id),
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE custom_fields (
    company_id BLOB NOT NULL REFERENCES companies (id),
    id BLOB NOT NULL,
    slug TEXT NOT NULL,
    label TEXT NOT NULL,
    field_type TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, id),
    UNIQUE (company_id, slug)
) STRICT, WITHOUT ROWID;

CREATE TABLE organizations (
    company_id BLOB NOT NULL REFERENCES companies (id),
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    cnpj TEXT NOT NULL,
    razao_social TEXT,
    enriched_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, id),
    UNIQUE (company_id, cnpj)
) STRICT, WITHOUT ROWID;

CREATE TABLE pipelines (
    company_id BLOB NOT NULL REFERENCES companies (id),
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE stages (
    company_id BLOB NOT NULL REFERENCES companies (id),
    id BLOB NOT NULL,
    pipeline_id BLOB NOT NULL,
    name TEXT NOT NULL,
    color TEXT NOT NULL,
    display_order INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, pipeline_id) REFERENCES pipelines (company_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX stages_by_pipeline ON stages (company_id, pipeline_id, display_order);

-- What the contact listings compare and order by stands first in the row, so that reading it never
-- follows an overflow chain.
CREATE TABLE contacts (
    -- The company's `no` * 2^36 + a number: the contacts of a company lie together, in the table
    -- and in the full-text index.
    seq INTEGER PRIMARY KEY,
    company_id BLOB NOT NULL REFERENCES companies (id),
    id BLOB NOT NULL,
    facet_id INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    last_message_at INTEGER,
    -- Ascending, it is the order of the listing: latest message first, none last. Not a generated
    -- column, as SQLite does not read those from an index alone.
    recency INTEGER NOT NULL
        CHECK (recency = coalesce(-last_message_at, 9223372036854775807)),
    version INTEGER NOT NULL,
    source_platform TEXT NOT NULL,
    identifier TEXT NOT NULL,
    phone TEXT,
    email TEXT,
    shared_email TEXT,
    name TEXT NOT NULL,
    wa_profile_name TEXT,
    wa_push_name TEXT,
    display_name TEXT NOT NULL,
    avatar_url TEXT,
    observation TEXT,
    inbox_status TEXT NOT NULL,
    priority TEXT NOT NULL,
    crm_status TEXT NOT NULL,
    is_ai_enabled INTEGER NOT NULL,
    external_ai_enabled INTEGER NOT NULL,
    ai_paused_until INTEGER,
    opted_out_at INTEGER,
    is_archived INTEGER NOT NULL,
    is_pinned INTEGER NOT NULL,
    is_muted INTEGER NOT NULL,
    is_blocked INTEGER NOT NULL,
    is_group INTEGER NOT NULL,
    is_simulated INTEGER NOT NULL,
    external_chat_id TEXT,
    first_message_at INTEGER,
    last_inbound_at INTEGER,
    last_read_at INTEGER,
    last_closed_at INTEGER,
    last_close_reason_id BLOB,
    street TEXT,
    street_number TEXT,
    complement TEXT,
    neighborhood TEXT,
    city TEXT,
    state TEXT,
    postal_code TEXT,
    country TEXT,
    birthday TEXT,
    cpf TEXT,
    rg TEXT,
    genero TEXT,
    estado_civil TEXT,
    profissao TEXT,
    cargo TEXT,
    organization_id BLOB,
    pipeline_stage_id BLOB,
    assigned_to_member_id BLOB,
    last_connection_id BLOB,
    custom_fields TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, last_close_reason_id) REFERENCES close_reasons (company_id, id),
    FOREIGN KEY (company_id, organization_id) REFERENCES organizations (company_id, id),
    FOREIGN KEY (company_id, pipeline_stage_id) REFERENCES stages (company_id, id),
    FOREIGN KEY (company_id, assigned_to_member_id) REFERENCES members (company_id, id)
) STRICT;
CREATE UNIQUE INDEX contacts_by_identifier ON contacts (company_id, identifier, source_platform);
CREATE UNIQUE INDEX contacts_by_email ON contacts (company_id, email) WHERE email IS NOT NULL;
CREATE INDEX contacts_by_phone ON contacts (company_id, phone) WHERE phone IS NOT NULL;
CREATE INDEX contacts_by_recency ON contacts (company_id, recency, id);
CREATE INDEX contacts_by_creation ON contacts (company_id, created_at, id);
CREATE INDEX contacts_by_facet_recency ON contacts (facet_id, recency, id);
CREATE INDEX contacts_by_facet_creation ON contacts (facet_id, created_at, id);
CREATE INDEX contacts_by_close_reason ON contacts (company_id, last_close_reason_id)
    WHERE last_close_reason_id IS NOT NULL;
CREATE INDEX contacts_by_organization ON contacts (company_id, organization_id)
    WHERE organization_id IS NOT NULL;
CREATE INDEX contacts_by_stage ON contacts (company_id, pipeline_stage_id)
    WHERE pipeline_stage_id IS NOT NULL;
CREATE INDEX contacts_by_member ON contacts (company_id, assigned_to_member_id)
    WHERE assigned_to_member_id IS NOT NULL;

-- One row for each combination of values that the exact filters compare, with how many contacts
-- have it; kept by the commit that writes the contact.
CREATE TABLE contact_facets (
    id INTEGER PRIMARY KEY,
    company_id BLOB NOT NULL,
    key BLOB NOT NULL,
    source_platform TEXT NOT NULL,
    inbox_status TEXT NOT NULL,
    pipeline_stage_id BLOB,
    crm_status TEXT NOT NULL,
    is_ai_enabled INTEGER NOT NULL,
    is_group INTEGER NOT NULL,
    contacts INTEGER NOT NULL,
    UNIQUE (company_id, key)
) STRICT;

-- The search texts of contacts, keyed by `seq`; the text itself is not kept.
CREATE VIRTUAL TABLE contact_search USING fts5 (
    text,
    content = '',
    contentless_delete = 1,
    tokenize = 'trigram case_sensitive 1'
);
-- Every trigram that a search text ever had: a search for one or two characters looks for the
-- trigrams that begin with them.
CREATE TABLE search_trigrams (
    trigram TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- The `created_at` of the latest position that an export of the company has handed out.
CREATE TABLE export_frontiers (
    company_id BLOB NOT NULL PRIMARY KEY REFERENCES companies (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE contact_tags (
    company_id BLOB NOT NULL,
    contact_id BLOB NOT NULL,
    tag_id BLOB NOT NULL,
    PRIMARY KEY (company_id, contact_id, tag_id),
    FOREIGN KEY (company_id, contact_id) REFERENCES contacts (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, tag_id) REFERENCES tags (company_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX contact_tags_by_tag ON contact_tags (company_id, tag_id);

CREATE TABLE lists (
    company_id BLOB NOT NULL REFERENCES companies (id),
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    is_active INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    -- How many rows of list_members it has; kept by the triggers below.
    contacts INTEGER NOT NULL DEFAULT 0,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE list_members (
    company_id BLOB NOT NULL,
    list_id BLOB NOT NULL,
    contact_id BLOB NOT NULL,
    PRIMARY KEY (company_id, list_id, contact_id),
    FOREIGN KEY (company_id, list_id) REFERENCES lists (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, contact_id) REFERENCES contacts (company_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX list_members_by_contact ON list_members (company_id, contact_id);
-- Triggers, because memberships also go by cascade.
CREATE TRIGGER list_members_joined AFTER INSERT ON list_members BEGIN
    UPDATE lists SET contacts = contacts + 1
        WHERE company_id = new.company_id AND id = new.list_id;
END;
CREATE TRIGGER list_members_left AFTER DELETE ON list_members BEGIN
    UPDATE lists SET contacts = contacts - 1
        WHERE company_id = old.company_id AND id = old.list_id;
END;

CREATE TABLE deals (
    company_id BLOB NOT NULL REFERENCES companies (id),
    id BLOB NOT NULL,
    contact_id BLOB NOT NULL,
    title TEXT NOT NULL,
    stage_id BLOB,
    stage_entered_at INTEGER,
    status TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, contact_id) REFERENCES contacts (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, stage_id) REFERENCES stages (company_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX deals_by_contact ON deals (company_id, contact_id);
CREATE INDEX deals_by_stage ON deals (company_id, stage_id) WHERE stage_id IS NOT NULL;

CREATE TABLE documents (
    company_id BLOB NOT NULL REFERENCES companies (id),
    id BLOB NOT NULL,
    contact_id BLOB NOT NULL,
    filename TEXT NOT NULL,
    size INTEGER NOT NULL,
    state TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, contact_id) REFERENCES contacts (company_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX documents_by_contact ON documents (company_id, contact_id);

CREATE TABLE links (
    company_id BLOB NOT NULL REFERENCES companies (id),
    id BLOB NOT NULL,
    contact_id BLOB NOT NULL,
    code TEXT NOT NULL UNIQUE,
    url TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, contact_id) REFERENCES contacts (company_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX links_by_contact ON links (company_id, contact_id);

CREATE TABLE clicks (
    company_id BLOB NOT NULL REFERENCES companies (id),
    id BLOB NOT NULL,
    link_id BLOB NOT NULL,
    contact_id BLOB NOT NULL,
    at INTEGER NOT NULL,
    human INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, link_id) REFERENCES links (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, contact_id) REFERENCES contacts (company_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX clicks_by_link ON clicks (company_id, link_id);
CREATE INDEX clicks_by_contact ON clicks (company_id, contact_id, human, at);

CREATE TABLE jobs (
    company_id BLOB NOT NULL REFERENCES companies (id),
    id BLOB NOT NULL,
    kind TEXT NOT NULL,
    subject BLOB NOT NULL,
    data TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    leased_until INTEGER,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, id),
    UNIQUE (company_id, kind, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX jobs_by_due ON jobs (due_at, id, leased_until);

-- The outbox, in the order of commits. It outlives the contacts it is about.
CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    company_id BLOB NOT NULL,
    id BLOB NOT NULL,
    event_type TEXT NOT NULL,
    contact_id BLOB,
    at INTEGER NOT NULL,
    data TEXT NOT NULL,
    UNIQUE (company_id, id)
) STRICT;
