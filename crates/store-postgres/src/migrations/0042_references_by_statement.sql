-- References of rows that are written with every message or contact are checked by statement, not row
-- by row. A row that this transaction has written is not locked once more: nobody else can delete it
-- before this transaction has ended, and whoever deletes it then deletes or finds what refers to it.
-- What follows from messages is written by statement, too.
ALTER TABLE aliases DROP CONSTRAINT aliases_company_id_contact_id_fkey;
ALTER TABLE contact_search DROP CONSTRAINT contact_search_company_id_contact_id_fkey;
ALTER TABLE contact_sets DROP CONSTRAINT contact_sets_company_id_contact_id_fkey;
ALTER TABLE message_refs
    DROP CONSTRAINT message_refs_company_id_connection_id_fkey,
    DROP CONSTRAINT message_refs_company_id_message_id_fkey;
ALTER TABLE messages
    DROP CONSTRAINT messages_company_id_contact_id_fkey,
    DROP CONSTRAINT messages_company_id_connection_id_fkey;

-- An address is rare among contacts of a channel; those without one are in no index of it.
ALTER TABLE contacts DROP CONSTRAINT contact_email;
CREATE UNIQUE INDEX contact_email ON contacts (company_id, email) WHERE email IS NOT NULL;

-- Entries are found by when they were made.
ALTER TABLE audit_entries DROP CONSTRAINT audit_entries_pkey;
DROP INDEX audit_entries_by_time;
ALTER TABLE audit_entries ADD PRIMARY KEY (at, id);

-- Fails unless all of these contacts exist. They are there until this transaction has ended.
CREATE FUNCTION recado_refer_to_contacts(companies uuid[], contacts uuid[], referring text)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT count(*) FROM unnest(companies, contacts) AS r (company_id, contact_id)
        CROSS JOIN LATERAL (SELECT FROM contacts c
            WHERE c.company_id = r.company_id AND c.id = r.contact_id FOR KEY SHARE) AS held)
        < cardinality(contacts) THEN
        RAISE foreign_key_violation
            USING MESSAGE = referring || ' refer to a contact that is missing', TABLE = referring;
    END IF;
END
$$;

-- The same of connections.
CREATE FUNCTION recado_refer_to_connections(companies uuid[], connections uuid[], referring text)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT count(*) FROM unnest(companies, connections) AS r (company_id, connection_id)
        CROSS JOIN LATERAL (SELECT FROM connections c
            WHERE c.company_id = r.company_id AND c.id = r.connection_id FOR KEY SHARE) AS held)
        < cardinality(connections) THEN
        RAISE foreign_key_violation
            USING MESSAGE = referring || ' refer to a connection that is missing', TABLE = referring;
    END IF;
END
$$;

-- The same of messages.
CREATE FUNCTION recado_refer_to_messages(companies uuid[], messages uuid[], referring text)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT count(*) FROM unnest(companies, messages) AS r (company_id, message_id)
        CROSS JOIN LATERAL (SELECT FROM messages m
            WHERE m.company_id = r.company_id AND m.id = r.message_id FOR KEY SHARE) AS held)
        < cardinality(messages) THEN
        RAISE foreign_key_violation
            USING MESSAGE = referring || ' refer to a message that is missing', TABLE = referring;
    END IF;
END
$$;

CREATE FUNCTION recado_aliases_made() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    me CONSTANT xid := pg_current_xact_id()::xid;
    companies uuid[];
    contacts uuid[];
BEGIN
    SELECT array_agg(m.company_id), array_agg(m.contact_id) INTO companies, contacts FROM made m
    WHERE NOT EXISTS (SELECT FROM contacts c WHERE c.company_id = m.company_id
        AND c.id = m.contact_id AND c.xmin = me OFFSET 0);
    IF contacts IS NOT NULL THEN
        PERFORM recado_refer_to_contacts(companies, contacts, 'aliases');
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER aliases_made AFTER INSERT ON aliases
    REFERENCING NEW TABLE AS made
    FOR EACH STATEMENT EXECUTE FUNCTION recado_aliases_made();

CREATE FUNCTION recado_alias_refers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM recado_refer_to_contacts(ARRAY[NEW.company_id], ARRAY[NEW.contact_id], 'aliases');
    RETURN NULL;
END
$$;
CREATE TRIGGER alias_refers AFTER UPDATE ON aliases
    FOR EACH ROW WHEN (OLD.company_id <> NEW.company_id OR OLD.contact_id <> NEW.contact_id)
    EXECUTE FUNCTION recado_alias_refers();

