-- Messages that are being sent are found by who sends them: their key begins with that, so that they
-- need one index, not two.
DROP INDEX messages_in_flight_by_sender;
ALTER TABLE messages_in_flight
    DROP CONSTRAINT messages_in_flight_pkey,
    ADD PRIMARY KEY (sender_id, company_id, message_id);

-- Whose sender changes is looked up one by one, whatever the planner estimates.
CREATE OR REPLACE FUNCTION recado_messages_moved() RETURNS trigger LANGUAGE plpgsql AS $$
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
        AND f.sender_id = ANY(ARRAY[b.sender_id])
        AND f.company_id = ANY(ARRAY[b.company_id]) AND f.message_id = ANY(ARRAY[b.id]);
        INSERT INTO messages_in_flight
        SELECT company_id, id, sender_id FROM after WHERE sender_id IS NOT NULL;
    END IF;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION recado_messages_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO message_count_deltas
    SELECT company_id, connection_id, direction, message_type, status, -count(*)
    FROM gone GROUP BY 1, 2, 3, 4, 5;
    DELETE FROM messages_in_flight f USING gone g
    WHERE g.sender_id IS NOT NULL
    AND f.sender_id = ANY(ARRAY[g.sender_id])
    AND f.company_id = ANY(ARRAY[g.company_id]) AND f.message_id = ANY(ARRAY[g.id]);
    RETURN NULL;
END
$$;
