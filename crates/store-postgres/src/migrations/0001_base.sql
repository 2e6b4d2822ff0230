-- Every tenant table's key begins with company_id, and every reference carries it, so that a row
-- can only refer to rows of its own company and the data can be spread by company.
-- Moments are milliseconds since 1970 in UTC. Enumerations are their words.

CREATE TABLE companies (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    plan text NOT NULL,
    inbound_contacts boolean NOT NULL,
    template_dispatch boolean NOT NULL,
    default_region text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL
);
CREATE INDEX companies_by_creation ON companies (created_at, id);

CREATE TABLE secrets (
    name text COLLATE "C" CONSTRAINT secret_name PRIMARY KEY,
    bytes bytea NOT NULL,
    version bigint NOT NULL
);

CREATE TABLE api_keys (
    company_id uuid NOT NULL REFERENCES companies,
    id uuid NOT NULL,
    name text NOT NULL,
    hash bytea NOT NULL,
    scopes text[] NOT NULL,
    rate_per_minute bigint NOT NULL,
    export_rate_per_minute bigint NOT NULL,
    created_at bigint NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (company_id, id),
    CONSTRAINT key_hash UNIQUE (hash)
);
CREATE INDEX api_keys_by_creation ON api_keys (company_id, created_at, id);

CREATE TABLE members (
    company_id uuid NOT NULL REFERENCES companies,
    id uuid NOT NULL,
    display_name text NOT NULL,
    role text NOT NULL,
    created_at bigint NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (company_id, id)
);
CREATE INDEX members_by_creation ON members (company_id, created_at, id);

CREATE TABLE custom_fields (
    company_id uuid NOT NULL REFERENCES companies,
    id uuid NOT NULL,
    slug text COLLATE "C" NOT NULL,
    label text NOT NULL,
    field_type text NOT NULL,
    status text NOT NULL,
    created_at bigint NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (company_id, id),
    CONSTRAINT custom_field_slug UNIQUE (company_id, slug)
);
CREATE INDEX custom_fields_by_creation ON custom_fields (company_id, created_at, id);

CREATE TABLE lists (
    company_id uuid NOT NULL REFERENCES companies,
    id uuid NOT NULL,
    name text NOT NULL,
    is_active boolean NOT NULL,
    created_at bigint NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (company_id, id)
);
CREATE INDEX lists_by_creation ON lists (company_id, created_at, id);

CREATE TABLE tags (
    company_id uuid NOT NULL REFERENCES companies,
    id uuid NOT NULL,
    name text NOT NULL,
    color text NOT NULL,
    created_at bigint NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (company_id, id)
);
CREATE INDEX tags_by_creation ON tags (company_id, created_at, id);

CREATE TABLE close_reasons (
    company_id uuid NOT NULL REFERENCES companies,
    id uuid NOT NULL,
    name text NOT NULL,
    created_at bigint NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (company_id, id)
);
CREATE INDEX close_reasons_by_creation ON close_reasons (company_id, created_at, id);

CREATE TABLE pipelines (
    company_id uuid NOT NULL REFERENCES companies,
    id uuid NOT NULL,
    name text NOT NULL,
    created_at bigint NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (company_id, id)
);
CREATE INDEX pipelines_by_creation ON pipelines (company_id, created_at, id);

CREATE TABLE stages (
    company_id uuid NOT NULL,
    id uuid NOT NULL,
    pipeline_id uuid NOT NULL,
    name text NOT NULL,
    color text NOT NULL,
    display_order bigint NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, pipeline_id) REFERENCES pipelines
);
CREATE INDEX stages_by_pipeline ON stages (company_id, pipeline_id, display_order, id);

CREATE TABLE organizations (
    company_id uuid NOT NULL REFERENCES companies,
    id uuid NOT NULL,
    name text NOT NULL,
    cnpj text COLLATE "C" NOT NULL,
    razao_social text,
    enriched_at bigint,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (company_id, id),
    CONSTRAINT organization_cnpj UNIQUE (company_id, cnpj)
);
CREATE INDEX organizations_by_creation ON organizations (company_id, created_at, id);

-- Durable background work. What a job is about is not a reference: jobs outlive their subjects.
CREATE TABLE jobs (
    company_id uuid NOT NULL REFERENCES companies,
    id uuid NOT NULL,
    kind text COLLATE "C" NOT NULL,
    subject uuid NOT NULL,
    data jsonb NOT NULL,
    attempts bigint NOT NULL,
    due_at bigint NOT NULL,
    leased_until bigint,
    created_at bigint NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (company_id, id),
    CONSTRAINT job_subject UNIQUE (company_id, kind, subject)
) WITH (fillfactor = 80);
CREATE INDEX jobs_by_due ON jobs (due_at, id);

-- The outbox. Events outlive the contacts they are about.
CREATE TABLE events (
    company_id uuid NOT NULL,
    id uuid NOT NULL,
    event_type text NOT NULL,
    contact_id uuid,
    at bigint NOT NULL,
    data text NOT NULL,
    -- The order in which they were written.
    place bigint GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (company_id, id)
);

-- The state of rate limits: when each allowance is whole again, in microseconds. Worth nothing
-- after a crash, so it is not logged.
CREATE UNLOGGED TABLE rate_limits (
    key text COLLATE "C" PRIMARY KEY,
    tat bigint NOT NULL
) WITH (fillfactor = 50);

-- Decides one call that uses several allowances: charges all of them, or none. Answers how many
-- microseconds to wait, 0 when the call passes. The keys come in a fixed order, so that two calls
-- cannot wait for each other.
CREATE FUNCTION recado_rate_check(keys text[], intervals bigint[], bursts bigint[], now bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    tats bigint[] := '{}';
    tat bigint;
    wait bigint := 0;
BEGIN
    FOR i IN 1 .. cardinality(keys) LOOP
        LOOP
            SELECT r.tat INTO tat FROM rate_limits r WHERE r.key = keys[i] FOR UPDATE;
            EXIT WHEN FOUND;
            INSERT INTO rate_limits VALUES (keys[i], now) ON CONFLICT DO NOTHING;
        END LOOP;
        -- A state more than two minutes ahead is from a clock that was ahead: it counts as none.
        IF tat > now + 120000000 THEN
            tat := now;
        END IF;
        tat := greatest(tat, now) + intervals[i];
        tats := tats || tat;
        wait := greatest(wait, tat - now - bursts[i]);
    END LOOP;
    IF wait > 0 THEN
        RETURN wait;
    END IF;
    FOR i IN 1 .. cardinality(keys) LOOP
        UPDATE rate_limits r SET tat = tats[i] WHERE r.key = keys[i];
    END LOOP;
    RETURN 0;
END
$$;
