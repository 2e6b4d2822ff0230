-- By which key the gateway's address of a message's file is sealed: how it begins. The condition is
-- in the terms of the queries, so that SQLite sees that they imply it. Conventions as in the first
-- migration.
CREATE INDEX messages_by_seal ON messages (substr(media_source, 1, 21))
    WHERE substr(media_source, 1, 21) IS NOT NULL;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('messages', 'messages_by_seal', '1000000 100000');
ANALYZE sqlite_schema;
