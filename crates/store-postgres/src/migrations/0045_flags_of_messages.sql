-- What a statement did to messages is looked at once, and only what follows from that is written.
CREATE OR REPLACE FUNCTION recado_messages_made() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    me CONSTANT xid := pg_current_xact_id()::xid;
    companies uuid[];
    contacts uuid[];
    connections uuid[];
    is_sending boolean;
    is_left boolean;
BEGIN
    SELECT array_agg(m.company_id), array_agg(m.contact_id) INTO companies, contacts FROM made m
    WHERE NOT EXISTS (SELECT FROM contacts c WHERE c.company_id = m.company_id
        AND c.id = m.contact_id AND c.xmin = me OFFSET 0);
    IF contacts IS NOT NULL THEN
        PERFORM recado_refer_to_contacts(companies, contacts, 'messages');
    END IF;
    SELECT array_agg(r.company_id), array_agg(r.connection_id) INTO companies, connections
    FROM (SELECT DISTINCT m.company_id, m.connection_id FROM made m
        WHERE NOT EXISTS (SELECT FROM conversations v WHERE v.company_id = m.company_id
            AND v.contact_id = m.contact_id AND v.connection_id = m.connection_id
            AND v.xmin = me OFFSET 0)) AS r;
    IF connections IS NOT NULL THEN
        PERFORM recado_refer_to_connections(companies, connections, 'messages');
    END IF;
    SELECT bool_or(sender_id IS NOT NULL),
        bool_or(status = 'sent' AND direction = 'outbound' AND NOT is_history)
    INTO is_sending, is_left FROM made;
    INSERT INTO message_count_deltas
    SELECT company_id, connection_id, direction, message_type, status, count(*)
    FROM made GROUP BY 1, 2, 3, 4, 5;
    IF is_sending THEN
        INSERT INTO messages_in_flight
        SELECT company_id, id, sender_id FROM made WHERE sender_id IS NOT NULL;
    END IF;
    IF is_left THEN
        INSERT INTO messages_left_sent SELECT created_at, company_id, id FROM made
        WHERE status = 'sent' AND direction = 'outbound' AND NOT is_history;
    END IF;
    RETURN NULL;
END
$$;

-- Whose sender changes is looked up one by one, whatever the planner estimates.
CREATE OR REPLACE FUNCTION recado_messages_moved() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    was_sending boolean;
    is_sending boolean;
    was_left boolean;
    is_left boolean;
BEGIN
    SELECT b.sending, b.left_sent, a.sending, a.left_sent
    INTO was_sending, was_left, is_sending, is_left
    FROM (SELECT bool_or(sender_id IS NOT NULL) AS sending,
            bool_or(status = 'sent' AND direction = 'outbound' AND NOT is_history) AS left_sent
        FROM before) AS b
    CROSS JOIN (SELECT bool_or(sender_id IS NOT NULL) AS sending,
            bool_or(status = 'sent' AND direction = 'outbound' AND NOT is_history) AS left_sent
        FROM after) AS a;
    INSERT INTO message_count_deltas
    SELECT company_id, connection_id, direction, message_type, status, sum(n) FROM (
        SELECT company_id, connection_id, direction, message_type, status, -1 AS n FROM before
        UNION ALL
        SELECT company_id, connection_id, direction, message_type, status, 1 FROM after
    ) AS moved GROUP BY 1, 2, 3, 4, 5 HAVING sum(n) <> 0;
    IF was_sending THEN
        DELETE FROM messages_in_flight f USING before b
        WHERE b.sender_id IS NOT NULL
        AND f.sender_id = ANY(ARRAY[b.sender_id])
        AND f.company_id = ANY(ARRAY[b.company_id]) AND f.message_id = ANY(ARRAY[b.id]);
    END IF;
    IF is_sending THEN
        INSERT INTO messages_in_flight
        SELECT company_id, id, sender_id FROM after WHERE sender_id IS NOT NULL;
    END IF;
    IF was_left AND is_left THEN
        -- Those that stay keep their rows.
        DELETE FROM messages_left_sent s USING (
            SELECT created_at, company_id, id FROM before
            WHERE status = 'sent' AND direction = 'outbound' AND NOT is_history
            EXCEPT
            SELECT created_at, company_id, id FROM after
            WHERE status = 'sent' AND direction = 'outbound' AND NOT is_history
        ) AS b
        WHERE s.created_at = ANY(ARRAY[b.created_at])
        AND s.company_id = ANY(ARRAY[b.company_id]) AND s.message_id = ANY(ARRAY[b.id]);
        INSERT INTO messages_left_sent
        SELECT created_at, company_id, id FROM after
        WHERE status = 'sent' AND direction = 'outbound' AND NOT is_history
        EXCEPT
        SELECT created_at, company_id, id FROM before
        WHERE status = 'sent' AND direction = 'outbound' AND NOT is_history;
    ELSIF was_left THEN
        DELETE FROM messages_left_sent s USING before b
        WHERE b.status = 'sent' AND b.direction = 'outbound' AND NOT b.is_history
        AND s.created_at = ANY(ARRAY[b.created_at])
        AND s.company_id = ANY(ARRAY[b.company_id]) AND s.message_id = ANY(ARRAY[b.id]);
    ELSIF is_left THEN
        INSERT INTO messages_left_sent SELECT created_at, company_id, id FROM after
        WHERE status = 'sent' AND direction = 'outbound' AND NOT is_history;
    END IF;
    RETURN NULL;
END
$$;
