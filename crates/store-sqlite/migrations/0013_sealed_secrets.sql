-- By which key the body of a kept event is sealed: how it begins. Conventions as in the first
-- migration.
CREATE INDEX unknown_events_by_seal ON unknown_events (substr(body, 1, 21));
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('unknown_events', 'unknown_events_by_seal', '1000000 100000');
ANALYZE sqlite_schema;
