-- Contacts that asked not to be written to, as a set of their company: kind 4 of `contact_sets`.
INSERT INTO contact_sets
SELECT company_id, id, 4, company_id, facet, last_message_at, created_at
FROM contacts WHERE opted_out_at IS NOT NULL;

CREATE FUNCTION recado_opt_out_in_sets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.opted_out_at IS NULL THEN
        DELETE FROM contact_sets
        WHERE company_id = NEW.company_id AND contact_id = NEW.id AND kind = 4;
    ELSE
        INSERT INTO contact_sets VALUES (NEW.company_id, NEW.id, 4, NEW.company_id, NEW.facet,
            NEW.last_message_at, NEW.created_at);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER contact_opted_out AFTER INSERT ON contacts
    FOR EACH ROW WHEN (NEW.opted_out_at IS NOT NULL)
    EXECUTE FUNCTION recado_opt_out_in_sets();
-- By its name it comes after `contact_moved_in_sets`, which moves the rows that are there.
CREATE TRIGGER contact_opt_out_changed AFTER UPDATE ON contacts
    FOR EACH ROW WHEN ((OLD.opted_out_at IS NULL) <> (NEW.opted_out_at IS NULL))
    EXECUTE FUNCTION recado_opt_out_in_sets();
