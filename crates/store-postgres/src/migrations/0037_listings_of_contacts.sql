-- Where each contact is in the orders that a message leaves alone: those of its combination of
-- filtered values and of its last connection by creation, and that of its company by last change.
-- An unread message, the first one through a connection and a change by a caller move this narrow row;
-- the contact is replaced in place. Rows are found by their order, so that they need no key.
CREATE TABLE contact_listings (
    company_id uuid NOT NULL,
    contact_id uuid NOT NULL,
    facet uuid NOT NULL,
    connection_id uuid,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
-- The indexes go first: that locks the contacts until the end of this transaction.
DROP INDEX contacts_by_facet_creation;
DROP INDEX contacts_by_last_connection;
DROP INDEX contacts_by_update;
INSERT INTO contact_listings
SELECT company_id, id, facet, last_connection_id, created_at, updated_at FROM contacts;
CREATE INDEX contact_listings_by_creation
    ON contact_listings (company_id, facet, created_at, contact_id);
CREATE INDEX contact_listings_by_connection
    ON contact_listings (company_id, connection_id, facet, created_at, contact_id)
    WHERE connection_id IS NOT NULL;
CREATE INDEX contact_listings_by_update
    ON contact_listings (company_id, updated_at, facet, contact_id);

CREATE OR REPLACE FUNCTION recado_contacts_made() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO contact_orders
    SELECT company_id, id, facet, last_connection_id, last_message_at FROM after;
    INSERT INTO contact_listings
    SELECT company_id, id, facet, last_connection_id, created_at, updated_at FROM after;
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

CREATE OR REPLACE FUNCTION recado_contacts_moved() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    is_filtered boolean;
    is_ordered boolean;
    is_reached boolean;
    is_renewed boolean;
    is_given boolean;
    is_opted boolean;
    was_silent boolean;
BEGIN
    SELECT bool_or(b.facet <> c.facet),
        bool_or(b.last_message_at IS DISTINCT FROM c.last_message_at),
        bool_or(b.last_connection_id IS DISTINCT FROM c.last_connection_id),
        bool_or((b.created_at, b.updated_at) <> (c.created_at, c.updated_at)),
        bool_or(b.assigned_to_member_id IS DISTINCT FROM c.assigned_to_member_id),
        bool_or((b.opted_out_at IS NULL) <> (c.opted_out_at IS NULL)),
        bool_or(b.last_message_at IS NULL)
    INTO is_filtered, is_ordered, is_reached, is_renewed, is_given, is_opted, was_silent
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
    IF is_filtered OR is_reached OR is_renewed THEN
        UPDATE contact_listings l SET facet = c.facet, connection_id = c.last_connection_id,
            created_at = c.created_at, updated_at = c.updated_at
        FROM before b JOIN contacts c
            ON c.company_id = ANY(ARRAY[b.company_id]) AND c.id = ANY(ARRAY[b.id])
        WHERE l.company_id = ANY(ARRAY[b.company_id]) AND l.facet = ANY(ARRAY[b.facet])
            AND l.created_at = ANY(ARRAY[b.created_at]) AND l.contact_id = ANY(ARRAY[b.id])
            AND (b.facet, b.last_connection_id, b.created_at, b.updated_at)
                IS DISTINCT FROM (c.facet, c.last_connection_id, c.created_at, c.updated_at);
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

CREATE OR REPLACE FUNCTION recado_contacts_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM contact_orders o USING before b
    WHERE o.company_id = ANY(ARRAY[b.company_id]) AND o.contact_id = ANY(ARRAY[b.id])
        AND o.last_message_at = ANY(ARRAY[b.last_message_at]);
    DELETE FROM contact_listings l USING before b
    WHERE l.company_id = ANY(ARRAY[b.company_id]) AND l.facet = ANY(ARRAY[b.facet])
        AND l.created_at = ANY(ARRAY[b.created_at]) AND l.contact_id = ANY(ARRAY[b.id]);
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
