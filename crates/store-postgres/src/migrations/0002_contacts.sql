CREATE TABLE contacts (
    company_id uuid NOT NULL REFERENCES companies,
    id uuid NOT NULL,
    source_platform text COLLATE "C" NOT NULL,
    identifier text COLLATE "C" NOT NULL,
    phone text COLLATE "C",
    email text COLLATE "C",
    shared_email text,
    name text NOT NULL,
    wa_profile_name text,
    wa_push_name text,
    display_name text NOT NULL,
    avatar_url text,
    observation text,
    inbox_status text COLLATE "C" NOT NULL,
    priority text NOT NULL,
    crm_status text COLLATE "C" NOT NULL,
    is_ai_enabled boolean NOT NULL,
    external_ai_enabled boolean NOT NULL,
    ai_paused_until bigint,
    opted_out_at bigint,
    is_archived boolean NOT NULL,
    is_pinned boolean NOT NULL,
    is_muted boolean NOT NULL,
    is_blocked boolean NOT NULL,
    is_group boolean NOT NULL,
    is_simulated boolean NOT NULL,
    external_chat_id text,
    first_message_at bigint,
    last_message_at bigint,
    last_inbound_at bigint,
    last_read_at bigint,
    last_closed_at bigint,
    last_close_reason_id uuid,
    street text,
    street_number text,
    complement text,
    neighborhood text,
    city text,
    state text,
    postal_code text,
    country text,
    birthday text,
    cpf text,
    rg text,
    genero text,
    estado_civil text,
    profissao text,
    cargo text,
    organization_id uuid,
    pipeline_stage_id uuid,
    assigned_to_member_id uuid,
    last_connection_id uuid,
    custom_fields jsonb NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    -- Names the combination of the six columns that the exact filters compare.
    facet uuid NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (company_id, id),
    -- The identifier comes first, so that it can be looked up on any channel.
    CONSTRAINT contact_identifier UNIQUE (company_id, identifier, source_platform),
    CONSTRAINT contact_email UNIQUE (company_id, email),
    FOREIGN KEY (company_id, organization_id) REFERENCES organizations,
    FOREIGN KEY (company_id, pipeline_stage_id) REFERENCES stages,
    FOREIGN KEY (company_id, assigned_to_member_id) REFERENCES members,
    FOREIGN KEY (company_id, last_close_reason_id) REFERENCES close_reasons
) WITH (fillfactor = 85);

CREATE INDEX contacts_by_message ON contacts (company_id, last_message_at DESC NULLS LAST, id);
CREATE INDEX contacts_by_facet_message
    ON contacts (company_id, facet, last_message_at DESC NULLS LAST, id);
CREATE INDEX contacts_by_creation ON contacts (company_id, created_at, id);
CREATE INDEX contacts_by_facet_creation ON contacts (company_id, facet, created_at, id);
CREATE INDEX contacts_by_phone ON contacts (company_id, phone) WHERE phone IS NOT NULL;
CREATE INDEX contacts_by_organization ON contacts (company_id, organization_id)
    WHERE organization_id IS NOT NULL;
CREATE INDEX contacts_by_stage ON contacts (company_id, pipeline_stage_id)
    WHERE pipeline_stage_id IS NOT NULL;
CREATE INDEX contacts_by_member ON contacts (company_id, assigned_to_member_id)
    WHERE assigned_to_member_id IS NOT NULL;
CREATE INDEX contacts_by_close_reason ON contacts (company_id, last_close_reason_id)
    WHERE last_close_reason_id IS NOT NULL;

-- How many contacts there are of each combination: folded counts, and what came since. A writer adds
-- to a difference that nobody else is adding to, or begins another one, so that writers never wait
-- for each other and there are never more differences than writers. The sum of counts and
-- differences is exact in every snapshot.
CREATE TABLE contact_facets (
    company_id uuid NOT NULL,
    facet uuid NOT NULL,
    source_platform text COLLATE "C" NOT NULL,
    inbox_status text COLLATE "C" NOT NULL,
    pipeline_stage_id uuid,
    crm_status text COLLATE "C" NOT NULL,
    is_ai_enabled boolean NOT NULL,
    is_group boolean NOT NULL,
    n bigint NOT NULL,
    PRIMARY KEY (company_id, facet)
) WITH (fillfactor = 50);

