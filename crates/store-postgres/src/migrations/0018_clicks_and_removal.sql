-- The clicks of people are counted in the row of their link, so that the clicks themselves need not
-- be kept, and are not read for a listing.
ALTER TABLE links
    ADD COLUMN human_clicks bigint NOT NULL DEFAULT 0,
    ADD COLUMN last_human_click_at bigint;
UPDATE links l SET human_clicks = k.total, last_human_click_at = k.last_at
FROM (SELECT company_id, link_id, count(*) AS total, max(at) AS last_at FROM clicks WHERE human
    GROUP BY company_id, link_id) AS k
WHERE l.company_id = k.company_id AND l.id = k.link_id;

DROP INDEX clicks_by_contact;
CREATE INDEX clicks_by_contact ON clicks (company_id, contact_id);
CREATE INDEX clicks_by_time ON clicks (company_id, at, id);

-- When a company was deleted; a job then removes its rows.
ALTER TABLE companies ADD COLUMN deleted_at bigint;

-- Counts are no references to the company, and rows of zero are left when all that they counted is
-- gone. The lock is that of the process that folds counts, which could otherwise write one anew.
CREATE FUNCTION recado_company_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(8243103962919534594);
    DELETE FROM contact_facets WHERE company_id = OLD.id;
    DELETE FROM contact_facet_deltas WHERE company_id = OLD.id;
    DELETE FROM list_counts WHERE company_id = OLD.id;
    DELETE FROM list_count_deltas WHERE company_id = OLD.id;
    DELETE FROM message_counts WHERE company_id = OLD.id;
    DELETE FROM message_count_deltas WHERE company_id = OLD.id;
    DELETE FROM messages_left_sent WHERE company_id = OLD.id;
    DELETE FROM export_frontiers WHERE company_id = OLD.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER company_gone AFTER DELETE ON companies
    FOR EACH ROW EXECUTE FUNCTION recado_company_gone();