-- A conversation that this transaction has written refers to its connection.
CREATE OR REPLACE FUNCTION recado_messages_made() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    me CONSTANT xid := pg_current_xact_id()::xid;
    companies uuid[];
    contacts uuid[];
    connections uuid[];
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
    INSERT INTO message_count_deltas
    SELECT company_id, connection_id, direction, message_type, status, count(*)
    FROM made GROUP BY 1, 2, 3, 4, 5;
    IF EXISTS (SELECT FROM made WHERE sender_id IS NOT NULL) THEN
        INSERT INTO messages_in_flight
        SELECT company_id, id, sender_id FROM made WHERE sender_id IS NOT NULL;
    END IF;
    IF EXISTS (SELECT FROM made
        WHERE status = 'sent' AND direction = 'outbound' AND NOT is_history) THEN
        INSERT INTO messages_left_sent SELECT created_at, company_id, id FROM made
        WHERE status = 'sent' AND direction = 'outbound' AND NOT is_history;
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION recado_message_refers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM contacts c
    WHERE c.company_id = NEW.company_id AND c.id = NEW.contact_id FOR KEY SHARE;
    IF NOT FOUND THEN
        RAISE foreign_key_violation
            USING MESSAGE = 'messages refer to a contact that is missing', TABLE = 'messages';
    END IF;
    IF NEW.connection_id <> OLD.connection_id THEN
        PERFORM recado_refer_to_connections(
            ARRAY[NEW.company_id], ARRAY[NEW.connection_id], 'messages');
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER message_refers AFTER UPDATE ON messages
    FOR EACH ROW WHEN (OLD.company_id <> NEW.company_id OR OLD.contact_id <> NEW.contact_id
        OR OLD.connection_id <> NEW.connection_id)
    EXECUTE FUNCTION recado_message_refers();

-- Whose sender changes is looked up one by one, whatever the planner estimates.
CREATE OR REPLACE FUNCTION recado_messages_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO message_count_deltas
    SELECT company_id, connection_id, direction, message_type, status, sum(n) FROM (
        SELECT company_id, connection_id, direction, message_type, status, -1 AS n FROM before
        UNION ALL
        SELECT company_id, connection_id, direction, message_type, status, 1 FROM after
    ) AS moved GROUP BY 1, 2, 3, 4, 5 HAVING sum(n) <> 0;
    IF EXISTS (SELECT FROM before WHERE sender_id IS NOT NULL) THEN
        DELETE FROM messages_in_flight f USING before b
        WHERE b.sender_id IS NOT NULL
        AND f.sender_id = ANY(ARRAY[b.sender_id])
        AND f.company_id = ANY(ARRAY[b.company_id]) AND f.message_id = ANY(ARRAY[b.id]);
    END IF;
    IF EXISTS (SELECT FROM after WHERE sender_id IS NOT NULL) THEN
        INSERT INTO messages_in_flight
        SELECT company_id, id, sender_id FROM after WHERE sender_id IS NOT NULL;
    END IF;
    IF EXISTS (SELECT FROM before
        WHERE status = 'sent' AND direction = 'outbound' AND NOT is_history) THEN
        DELETE FROM messages_left_sent s USING (
            SELECT created_at, company_id, id FROM before
            WHERE status = 'sent' AND direction = 'outbound' AND NOT is_history
            EXCEPT
            SELECT created_at, company_id, id FROM after
            WHERE status = 'sent' AND direction = 'outbound' AND NOT is_history
        ) AS b
        WHERE s.created_at = ANY(ARRAY[b.created_at])
        AND s.company_id = ANY(ARRAY[b.company_id]) AND s.message_id = ANY(ARRAY[b.id]);
    END IF;
    IF EXISTS (SELECT FROM after
        WHERE status = 'sent' AND direction = 'outbound' AND NOT is_history) THEN
        INSERT INTO messages_left_sent
        SELECT created_at, company_id, id FROM after
        WHERE status = 'sent' AND direction = 'outbound' AND NOT is_history
        EXCEPT
        SELECT created_at, company_id, id FROM before
        WHERE status = 'sent' AND direction = 'outbound' AND NOT is_history;
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
    DELETE FROM messages_left_sent s USING gone g
    WHERE g.status = 'sent' AND g.direction = 'outbound' AND NOT g.is_history
    AND s.created_at = ANY(ARRAY[g.created_at])
    AND s.company_id = ANY(ARRAY[g.company_id]) AND s.message_id = ANY(ARRAY[g.id]);
    DELETE FROM message_texts t USING gone g
    WHERE t.company_id = ANY(ARRAY[g.company_id])
    AND t.created_at = ANY(ARRAY[g.created_at]) AND t.message_id = ANY(ARRAY[g.id]);
    DELETE FROM message_refs r USING gone g
    WHERE r.company_id = ANY(ARRAY[g.company_id]) AND r.message_id = ANY(ARRAY[g.id]);
    RETURN NULL;
