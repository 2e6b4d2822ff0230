-- What somebody wrote about a line of the ledger goes with its contact. The reference sets
-- `contact_id` to null; this function makes that take the text along. A commit that changes a line
-- raises its version, and says itself what the text is then.
CREATE FUNCTION recado_forget_description() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.description := NULL;
    RETURN NEW;
END
$$;
CREATE TRIGGER ledger_line_left BEFORE UPDATE OF contact_id ON ledger_lines
    FOR EACH ROW WHEN (OLD.contact_id IS NOT NULL AND NEW.contact_id IS NULL
        AND NEW.version = OLD.version)
    EXECUTE FUNCTION recado_forget_description();

-- The log of a delivery, JSON, without what its receiver answered.
CREATE FUNCTION recado_without_answers(log text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT coalesce(jsonb_agg(entry || '{"response": null}' ORDER BY place), '[]')::text
    FROM jsonb_array_elements(log::jsonb) WITH ORDINALITY AS entries (entry, place)
$$;
-- What receivers answered to deliveries of events that are erased already.
UPDATE deliveries d SET version = version + 1, log = recado_without_answers(d.log)
WHERE d.queued_at IS NULL AND position('"response":"' IN d.log) > 0 AND EXISTS (
    SELECT FROM events e
    WHERE e.company_id = d.company_id AND e.id = d.event_id AND e.data IS NULL);
