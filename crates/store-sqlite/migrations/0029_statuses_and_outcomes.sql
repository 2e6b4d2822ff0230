-- The statuses that connections had lately, the contacts whose last message went through a
-- connection, and when messages of campaigns had which outcome. Conventions as in the first migration.
CREATE TABLE connection_statuses (
    company_id BLOB NOT NULL REFERENCES companies (id),
    connection_id BLOB NOT NULL,
    changes TEXT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, connection_id),
    FOREIGN KEY (company_id, connection_id)
        REFERENCES connections (company_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Contacts by the connection of their last message: kind 5 of `contact_sets`.
INSERT INTO contact_sets
    SELECT seq, 5, last_connection_id, facet_id, recency, created_at, id FROM contacts
    WHERE last_connection_id IS NOT NULL;
CREATE TRIGGER contacts_reached AFTER INSERT ON contacts
        WHEN new.last_connection_id IS NOT NULL BEGIN
    INSERT INTO contact_sets VALUES (new.seq, 5, new.last_connection_id, new.facet_id,
        new.recency, new.created_at, new.id);
END;
CREATE TRIGGER contacts_reached_otherwise AFTER UPDATE OF last_connection_id ON contacts
        WHEN new.last_connection_id IS NOT old.last_connection_id BEGIN
    DELETE FROM contact_sets WHERE seq = old.seq AND kind = 5;
    INSERT INTO contact_sets
        SELECT seq, 5, last_connection_id, facet_id, recency, created_at, id FROM contacts
        WHERE seq = new.seq AND last_connection_id IS NOT NULL;
END;

-- When what became of a recipient's message was recorded.
ALTER TABLE recipients ADD COLUMN delivered_at INTEGER;
ALTER TABLE recipients ADD COLUMN read_at INTEGER;
ALTER TABLE recipients ADD COLUMN ended_at INTEGER;
