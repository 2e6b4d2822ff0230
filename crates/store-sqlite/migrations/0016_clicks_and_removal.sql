-- The clicks of people are counted in the row of their link, so that the clicks themselves need not
-- be kept, and are not read for a listing. Conventions as in the first migration.
ALTER TABLE links ADD COLUMN human_clicks INTEGER NOT NULL DEFAULT 0;
ALTER TABLE links ADD COLUMN last_human_click_at INTEGER;
UPDATE links SET (human_clicks, last_human_click_at) =
    (SELECT count(*), max(at) FROM clicks
    WHERE clicks.company_id = links.company_id AND clicks.link_id = links.id AND human = 1);

DROP INDEX clicks_by_contact;
DELETE FROM sqlite_stat1 WHERE idx = 'clicks_by_contact';
CREATE INDEX clicks_by_contact ON clicks (company_id, contact_id);
CREATE INDEX clicks_by_time ON clicks (company_id, at, id);

-- What the planner is to believe, as in the second migration.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('clicks', 'clicks_by_contact', '1000000 100000 4'),
    ('clicks', 'clicks_by_time', '1000000 100000 10 1');
ANALYZE sqlite_schema;

-- When a company was deleted; a job then removes its rows.
ALTER TABLE companies ADD COLUMN deleted_at INTEGER;

-- What is not kept forever is looked for by its time.
CREATE INDEX ledger_lines_by_creation ON ledger_lines (company_id, created_at, id);
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('ledger_lines', 'ledger_lines_by_creation', '1000000 100000 10 1');
ANALYZE sqlite_schema;
