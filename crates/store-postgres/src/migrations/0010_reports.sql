-- Sums of what a campaign was debited are taken from the index alone.
CREATE INDEX ledger_lines_by_campaign ON ledger_lines (company_id, campaign_id)
    INCLUDE (prosas, cost) WHERE campaign_id IS NOT NULL;

-- A message whose file was given up used to keep where the gateway had had it. Now that says that the
-- file is still to come.
UPDATE messages m SET media_source = NULL
WHERE m.media_source IS NOT NULL AND m.media_document_id IS NULL AND NOT EXISTS (
    SELECT FROM jobs j
    WHERE j.company_id = m.company_id AND j.kind = 'fetch_media' AND j.subject = m.id);
