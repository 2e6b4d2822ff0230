-- When a campaign begins, in which hours of its company's time zone it sends, and how many failures
-- stop it.
ALTER TABLE companies ADD COLUMN time_zone text NOT NULL DEFAULT 'America/Sao_Paulo';
ALTER TABLE campaigns ADD COLUMN scheduled_at bigint;
-- JSON.
ALTER TABLE campaigns ADD COLUMN send_between text;
ALTER TABLE campaigns ADD COLUMN stop_after_failures text;
-- The last recipient whose failure does not count for that any more.
ALTER TABLE campaigns ADD COLUMN failures_after bigint;
-- Asked for again and again, as those that run are: those whose time has not come are not met.
CREATE INDEX campaigns_scheduled ON campaigns (scheduled_at) WHERE status = 'scheduled';
