-- What follows from messages is written by statement: many that are written together make one
-- difference of a count. Messages that a process is sending have a table of their own, so that
-- recording what became of one changes no index of messages.
CREATE TABLE messages_in_flight_now (
    company_id uuid NOT NULL,
    message_id uuid NOT NULL,
    sender_id uuid NOT NULL,
    PRIMARY KEY (company_id, message_id)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
INSERT INTO messages_in_flight_now
SELECT company_id, id, sender_id FROM messages WHERE sender_id IS NOT NULL;
DROP INDEX messages_in_flight;
ALTER TABLE messages_in_flight_now RENAME TO messages_in_flight;
ALTER INDEX messages_in_flight_now_pkey RENAME TO messages_in_flight_pkey;
CREATE INDEX messages_in_flight_by_sender ON messages_in_flight (sender_id);

DROP TRIGGER message_added ON messages;
DROP TRIGGER message_moved ON messages;
DROP TRIGGER messages_gone ON messages;
DROP FUNCTION recado_count_message();
DROP FUNCTION recado_count_gone_messages();

CREATE FUNCTION recado_messages_made() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO message_count_deltas
    SELECT company_id, connection_id, direction, message_type, status, count(*)
    FROM made GROUP BY 1, 2, 3, 4, 5;
    INSERT INTO messages_in_flight
    SELECT company_id, id, sender_id FROM made WHERE sender_id IS NOT NULL;
    RETURN NULL;
END
$$;
CREATE TRIGGER messages_made AFTER INSERT ON messages
    REFERENCING NEW TABLE AS made
    FOR EACH STATEMENT EXECUTE FUNCTION recado_messages_made();

-- Whose sender changes is looked up one by one, whatever the planner estimates.
CREATE FUNCTION recado_messages_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO message_count_deltas
    SELECT company_id, connection_id, direction, message_type, status, sum(n) FROM (
        SELECT company_id, connection_id, direction, message_type, status, -1 AS n FROM before
        UNION ALL
        SELECT company_id, connection_id, direction, message_type, status, 1 FROM after
    ) AS moved GROUP BY 1, 2, 3, 4, 5 HAVING sum(n) <> 0;
    IF EXISTS (SELECT FROM before WHERE sender_id IS NOT NULL)
        OR EXISTS (SELECT FROM after WHERE sender_id IS NOT NULL) THEN
        DELETE FROM messages_in_flight f USING before b
        WHERE b.sender_id IS NOT NULL
        AND f.company_id = ANY(ARRAY[b.company_id]) AND f.message_id = ANY(ARRAY[b.id]);
        INSERT INTO messages_in_flight
        SELECT company_id, id, sender_id FROM after WHERE sender_id IS NOT NULL;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER messages_moved AFTER UPDATE ON messages
    REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION recado_messages_moved();

CREATE FUNCTION recado_messages_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO message_count_deltas
    SELECT company_id, connection_id, direction, message_type, status, -count(*)
    FROM gone GROUP BY 1, 2, 3, 4, 5;
    DELETE FROM messages_in_flight f USING gone g
    WHERE g.sender_id IS NOT NULL
    AND f.company_id = ANY(ARRAY[g.company_id]) AND f.message_id = ANY(ARRAY[g.id]);
    RETURN NULL;
END
$$;
CREATE TRIGGER messages_gone AFTER DELETE ON messages
    REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION recado_messages_gone();
