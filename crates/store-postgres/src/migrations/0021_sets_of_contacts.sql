-- Lists, tags and assignees as sets of contacts that are listed and counted as a whole company is,
-- and two more values that the exact filters compare.

-- Whether one of its conversations has unread messages.
ALTER TABLE contacts ADD COLUMN has_unread boolean NOT NULL DEFAULT false;
ALTER TABLE contact_facets
    ADD COLUMN is_assigned boolean NOT NULL DEFAULT false,
    ADD COLUMN has_unread boolean NOT NULL DEFAULT false;
ALTER TABLE contact_facet_deltas
    ADD COLUMN is_assigned boolean NOT NULL DEFAULT false,
    ADD COLUMN has_unread boolean NOT NULL DEFAULT false;

-- Adds to the count of a combination, as in the second migration.
CREATE FUNCTION recado_count_facet(c contacts, difference bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE contact_facet_deltas SET n = n + difference WHERE ctid = (
        SELECT d.ctid FROM contact_facet_deltas d
        WHERE d.company_id = c.company_id AND d.facet = c.facet
        LIMIT 1 FOR UPDATE SKIP LOCKED);
    IF NOT FOUND THEN
        INSERT INTO contact_facet_deltas (company_id, facet, source_platform, inbox_status,
            pipeline_stage_id, crm_status, is_ai_enabled, is_group, is_assigned, has_unread, n)
        VALUES (c.company_id, c.facet, c.source_platform, c.inbox_status, c.pipeline_stage_id,
            c.crm_status, c.is_ai_enabled, c.is_group, c.assigned_to_member_id IS NOT NULL,
            c.has_unread, difference);
    END IF;
END
$$;
CREATE OR REPLACE FUNCTION recado_count_contact() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        PERFORM recado_count_facet(OLD, -1);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        PERFORM recado_count_facet(NEW, 1);
    END IF;
    RETURN NULL;
END
$$;

-- Contacts that are assigned or have unread messages get the key of their new combination. They are
-- counted by statement here, because a trigger would go through all of its own changes each time.
CREATE TEMP TABLE recado_moved ON COMMIT DROP AS
SELECT c.company_id, c.id, c.facet AS old, v.contact_id IS NOT NULL AS has_unread,
    encode(substring(sha256(convert_to(
        c.source_platform || '|' || c.inbox_status || '|' || coalesce(c.pipeline_stage_id::text, '')
            || '|' || c.crm_status || '|' || c.is_ai_enabled::text || '|' || c.is_group::text
            || CASE WHEN c.assigned_to_member_id IS NULL THEN '' ELSE '|assigned' END
            || CASE WHEN v.contact_id IS NULL THEN '' ELSE '|unread' END,
        'UTF8')) FROM 1 FOR 16), 'hex')::uuid AS new
FROM contacts c
LEFT JOIN (SELECT DISTINCT company_id, contact_id FROM conversations WHERE unread > 0) AS v
    ON v.company_id = c.company_id AND v.contact_id = c.id
WHERE c.assigned_to_member_id IS NOT NULL OR v.contact_id IS NOT NULL;
INSERT INTO contact_facet_deltas (company_id, facet, source_platform, inbox_status,
    pipeline_stage_id, crm_status, is_ai_enabled, is_group, n)
SELECT c.company_id, c.facet, c.source_platform, c.inbox_status, c.pipeline_stage_id, c.crm_status,
    c.is_ai_enabled, c.is_group, -count(*)
FROM contacts c JOIN recado_moved m ON m.company_id = c.company_id AND m.id = c.id
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8;
ALTER TABLE contacts DISABLE TRIGGER contact_moved;
UPDATE contacts c SET facet = m.new, has_unread = m.has_unread FROM recado_moved m
WHERE c.company_id = m.company_id AND c.id = m.id;
ALTER TABLE contacts ENABLE TRIGGER contact_moved;
UPDATE contact_search s SET facet = m.new FROM recado_moved m
WHERE s.company_id = m.company_id AND s.contact_id = m.id;
INSERT INTO contact_facet_deltas (company_id, facet, source_platform, inbox_status,
    pipeline_stage_id, crm_status, is_ai_enabled, is_group, is_assigned, has_unread, n)
SELECT c.company_id, c.facet, c.source_platform, c.inbox_status, c.pipeline_stage_id, c.crm_status,
    c.is_ai_enabled, c.is_group, c.assigned_to_member_id IS NOT NULL, c.has_unread, count(*)
FROM contacts c JOIN recado_moved m ON m.company_id = c.company_id AND m.id = c.id
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10;

-- One row for each contact in each of its sets: `kind` is 1 for a list, 2 for a tag, 3 for the
-- member whom it is assigned to. Kept by the triggers below. What the orders of the listing compare
-- is copied, so that a set has both orders for each combination of filtered values.
CREATE TABLE contact_sets (
    company_id uuid NOT NULL,
    contact_id uuid NOT NULL,
    kind smallint NOT NULL,
    set_id uuid NOT NULL,
    facet uuid NOT NULL,
    last_message_at bigint,
    created_at bigint NOT NULL,
    PRIMARY KEY (company_id, contact_id, kind, set_id),
    FOREIGN KEY (company_id, contact_id) REFERENCES contacts ON DELETE CASCADE
) WITH (fillfactor = 85);
INSERT INTO contact_sets
SELECT c.company_id, c.id, 1, m.list_id, c.facet, c.last_message_at, c.created_at
FROM list_members m JOIN contacts c ON c.company_id = m.company_id AND c.id = m.contact_id
UNION ALL
SELECT c.company_id, c.id, 2, t.tag_id, c.facet, c.last_message_at, c.created_at
FROM contact_tags t JOIN contacts c ON c.company_id = t.company_id AND c.id = t.contact_id
UNION ALL
SELECT company_id, id, 3, assigned_to_member_id, facet, last_message_at, created_at
FROM contacts WHERE assigned_to_member_id IS NOT NULL;
CREATE INDEX contact_sets_by_message ON contact_sets
    (company_id, kind, set_id, facet, last_message_at DESC NULLS LAST, contact_id);
CREATE INDEX contact_sets_by_creation ON contact_sets
    (company_id, kind, set_id, facet, created_at, contact_id);

-- How many contacts of a set have a combination: folded counts, and what came since, as for whole
-- companies.
CREATE TABLE contact_set_counts (
    company_id uuid NOT NULL,
    kind smallint NOT NULL,
    set_id uuid NOT NULL,
    facet uuid NOT NULL,
    n bigint NOT NULL,
    PRIMARY KEY (company_id, kind, set_id, facet)
) WITH (fillfactor = 50);
INSERT INTO contact_set_counts
SELECT company_id, kind, set_id, facet, count(*) FROM contact_sets GROUP BY 1, 2, 3, 4;
CREATE TABLE contact_set_count_deltas (
    company_id uuid NOT NULL,
    kind smallint NOT NULL,
    set_id uuid NOT NULL,
    facet uuid NOT NULL,
    n bigint NOT NULL
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
CREATE INDEX contact_set_count_deltas_by_facet ON contact_set_count_deltas
    (company_id, kind, set_id, facet);

CREATE FUNCTION recado_count_in_set(company uuid, set_kind smallint, of_set uuid, of_facet uuid,
    difference bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE contact_set_count_deltas SET n = n + difference WHERE ctid = (
        SELECT d.ctid FROM contact_set_count_deltas d
        WHERE d.company_id = company AND d.kind = set_kind AND d.set_id = of_set
        AND d.facet = of_facet
        LIMIT 1 FOR UPDATE SKIP LOCKED);
    IF NOT FOUND THEN
        INSERT INTO contact_set_count_deltas
        VALUES (company, set_kind, of_set, of_facet, difference);
    END IF;
END
$$;
CREATE FUNCTION recado_count_sets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM recado_count_in_set(k.company_id, k.kind, k.set_id, k.facet,
        CASE TG_OP WHEN 'INSERT' THEN k.n ELSE -k.n END)
    FROM (SELECT company_id, kind, set_id, facet, count(*) AS n FROM changed
        GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4) AS k;
    RETURN NULL;
END
$$;
CREATE TRIGGER contact_sets_joined AFTER INSERT ON contact_sets
    REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION recado_count_sets();
CREATE TRIGGER contact_sets_left AFTER DELETE ON contact_sets
    REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION recado_count_sets();

-- A membership that begins or ends locks its contact, in the order of ids: a contact that is changed
-- at the same time would otherwise be in the set as it was before, or the two would wait for each
-- other. The arguments are the kind of set and the column with its id.
CREATE FUNCTION recado_joined_sets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format(
        'WITH locked AS MATERIALIZED (SELECT c.* FROM contacts c WHERE (c.company_id, c.id) IN
            (SELECT company_id, contact_id FROM changed)
            ORDER BY c.company_id, c.id FOR NO KEY UPDATE)
        INSERT INTO contact_sets
        SELECT c.company_id, c.id, %s, m.%I, c.facet, c.last_message_at, c.created_at
        FROM changed m JOIN locked c ON c.company_id = m.company_id AND c.id = m.contact_id',
        TG_ARGV[0], TG_ARGV[1]);
    RETURN NULL;
END
$$;
CREATE FUNCTION recado_left_sets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format(
        'WITH locked AS MATERIALIZED (SELECT c.company_id, c.id FROM contacts c
            WHERE (c.company_id, c.id) IN (SELECT company_id, contact_id FROM changed)
            ORDER BY c.company_id, c.id FOR NO KEY UPDATE)
        DELETE FROM contact_sets s USING changed m JOIN locked c
            ON c.company_id = m.company_id AND c.id = m.contact_id
        WHERE s.company_id = m.company_id AND s.contact_id = m.contact_id AND s.kind = %s
            AND s.set_id = m.%I',
        TG_ARGV[0], TG_ARGV[1]);
    RETURN NULL;
END
$$;
-- A membership moves to another contact only when contacts are merged, which locks both.
CREATE FUNCTION recado_moved_between_sets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('DELETE FROM contact_sets WHERE company_id = $1.company_id
        AND contact_id = $1.contact_id AND kind = %s AND set_id = $1.%I',
        TG_ARGV[0], TG_ARGV[1]) USING OLD;
    EXECUTE format('INSERT INTO contact_sets SELECT c.company_id, c.id, %s, $1.%I, c.facet,
        c.last_message_at, c.created_at FROM contacts c
        WHERE c.company_id = $1.company_id AND c.id = $1.contact_id FOR NO KEY UPDATE',
        TG_ARGV[0], TG_ARGV[1]) USING NEW;
    RETURN NULL;
END
$$;
CREATE TRIGGER list_members_in_set AFTER INSERT ON list_members REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION recado_joined_sets(1, 'list_id');
CREATE TRIGGER list_members_out_of_set AFTER DELETE ON list_members REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION recado_left_sets(1, 'list_id');
CREATE TRIGGER list_members_reassigned AFTER UPDATE ON list_members
    FOR EACH ROW WHEN (OLD.contact_id <> NEW.contact_id)
    EXECUTE FUNCTION recado_moved_between_sets(1, 'list_id');
CREATE TRIGGER contact_tags_in_set AFTER INSERT ON contact_tags REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION recado_joined_sets(2, 'tag_id');
CREATE TRIGGER contact_tags_out_of_set AFTER DELETE ON contact_tags REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION recado_left_sets(2, 'tag_id');
CREATE TRIGGER contact_tags_reassigned AFTER UPDATE ON contact_tags
    FOR EACH ROW WHEN (OLD.contact_id <> NEW.contact_id)
    EXECUTE FUNCTION recado_moved_between_sets(2, 'tag_id');

CREATE FUNCTION recado_move_in_sets() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    moved record;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF OLD.assigned_to_member_id IS DISTINCT FROM NEW.assigned_to_member_id
            AND OLD.assigned_to_member_id IS NOT NULL THEN
            DELETE FROM contact_sets
            WHERE company_id = NEW.company_id AND contact_id = NEW.id AND kind = 3;
        END IF;
        IF OLD.facet <> NEW.facet THEN
            FOR moved IN UPDATE contact_sets
                SET facet = NEW.facet, last_message_at = NEW.last_message_at
                WHERE company_id = NEW.company_id AND contact_id = NEW.id RETURNING kind, set_id
            LOOP
                PERFORM recado_count_in_set(NEW.company_id, moved.kind, moved.set_id, OLD.facet, -1),
                    recado_count_in_set(NEW.company_id, moved.kind, moved.set_id, NEW.facet, 1);
            END LOOP;
        ELSIF OLD.last_message_at IS DISTINCT FROM NEW.last_message_at THEN
            UPDATE contact_sets SET last_message_at = NEW.last_message_at
            WHERE company_id = NEW.company_id AND contact_id = NEW.id;
        END IF;
        IF OLD.assigned_to_member_id IS NOT DISTINCT FROM NEW.assigned_to_member_id THEN
            RETURN NULL;
        END IF;
    END IF;
    IF NEW.assigned_to_member_id IS NOT NULL THEN
        INSERT INTO contact_sets VALUES (NEW.company_id, NEW.id, 3, NEW.assigned_to_member_id,
            NEW.facet, NEW.last_message_at, NEW.created_at);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER contact_assigned AFTER INSERT ON contacts
    FOR EACH ROW WHEN (NEW.assigned_to_member_id IS NOT NULL)
    EXECUTE FUNCTION recado_move_in_sets();
CREATE TRIGGER contact_moved_in_sets AFTER UPDATE ON contacts
    FOR EACH ROW WHEN (OLD.facet <> NEW.facet
        OR OLD.last_message_at IS DISTINCT FROM NEW.last_message_at
        OR OLD.assigned_to_member_id IS DISTINCT FROM NEW.assigned_to_member_id)
    EXECUTE FUNCTION recado_move_in_sets();

-- For `updated_since`.
CREATE INDEX contacts_by_update ON contacts (company_id, updated_at, facet, id);

-- As the other counts of a company that is gone.
CREATE FUNCTION recado_counts_of_sets_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(8243103962919534594);
    DELETE FROM contact_set_counts WHERE company_id = OLD.id;
    DELETE FROM contact_set_count_deltas WHERE company_id = OLD.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER company_gone_with_counts_of_sets AFTER DELETE ON companies
    FOR EACH ROW EXECUTE FUNCTION recado_counts_of_sets_gone();