CREATE TABLE contact_facet_deltas (
    company_id uuid NOT NULL,
    facet uuid NOT NULL,
    source_platform text COLLATE "C" NOT NULL,
    inbox_status text COLLATE "C" NOT NULL,
    pipeline_stage_id uuid,
    crm_status text COLLATE "C" NOT NULL,
    is_ai_enabled boolean NOT NULL,
    is_group boolean NOT NULL,
    n bigint NOT NULL
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
CREATE INDEX contact_facet_deltas_by_facet ON contact_facet_deltas (company_id, facet);

CREATE FUNCTION recado_count_contact() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        UPDATE contact_facet_deltas SET n = n - 1 WHERE ctid = (
            SELECT d.ctid FROM contact_facet_deltas d
            WHERE d.company_id = OLD.company_id AND d.facet = OLD.facet
            LIMIT 1 FOR UPDATE SKIP LOCKED);
        IF NOT FOUND THEN
            INSERT INTO contact_facet_deltas VALUES (
                OLD.company_id, OLD.facet, OLD.source_platform, OLD.inbox_status,
                OLD.pipeline_stage_id, OLD.crm_status, OLD.is_ai_enabled, OLD.is_group, -1);
        END IF;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        UPDATE contact_facet_deltas SET n = n + 1 WHERE ctid = (
            SELECT d.ctid FROM contact_facet_deltas d
            WHERE d.company_id = NEW.company_id AND d.facet = NEW.facet
            LIMIT 1 FOR UPDATE SKIP LOCKED);
        IF NOT FOUND THEN
            INSERT INTO contact_facet_deltas VALUES (
                NEW.company_id, NEW.facet, NEW.source_platform, NEW.inbox_status,
                NEW.pipeline_stage_id, NEW.crm_status, NEW.is_ai_enabled, NEW.is_group, 1);
        END IF;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER contact_added_or_gone AFTER INSERT OR DELETE ON contacts
    FOR EACH ROW EXECUTE FUNCTION recado_count_contact();
CREATE TRIGGER contact_moved AFTER UPDATE ON contacts
    FOR EACH ROW WHEN (OLD.facet <> NEW.facet) EXECUTE FUNCTION recado_count_contact();

-- What a search looks in. It is kept apart from the contact, so that a contact that only moves in
-- the order of the listing leaves the index of searches alone. The facet is that of the contact.
CREATE TABLE contact_search (
    company_id uuid NOT NULL,
    contact_id uuid NOT NULL,
    facet uuid NOT NULL,
    search_text text COLLATE "C" NOT NULL,
    PRIMARY KEY (company_id, contact_id),
    FOREIGN KEY (company_id, contact_id) REFERENCES contacts ON DELETE CASCADE
) WITH (fillfactor = 90);

-- The three characters that begin at each place of a text, and what is left of it at its end, each
-- with the last digits of the company before it: a search of one company reads nothing of another.
-- The high cost keeps the planner from evaluating it for every row.
CREATE FUNCTION recado_trigrams(company_id uuid, search_text text) RETURNS tsvector
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 10000 AS $$
    SELECT array_to_tsvector(array(
        SELECT DISTINCT right(company_id::text, 8) || substr(search_text, i, 3)
        FROM generate_series(1, length(search_text)) i
    ))
$$;
CREATE INDEX contact_search_by_trigram ON contact_search
    USING gin (recado_trigrams(company_id, search_text)) WITH (gin_pending_list_limit = 512);

-- How far exports have read: no contact may be made at or before it any more.
CREATE TABLE export_frontiers (
    company_id uuid PRIMARY KEY,
    created_at bigint NOT NULL
);

CREATE TABLE contact_tags (
    company_id uuid NOT NULL,
    contact_id uuid NOT NULL,
    tag_id uuid NOT NULL,
    CONSTRAINT contact_tag PRIMARY KEY (company_id, contact_id, tag_id),
    FOREIGN KEY (company_id, contact_id) REFERENCES contacts ON DELETE CASCADE,
    FOREIGN KEY (company_id, tag_id) REFERENCES tags ON DELETE CASCADE
);
CREATE INDEX contact_tags_by_tag ON contact_tags (company_id, tag_id);

CREATE TABLE list_members (
    company_id uuid NOT NULL,
    list_id uuid NOT NULL,
    contact_id uuid NOT NULL,
    CONSTRAINT list_member PRIMARY KEY (company_id, list_id, contact_id),
    FOREIGN KEY (company_id, list_id) REFERENCES lists ON DELETE CASCADE,
    FOREIGN KEY (company_id, contact_id) REFERENCES contacts ON DELETE CASCADE
);
CREATE INDEX list_members_by_contact ON list_members (company_id, contact_id);

-- How many contacts a list holds: the folded count, and the differences that came since.
CREATE TABLE list_counts (
    company_id uuid NOT NULL,
    list_id uuid NOT NULL,
    n bigint NOT NULL,
    PRIMARY KEY (company_id, list_id)
) WITH (fillfactor = 50);

CREATE TABLE list_count_deltas (
    company_id uuid NOT NULL,
    list_id uuid NOT NULL,
    n bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
CREATE INDEX list_count_deltas_by_list ON list_count_deltas (company_id, list_id);

CREATE FUNCTION recado_count_list_members() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO list_count_deltas
    SELECT company_id, list_id, CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE -count(*) END
    FROM changed GROUP BY company_id, list_id;
    RETURN NULL;
END
$$;
CREATE TRIGGER list_members_added AFTER INSERT ON list_members
    REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION recado_count_list_members();
CREATE TRIGGER list_members_gone AFTER DELETE ON list_members
    REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION recado_count_list_members();

CREATE TABLE deals (
    company_id uuid NOT NULL,
    id uuid NOT NULL,
    contact_id uuid NOT NULL,
    title text NOT NULL,
    stage_id uuid,
    stage_entered_at bigint,
    status text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, contact_id) REFERENCES contacts ON DELETE CASCADE,
    FOREIGN KEY (company_id, stage_id) REFERENCES stages
);
CREATE INDEX deals_by_creation ON deals (company_id, created_at, id);
CREATE INDEX deals_by_contact ON deals (company_id, contact_id, created_at, id);
CREATE INDEX deals_by_stage ON deals (company_id, stage_id) WHERE stage_id IS NOT NULL;

-- A contact that has documents cannot be deleted: its documents go first.
CREATE TABLE documents (
    company_id uuid NOT NULL,
    id uuid NOT NULL,
    contact_id uuid NOT NULL,
    filename text NOT NULL,
    size bigint NOT NULL,
    state text NOT NULL,
    created_at bigint NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, contact_id) REFERENCES contacts
);
CREATE INDEX documents_by_contact ON documents (company_id, contact_id, created_at, id);

CREATE TABLE links (
    company_id uuid NOT NULL,
    id uuid NOT NULL,
    contact_id uuid NOT NULL,
    code text COLLATE "C" NOT NULL,
    url text NOT NULL,
    created_at bigint NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (company_id, id),
    CONSTRAINT link_code UNIQUE (code),
    FOREIGN KEY (company_id, contact_id) REFERENCES contacts ON DELETE CASCADE
);
CREATE INDEX links_by_creation ON links (company_id, created_at, id);
CREATE INDEX links_by_contact ON links (company_id, contact_id);

CREATE TABLE clicks (
    company_id uuid NOT NULL,
    id uuid NOT NULL,
    link_id uuid NOT NULL,
    contact_id uuid NOT NULL,
    at bigint NOT NULL,
    human boolean NOT NULL,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, link_id) REFERENCES links ON DELETE CASCADE,
    FOREIGN KEY (company_id, contact_id) REFERENCES contacts ON DELETE CASCADE
);
CREATE INDEX clicks_by_link ON clicks (company_id, link_id);
CREATE INDEX clicks_by_contact ON clicks (company_id, contact_id, at, human);
