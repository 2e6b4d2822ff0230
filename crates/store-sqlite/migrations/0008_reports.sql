-- What campaigns were debited, and files that are given up. Conventions as in the first migration.

-- Holds all that is summed of a campaign.
CREATE INDEX ledger_lines_by_campaign ON ledger_lines (company_id, campaign_id, prosas, cost)
    WHERE campaign_id IS NOT NULL;

-- A message whose file was given up used to keep where the gateway had had it. Now that says that the
-- file is still to come.
UPDATE messages SET media_source = NULL
    WHERE media_source IS NOT NULL AND media_document_id IS NULL AND NOT EXISTS (
        SELECT 1 FROM jobs
        WHERE jobs.company_id = messages.company_id AND jobs.kind = 'fetch_media'
        AND jobs.subject = messages.id
    );

-- What the planner is to believe, as in the second migration.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('ledger_lines', 'ledger_lines_by_campaign', '1000000 100000 10000 1000 1000');
ANALYZE sqlite_schema;