END
$$;
DROP TRIGGER message_made_sent ON messages;
DROP TRIGGER message_becomes_sent ON messages;
DROP TRIGGER message_gone_sent ON messages;
DROP TRIGGER message_gone_with_text ON messages;
DROP FUNCTION recado_note_sent();

-- A message of the same connection that this transaction has written refers to it.
CREATE FUNCTION recado_message_refs_made() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    me CONSTANT xid := pg_current_xact_id()::xid;
    companies uuid[];
    messages uuid[];
    connections uuid[];
BEGIN
    SELECT array_agg(m.company_id), array_agg(m.message_id) INTO companies, messages FROM made m
    WHERE m.message_id IS NOT NULL AND NOT EXISTS (SELECT FROM messages t
        WHERE t.company_id = m.company_id AND t.id = m.message_id
        AND t.xmin = me OFFSET 0);
    IF messages IS NOT NULL THEN
        PERFORM recado_refer_to_messages(companies, messages, 'message_refs');
    END IF;
    SELECT array_agg(r.company_id), array_agg(r.connection_id) INTO companies, connections
    FROM (SELECT DISTINCT m.company_id, m.connection_id FROM made m
        -- Found by the key alone: by the connection, too, an index of all its messages would be read
        -- for each, where the statistics are older than the messages.
        WHERE NOT EXISTS (SELECT FROM (SELECT t.connection_id FROM messages t
                WHERE t.company_id = m.company_id AND t.id = m.message_id
                AND t.xmin = me OFFSET 0) AS t
            WHERE t.connection_id = m.connection_id)) AS r;
    IF connections IS NOT NULL THEN
        PERFORM recado_refer_to_connections(companies, connections, 'message_refs');
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER message_refs_made AFTER INSERT ON message_refs
    REFERENCING NEW TABLE AS made
    FOR EACH STATEMENT EXECUTE FUNCTION recado_message_refs_made();

CREATE FUNCTION recado_message_ref_refers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.message_id IS NOT NULL THEN
        PERFORM recado_refer_to_messages(
            ARRAY[NEW.company_id], ARRAY[NEW.message_id], 'message_refs');
    END IF;
    PERFORM recado_refer_to_connections(
        ARRAY[NEW.company_id], ARRAY[NEW.connection_id], 'message_refs');
    RETURN NULL;
END
$$;
CREATE TRIGGER message_ref_refers AFTER UPDATE ON message_refs
    FOR EACH ROW WHEN (OLD.company_id <> NEW.company_id OR OLD.connection_id <> NEW.connection_id
        OR OLD.message_id IS DISTINCT FROM NEW.message_id)
    EXECUTE FUNCTION recado_message_ref_refers();

-- A connection that messages went through stays.
CREATE FUNCTION recado_connections_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM gone g WHERE EXISTS (SELECT FROM messages m
        WHERE m.company_id = g.company_id AND m.connection_id = g.id OFFSET 0)) THEN
        RAISE foreign_key_violation
            USING MESSAGE = 'messages refer to the connection', TABLE = 'connections';
    END IF;
    DELETE FROM message_refs r USING gone g
    WHERE r.company_id = ANY(ARRAY[g.company_id]) AND r.connection_id = ANY(ARRAY[g.id]);
    RETURN NULL;
END
$$;
CREATE TRIGGER connections_gone AFTER DELETE ON connections
    REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION recado_connections_gone();

-- What refers to contacts and has no foreign key to them.
CREATE FUNCTION recado_contacts_left() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM messages m USING gone g
    WHERE m.company_id = ANY(ARRAY[g.company_id]) AND m.contact_id = ANY(ARRAY[g.id]);
    DELETE FROM aliases a USING gone g
    WHERE a.company_id = ANY(ARRAY[g.company_id]) AND a.contact_id = ANY(ARRAY[g.id]);
    DELETE FROM contact_sets s USING gone g
    WHERE s.company_id = ANY(ARRAY[g.company_id]) AND s.contact_id = ANY(ARRAY[g.id]);
    DELETE FROM contact_search t USING gone g
    WHERE t.company_id = ANY(ARRAY[g.company_id]) AND t.contact_id = ANY(ARRAY[g.id]);
    RETURN NULL;
END
$$;
CREATE TRIGGER contacts_left AFTER DELETE ON contacts
    REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION recado_contacts_left();
