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
