-- When a campaign begins, in which hours of its company's time zone it sends, and how many failures
-- stop it. Conventions as in the first migration.
ALTER TABLE companies ADD COLUMN time_zone TEXT NOT NULL DEFAULT 'America/Sao_Paulo';
ALTER TABLE campaigns ADD COLUMN scheduled_at INTEGER;
-- JSON.
ALTER TABLE campaigns ADD COLUMN send_between TEXT;
ALTER TABLE campaigns ADD COLUMN stop_after_failures TEXT;
-- The last recipient whose failure does not count for that any more.
ALTER TABLE campaigns ADD COLUMN failures_after INTEGER;
-- Asked for again and again, as those that run are: those whose time has not come are not met.
CREATE INDEX campaigns_scheduled ON campaigns (scheduled_at) WHERE status = 'scheduled';
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('campaigns', 'campaigns_scheduled', '100 1');
ANALYZE sqlite_schema;
