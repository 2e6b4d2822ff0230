-- How many contacts a company has, in one row, and their combinations in the order of the
-- listing. Conventions as in the first migration.
CREATE TABLE contact_totals (
    company_id BLOB PRIMARY KEY,
    contacts INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO contact_totals
    SELECT company_id, sum(contacts) FROM contact_facets GROUP BY company_id;
CREATE TRIGGER contacts_totalled AFTER INSERT ON contacts BEGIN
    INSERT INTO contact_totals VALUES (new.company_id, 1)
        ON CONFLICT (company_id) DO UPDATE SET contacts = contacts + 1;
END;
CREATE TRIGGER contacts_gone_from_total AFTER DELETE ON contacts BEGIN
    UPDATE contact_totals SET contacts = contacts - 1 WHERE company_id = old.company_id;
    DELETE FROM contact_totals WHERE company_id = old.company_id AND contacts = 0;
END;

-- A filter that many contacts pass is applied in the order of the listing, without reading the
-- contacts themselves.
DROP INDEX contacts_by_recency;
CREATE INDEX contacts_by_recency ON contacts (company_id, recency, id, facet_id);
