-- How many contacts a company has, in one row.

-- The sum of the folded counts of a company. The number of its contacts is this sum and what came
-- since: it is exact in every snapshot, as it is written with the counts.
CREATE TABLE contact_totals (
    company_id uuid PRIMARY KEY,
    n bigint NOT NULL
) WITH (fillfactor = 50);

CREATE FUNCTION recado_total_contacts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO contact_totals AS t SELECT company_id, sum(n) FROM made GROUP BY 1
        ON CONFLICT (company_id) DO UPDATE SET n = t.n + excluded.n;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO contact_totals AS t SELECT company_id, -sum(n) FROM gone GROUP BY 1
        ON CONFLICT (company_id) DO UPDATE SET n = t.n + excluded.n;
    ELSE
        INSERT INTO contact_totals AS t SELECT company_id, sum(n) FROM (
            SELECT company_id, n FROM made UNION ALL SELECT company_id, -n FROM gone
        ) AS changed GROUP BY 1 HAVING sum(n) <> 0
        ON CONFLICT (company_id) DO UPDATE SET n = t.n + excluded.n;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER contact_facets_made AFTER INSERT ON contact_facets
    REFERENCING NEW TABLE AS made
    FOR EACH STATEMENT EXECUTE FUNCTION recado_total_contacts();
CREATE TRIGGER contact_facets_changed AFTER UPDATE ON contact_facets
    REFERENCING OLD TABLE AS gone NEW TABLE AS made
    FOR EACH STATEMENT EXECUTE FUNCTION recado_total_contacts();
CREATE TRIGGER contact_facets_gone AFTER DELETE ON contact_facets
    REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION recado_total_contacts();
-- The triggers have locked the counts until the end of this transaction.
INSERT INTO contact_totals SELECT company_id, sum(n) FROM contact_facets GROUP BY 1;

-- Runs after `company_gone`, which deletes the counts.
CREATE FUNCTION recado_total_of_contacts_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM contact_totals WHERE company_id = OLD.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER company_gone_with_total AFTER DELETE ON companies
    FOR EACH ROW EXECUTE FUNCTION recado_total_of_contacts_gone();
