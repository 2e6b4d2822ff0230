-- What erasure leaves behind, and a search index in which each company has terms of its own.

-- What somebody wrote about a line of the ledger goes with its contact.
DROP TRIGGER contacts_leave_the_ledger;
CREATE TRIGGER contacts_leave_the_ledger BEFORE DELETE ON contacts BEGIN
    UPDATE ledger_lines SET contact_id = NULL, description = NULL
        WHERE company_id = old.company_id AND contact_id = old.id;
END;

-- What receivers answered to deliveries of events that are erased already.
UPDATE deliveries SET version = version + 1, log = (
    SELECT json_group_array(json_set(entry.value, '$.response', NULL))
    FROM json_each(deliveries.log) AS entry)
WHERE queued_at IS NULL AND instr(log, '"response":"') > 0 AND EXISTS (
    SELECT 1 FROM events AS e
    WHERE e.company_id = deliveries.company_id AND e.id = deliveries.event_id AND e.data IS NULL);

-- Indexes that the program makes anew right after the migrations.
CREATE TABLE stale_indexes (
    name TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- The search texts of contacts, keyed by `seq`, as tokens of a trigram with its company before it;
-- the text itself is not kept. What is deleted leaves the pages at once. The terms take the place
-- of the table of all trigrams.
DROP TABLE search_trigrams;
DROP TABLE contact_search;
CREATE VIRTUAL TABLE contact_search USING fts5 (
    text,
    content = '',
    columnsize = 0,
    tokenize = 'ascii'
);
INSERT INTO contact_search (contact_search, rank) VALUES ('secure-delete', 1);
INSERT INTO stale_indexes (name) VALUES ('contact_search');
