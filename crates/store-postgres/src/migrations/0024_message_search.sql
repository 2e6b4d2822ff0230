-- What searches for messages look in: the folded text of each message, in the order of the listing.
-- It is written with its message. No index has the words in it.
CREATE TABLE message_texts (
    company_id uuid NOT NULL,
    created_at bigint NOT NULL,
    message_id uuid NOT NULL,
    search_text text COLLATE "C" NOT NULL,
    PRIMARY KEY (company_id, created_at, message_id)
);

-- Messages that were stored before this have no text yet: those after this place in the order of
-- their keys. The upkeep makes them, in small portions, and then deletes the row.
CREATE TABLE message_texts_due (
    only_row boolean PRIMARY KEY CHECK (only_row),
    company_id uuid NOT NULL,
    message_id uuid NOT NULL
);
INSERT INTO message_texts_due
SELECT true, '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000'
WHERE EXISTS (SELECT FROM messages);

CREATE FUNCTION recado_forget_text() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM message_texts t WHERE t.company_id = OLD.company_id
        AND t.created_at = OLD.created_at AND t.message_id = OLD.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER message_gone_with_text AFTER DELETE ON messages
    FOR EACH ROW EXECUTE FUNCTION recado_forget_text();
-- Its text is written at its new place by the statement that moves it.
CREATE TRIGGER message_moved_with_text AFTER UPDATE ON messages
    FOR EACH ROW WHEN (OLD.created_at <> NEW.created_at) EXECUTE FUNCTION recado_forget_text();
