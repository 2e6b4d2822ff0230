-- What searches for messages look in. Conventions as in the first migration.

-- One row for each message that says something or whose file has a name, in the order of the
-- listing. `text` is folded. Rows go with their messages, by the trigger.
CREATE TABLE message_texts (
    company_id BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    id BLOB NOT NULL,
    seq INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (company_id, created_at, id)
) STRICT, WITHOUT ROWID;

-- Messages that were stored before this have no text yet: those after `after_seq` up to `last_seq`.
-- The upkeep makes them, in small portions, and then deletes the row.
CREATE TABLE message_texts_due (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    after_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL
) STRICT;
INSERT INTO message_texts_due
    SELECT 1, 0, (SELECT max(seq) FROM messages) WHERE EXISTS (SELECT 1 FROM messages);

DROP TRIGGER messages_went;
CREATE TRIGGER messages_went AFTER DELETE ON messages BEGIN
    UPDATE message_facets SET messages = messages - 1 WHERE id = old.facet_id;
    DELETE FROM message_texts
        WHERE company_id = old.company_id AND created_at = old.created_at AND id = old.id;
END;
