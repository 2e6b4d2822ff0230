ALTER TABLE templates
    -- What the provider calls it.
    ADD COLUMN provider_id text,
    ADD COLUMN is_complex boolean NOT NULL DEFAULT false;

-- Gateways name a connection and no company.
CREATE INDEX connections_by_id ON connections (id, company_id);

-- What gateways tell and nobody understands, by kind.
CREATE TABLE unknown_kinds (
    company_id uuid NOT NULL,
    connection_id uuid NOT NULL,
    kind text COLLATE "C" NOT NULL,
    shape jsonb NOT NULL,
    seen bigint NOT NULL,
    first_at bigint NOT NULL,
    last_at bigint NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (company_id, connection_id, kind),
    FOREIGN KEY (company_id, connection_id) REFERENCES connections ON DELETE CASCADE
) WITH (fillfactor = 80);
CREATE INDEX unknown_kinds_by_time ON unknown_kinds (last_at);

-- What was told of a contact and is erased: it follows a contact that is merged.
CREATE INDEX events_erased_by_contact ON events (company_id, contact_id)
    WHERE contact_id IS NOT NULL AND data IS NULL;

-- Outbound messages that are sent and no further. This could be an index of messages, but for one
-- thing: every status report would then write to all of them. As a table it costs a report one row.
-- It is read by time, over all companies, and follows from messages.
CREATE TABLE messages_left_sent (
    created_at bigint NOT NULL,
    company_id uuid NOT NULL,
    message_id uuid NOT NULL,
    PRIMARY KEY (created_at, company_id, message_id)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

CREATE FUNCTION recado_note_sent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM messages_left_sent s WHERE s.created_at = OLD.created_at
            AND s.company_id = OLD.company_id AND s.message_id = OLD.id;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        IF NEW.status = 'sent' AND NEW.direction = 'outbound' AND NOT NEW.is_history THEN
            INSERT INTO messages_left_sent VALUES (NEW.created_at, NEW.company_id, NEW.id);
        END IF;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER message_made_sent AFTER INSERT ON messages FOR EACH ROW
    WHEN (NEW.status = 'sent' AND NEW.direction = 'outbound' AND NOT NEW.is_history)
    EXECUTE FUNCTION recado_note_sent();
CREATE TRIGGER message_becomes_sent AFTER UPDATE ON messages FOR EACH ROW
    WHEN ((OLD.status = 'sent') <> (NEW.status = 'sent') OR NEW.status = 'sent'
        AND (OLD.direction <> NEW.direction OR OLD.is_history <> NEW.is_history
            OR OLD.created_at <> NEW.created_at))
    EXECUTE FUNCTION recado_note_sent();
CREATE TRIGGER message_gone_sent AFTER DELETE ON messages FOR EACH ROW
    WHEN (OLD.status = 'sent' AND OLD.direction = 'outbound' AND NOT OLD.is_history)
    EXECUTE FUNCTION recado_note_sent();

INSERT INTO messages_left_sent SELECT created_at, company_id, id FROM messages
WHERE status = 'sent' AND direction = 'outbound' AND NOT is_history;
