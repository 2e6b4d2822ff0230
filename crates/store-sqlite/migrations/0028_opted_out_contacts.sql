-- Contacts that asked not to be written to, as a set of their company: kind 4 of `contact_sets`.
INSERT INTO contact_sets
    SELECT seq, 4, company_id, facet_id, recency, created_at, id FROM contacts
    WHERE opted_out_at IS NOT NULL;
CREATE TRIGGER contacts_opted_out AFTER INSERT ON contacts
        WHEN new.opted_out_at IS NOT NULL BEGIN
    INSERT INTO contact_sets VALUES (new.seq, 4, new.company_id, new.facet_id, new.recency,
        new.created_at, new.id);
END;
CREATE TRIGGER contacts_opt_out_changed AFTER UPDATE OF opted_out_at ON contacts
        WHEN (new.opted_out_at IS NULL) <> (old.opted_out_at IS NULL) BEGIN
    DELETE FROM contact_sets WHERE seq = old.seq AND kind = 4;
    INSERT INTO contact_sets
        SELECT seq, 4, company_id, facet_id, recency, created_at, id FROM contacts
        WHERE seq = new.seq AND opted_out_at IS NOT NULL;
END;
