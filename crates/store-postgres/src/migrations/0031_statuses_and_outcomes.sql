-- The statuses that connections had lately, the contacts whose last message went through a
-- connection, and when messages of campaigns had which outcome.
CREATE TABLE connection_statuses (
    company_id uuid NOT NULL REFERENCES companies (id),
    connection_id uuid NOT NULL,
    changes jsonb NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (company_id, connection_id),
    FOREIGN KEY (company_id, connection_id)
        REFERENCES connections (company_id, id) ON DELETE CASCADE
);

-- Contacts by the connection of their last message: kind 5 of `contact_sets`.
INSERT INTO contact_sets
SELECT company_id, id, 5, last_connection_id, facet, last_message_at, created_at
FROM contacts WHERE last_connection_id IS NOT NULL;

CREATE FUNCTION recado_connection_in_sets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        DELETE FROM contact_sets
        WHERE company_id = NEW.company_id AND contact_id = NEW.id AND kind = 5;
    END IF;
    IF NEW.last_connection_id IS NOT NULL THEN
        INSERT INTO contact_sets VALUES (NEW.company_id, NEW.id, 5, NEW.last_connection_id,
            NEW.facet, NEW.last_message_at, NEW.created_at);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER contact_reached AFTER INSERT ON contacts
    FOR EACH ROW WHEN (NEW.last_connection_id IS NOT NULL)
    EXECUTE FUNCTION recado_connection_in_sets();
-- By its name it comes after `contact_moved_in_sets`, which moves the rows that are there.
CREATE TRIGGER contact_reached_otherwise AFTER UPDATE ON contacts
    FOR EACH ROW WHEN (OLD.last_connection_id IS DISTINCT FROM NEW.last_connection_id)
    EXECUTE FUNCTION recado_connection_in_sets();

-- When what became of a recipient's message was recorded.
ALTER TABLE recipients ADD COLUMN delivered_at bigint;
ALTER TABLE recipients ADD COLUMN read_at bigint;
ALTER TABLE recipients ADD COLUMN ended_at bigint;
