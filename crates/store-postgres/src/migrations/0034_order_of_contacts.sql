-- Where each contact is in the orders by last message: that of its company, that of its combination
-- of filtered values, and that of the connection of its last message. A message moves this narrow
-- row; the contact is then replaced in place, because no index of contacts holds what a message
-- changes. Rows are found by the order of the company, so that they need no key of their own. All
-- that follows from contacts is now written by statement.
CREATE TABLE contact_orders (
    company_id uuid NOT NULL,
    contact_id uuid NOT NULL,
    facet uuid NOT NULL,
    connection_id uuid,
    last_message_at bigint
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
INSERT INTO contact_orders
SELECT company_id, id, facet, last_connection_id, last_message_at FROM contacts;
CREATE UNIQUE INDEX contact_orders_by_message
    ON contact_orders (company_id, last_message_at DESC NULLS LAST, contact_id);
CREATE INDEX contact_orders_by_facet
    ON contact_orders (company_id, facet, last_message_at DESC NULLS LAST, contact_id);
CREATE INDEX contact_orders_by_connection
    ON contact_orders (company_id, connection_id, facet, last_message_at DESC NULLS LAST, contact_id)
    WHERE connection_id IS NOT NULL;
DROP INDEX contacts_by_message;
DROP INDEX contacts_by_facet_message;
DROP INDEX contacts_by_last_connection;
CREATE INDEX contacts_by_last_connection
    ON contacts (company_id, last_connection_id, facet, created_at, id)
    WHERE last_connection_id IS NOT NULL;

DROP TRIGGER contact_added_or_gone ON contacts;
DROP TRIGGER contact_assigned ON contacts;
DROP TRIGGER contact_moved ON contacts;
DROP TRIGGER contact_moved_in_sets ON contacts;
DROP TRIGGER contact_opt_out_changed ON contacts;
DROP TRIGGER contact_opted_out ON contacts;
DROP TRIGGER contact_reached ON contacts;
DROP TRIGGER contact_reached_otherwise ON contacts;
DROP FUNCTION recado_count_contact();
DROP FUNCTION recado_count_facet(contacts, bigint);
DROP FUNCTION recado_move_in_sets();
DROP FUNCTION recado_opt_out_in_sets();
DROP FUNCTION recado_connection_in_sets();

-- The contacts of a connection are no longer rows of their own; their counts stay.
DROP TRIGGER contact_sets_left ON contact_sets;
DELETE FROM contact_sets WHERE kind = 5;
CREATE TRIGGER contact_sets_left AFTER DELETE ON contact_sets
    REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION recado_count_sets();

-- Adds a difference to the number of contacts of a combination.
CREATE FUNCTION recado_count_facet(d contact_facet_deltas) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE contact_facet_deltas SET n = n + d.n WHERE ctid = (
        SELECT k.ctid FROM contact_facet_deltas k
        WHERE k.company_id = d.company_id AND k.facet = d.facet
        LIMIT 1 FOR UPDATE SKIP LOCKED);
    IF NOT FOUND THEN
        INSERT INTO contact_facet_deltas VALUES (d.*);
    END IF;
END
$$;

CREATE FUNCTION recado_contacts_made() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO contact_orders
    SELECT company_id, id, facet, last_connection_id, last_message_at FROM after;
    PERFORM recado_count_facet(k::contact_facet_deltas)
    FROM (SELECT company_id, facet, source_platform, inbox_status, pipeline_stage_id, crm_status,
            is_ai_enabled, is_group, sum(n)::bigint, assigned_to_member_id IS NOT NULL, has_unread
        FROM (SELECT *, 1 AS n FROM after) AS m GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 10, 11
        HAVING sum(n) <> 0 ORDER BY 1, 2) AS k;
    PERFORM recado_count_in_set(k.company_id, 5::smallint, k.last_connection_id, k.facet, k.n)
    FROM (SELECT company_id, last_connection_id, facet, sum(n)::bigint AS n
        FROM (SELECT *, 1 AS n FROM after) AS m WHERE last_connection_id IS NOT NULL GROUP BY 1, 2, 3
        HAVING sum(n) <> 0 ORDER BY 1, 2, 3) AS k;
    IF EXISTS (SELECT FROM after
        WHERE assigned_to_member_id IS NOT NULL OR opted_out_at IS NOT NULL) THEN
        INSERT INTO contact_sets
        SELECT company_id, id, 3, assigned_to_member_id, facet, last_message_at, created_at
        FROM after WHERE assigned_to_member_id IS NOT NULL
        UNION ALL
        SELECT company_id, id, 4, company_id, facet, last_message_at, created_at
        FROM after WHERE opted_out_at IS NOT NULL;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER contacts_made AFTER INSERT ON contacts
    REFERENCING NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION recado_contacts_made();

-- Contacts are looked up one by one, whatever the planner estimates: their rows of now, and of each
-- its rows elsewhere.
CREATE FUNCTION recado_contacts_moved() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    is_filtered boolean;
    is_ordered boolean;
    is_reached boolean;
    is_given boolean;
    is_opted boolean;
    was_silent boolean;
BEGIN
    SELECT bool_or(b.facet <> c.facet),
        bool_or(b.last_message_at IS DISTINCT FROM c.last_message_at),
        bool_or(b.last_connection_id IS DISTINCT FROM c.last_connection_id),
        bool_or(b.assigned_to_member_id IS DISTINCT FROM c.assigned_to_member_id),
        bool_or((b.opted_out_at IS NULL) <> (c.opted_out_at IS NULL)),
        bool_or(b.last_message_at IS NULL)
    INTO is_filtered, is_ordered, is_reached, is_given, is_opted, was_silent
    FROM before b JOIN contacts c
        ON c.company_id = ANY(ARRAY[b.company_id]) AND c.id = ANY(ARRAY[b.id]);
    IF is_filtered OR is_ordered OR is_reached THEN
        UPDATE contact_orders o SET facet = c.facet, connection_id = c.last_connection_id,
            last_message_at = c.last_message_at
        FROM before b JOIN contacts c
            ON c.company_id = ANY(ARRAY[b.company_id]) AND c.id = ANY(ARRAY[b.id])
        WHERE o.company_id = ANY(ARRAY[b.company_id]) AND o.contact_id = ANY(ARRAY[b.id])
            AND o.last_message_at = ANY(ARRAY[b.last_message_at])
            AND (b.facet, b.last_message_at, b.last_connection_id)
                IS DISTINCT FROM (c.facet, c.last_message_at, c.last_connection_id);
        IF was_silent THEN
            UPDATE contact_orders o SET facet = c.facet, connection_id = c.last_connection_id,
                last_message_at = c.last_message_at
            FROM before b JOIN contacts c
                ON c.company_id = ANY(ARRAY[b.company_id]) AND c.id = ANY(ARRAY[b.id])
            WHERE b.last_message_at IS NULL AND o.last_message_at IS NULL
                AND o.company_id = ANY(ARRAY[b.company_id]) AND o.contact_id = ANY(ARRAY[b.id])
                AND (b.facet, b.last_message_at, b.last_connection_id)
                    IS DISTINCT FROM (c.facet, c.last_message_at, c.last_connection_id);
        END IF;
    END IF;
    IF is_given OR is_opted THEN
        DELETE FROM contact_sets s USING before b JOIN contacts c
            ON c.company_id = ANY(ARRAY[b.company_id]) AND c.id = ANY(ARRAY[b.id])
        WHERE s.company_id = ANY(ARRAY[b.company_id]) AND s.contact_id = ANY(ARRAY[b.id])
            AND (s.kind = 3 AND s.set_id IS DISTINCT FROM c.assigned_to_member_id
                OR s.kind = 4 AND c.opted_out_at IS NULL);
    END IF;
    IF is_filtered THEN
        PERFORM recado_count_facet(k::contact_facet_deltas)
        FROM (SELECT company_id, facet, source_platform, inbox_status, pipeline_stage_id, crm_status,
                is_ai_enabled, is_group, sum(n)::bigint, assigned_to_member_id IS NOT NULL, has_unread
            FROM (SELECT *, -1 AS n FROM before UNION ALL SELECT *, 1 FROM after) AS m GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 10, 11
            HAVING sum(n) <> 0 ORDER BY 1, 2) AS k;
        PERFORM recado_count_in_set(k.company_id, k.kind, k.set_id, k.facet, k.n)
        FROM (SELECT s.company_id, s.kind, s.set_id, u.facet, sum(u.n)::bigint AS n
            FROM before b JOIN contacts c
                ON c.company_id = ANY(ARRAY[b.company_id]) AND c.id = ANY(ARRAY[b.id])
            JOIN contact_sets s
                ON s.company_id = ANY(ARRAY[b.company_id]) AND s.contact_id = ANY(ARRAY[b.id])
            CROSS JOIN LATERAL (VALUES (s.facet, -1), (c.facet, 1)) AS u (facet, n)
            GROUP BY 1, 2, 3, 4 HAVING sum(u.n) <> 0 ORDER BY 1, 2, 3, 4) AS k;
    END IF;
    IF is_filtered OR is_reached THEN
        PERFORM recado_count_in_set(k.company_id, 5::smallint, k.last_connection_id, k.facet, k.n)
        FROM (SELECT company_id, last_connection_id, facet, sum(n)::bigint AS n
            FROM (SELECT *, -1 AS n FROM before UNION ALL SELECT *, 1 FROM after) AS m WHERE last_connection_id IS NOT NULL GROUP BY 1, 2, 3
            HAVING sum(n) <> 0 ORDER BY 1, 2, 3) AS k;
    END IF;
    IF is_filtered OR is_ordered THEN
        UPDATE contact_sets s SET facet = c.facet, last_message_at = c.last_message_at
        FROM before b JOIN contacts c
            ON c.company_id = ANY(ARRAY[b.company_id]) AND c.id = ANY(ARRAY[b.id])
        WHERE s.company_id = ANY(ARRAY[b.company_id]) AND s.contact_id = ANY(ARRAY[b.id])
            AND (s.facet, s.last_message_at) IS DISTINCT FROM (c.facet, c.last_message_at);
    END IF;
    IF is_given THEN
        INSERT INTO contact_sets
        SELECT c.company_id, c.id, 3, c.assigned_to_member_id, c.facet, c.last_message_at, c.created_at
        FROM before b JOIN contacts c
            ON c.company_id = ANY(ARRAY[b.company_id]) AND c.id = ANY(ARRAY[b.id])
        WHERE c.assigned_to_member_id IS NOT NULL
            AND b.assigned_to_member_id IS DISTINCT FROM c.assigned_to_member_id;
    END IF;
    IF is_opted THEN
        INSERT INTO contact_sets
        SELECT c.company_id, c.id, 4, c.company_id, c.facet, c.last_message_at, c.created_at
        FROM before b JOIN contacts c
            ON c.company_id = ANY(ARRAY[b.company_id]) AND c.id = ANY(ARRAY[b.id])
        WHERE c.opted_out_at IS NOT NULL AND b.opted_out_at IS NULL;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER contacts_moved AFTER UPDATE ON contacts
    REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION recado_contacts_moved();

CREATE FUNCTION recado_contacts_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM contact_orders o USING before b
    WHERE o.company_id = ANY(ARRAY[b.company_id]) AND o.contact_id = ANY(ARRAY[b.id])
        AND o.last_message_at = ANY(ARRAY[b.last_message_at]);
    IF EXISTS (SELECT FROM before WHERE last_message_at IS NULL) THEN
        DELETE FROM contact_orders o USING before b
        WHERE b.last_message_at IS NULL AND o.last_message_at IS NULL
            AND o.company_id = ANY(ARRAY[b.company_id]) AND o.contact_id = ANY(ARRAY[b.id]);
    END IF;
    PERFORM recado_count_facet(k::contact_facet_deltas)
    FROM (SELECT company_id, facet, source_platform, inbox_status, pipeline_stage_id, crm_status,
            is_ai_enabled, is_group, sum(n)::bigint, assigned_to_member_id IS NOT NULL, has_unread
        FROM (SELECT *, -1 AS n FROM before) AS m GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 10, 11
        HAVING sum(n) <> 0 ORDER BY 1, 2) AS k;
    PERFORM recado_count_in_set(k.company_id, 5::smallint, k.last_connection_id, k.facet, k.n)
    FROM (SELECT company_id, last_connection_id, facet, sum(n)::bigint AS n
        FROM (SELECT *, -1 AS n FROM before) AS m WHERE last_connection_id IS NOT NULL GROUP BY 1, 2, 3
        HAVING sum(n) <> 0 ORDER BY 1, 2, 3) AS k;
    RETURN NULL;
END
$$;
CREATE TRIGGER contacts_gone AFTER DELETE ON contacts
    REFERENCING OLD TABLE AS before
    FOR EACH STATEMENT EXECUTE FUNCTION recado_contacts_gone();
