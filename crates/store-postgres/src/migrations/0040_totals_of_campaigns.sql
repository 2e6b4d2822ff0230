-- What campaigns are counted and summed by, kept as recipients and ledger lines are written.

-- How many recipients of a campaign have a status: the folded count, and what came since.
CREATE TABLE recipient_counts (
    company_id uuid NOT NULL,
    campaign_id uuid NOT NULL,
    status text COLLATE "C" NOT NULL,
    n bigint NOT NULL,
    PRIMARY KEY (company_id, campaign_id, status)
) WITH (fillfactor = 50);

CREATE TABLE recipient_count_deltas (
    company_id uuid NOT NULL,
    campaign_id uuid NOT NULL,
    status text COLLATE "C" NOT NULL,
    n bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
CREATE INDEX recipient_count_deltas_by_campaign ON recipient_count_deltas (company_id, campaign_id);

CREATE FUNCTION recado_count_recipients() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO recipient_count_deltas
        SELECT company_id, campaign_id, status, count(*) FROM made GROUP BY 1, 2, 3;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO recipient_count_deltas
        SELECT company_id, campaign_id, status, -count(*) FROM gone GROUP BY 1, 2, 3;
    ELSE
        INSERT INTO recipient_count_deltas
        SELECT company_id, campaign_id, status, sum(n) FROM (
            SELECT company_id, campaign_id, status, 1 AS n FROM made
            UNION ALL SELECT company_id, campaign_id, status, -1 FROM gone
        ) AS changed GROUP BY 1, 2, 3 HAVING sum(n) <> 0;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER recipients_made AFTER INSERT ON recipients
    REFERENCING NEW TABLE AS made
    FOR EACH STATEMENT EXECUTE FUNCTION recado_count_recipients();
CREATE TRIGGER recipients_changed AFTER UPDATE ON recipients
    REFERENCING OLD TABLE AS gone NEW TABLE AS made
    FOR EACH STATEMENT EXECUTE FUNCTION recado_count_recipients();
CREATE TRIGGER recipients_gone AFTER DELETE ON recipients
    REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION recado_count_recipients();
-- The triggers have locked the recipients until the end of this transaction.
INSERT INTO recipient_counts
SELECT company_id, campaign_id, status, count(*) FROM recipients GROUP BY 1, 2, 3;

-- The sums of a campaign's ledger lines, also of a deleted one, in the same way. A sum of many lines
-- may be more than a bigint holds.
CREATE TABLE campaign_sums (
    company_id uuid NOT NULL,
    campaign_id uuid NOT NULL,
    prosas numeric NOT NULL,
    cost numeric NOT NULL,
    PRIMARY KEY (company_id, campaign_id)
) WITH (fillfactor = 50);

CREATE TABLE campaign_sum_deltas (
    company_id uuid NOT NULL,
    campaign_id uuid NOT NULL,
    prosas numeric NOT NULL,
    cost numeric NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
CREATE INDEX campaign_sum_deltas_by_campaign ON campaign_sum_deltas (company_id, campaign_id);

CREATE FUNCTION recado_sum_ledger_line() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' AND OLD.campaign_id IS NOT NULL THEN
        INSERT INTO campaign_sum_deltas
        VALUES (OLD.company_id, OLD.campaign_id, -OLD.prosas::numeric, -OLD.cost::numeric);
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.campaign_id IS NOT NULL THEN
        INSERT INTO campaign_sum_deltas
        VALUES (NEW.company_id, NEW.campaign_id, NEW.prosas, NEW.cost);
    END IF;
    RETURN NULL;
END
$$;
-- For each row: the conditions are met by lines of campaigns only, and cost the others nothing.
CREATE TRIGGER ledger_line_made AFTER INSERT ON ledger_lines FOR EACH ROW
    WHEN (NEW.campaign_id IS NOT NULL) EXECUTE FUNCTION recado_sum_ledger_line();
CREATE TRIGGER ledger_line_changed AFTER UPDATE ON ledger_lines FOR EACH ROW
    WHEN ((OLD.campaign_id, OLD.prosas, OLD.cost) IS DISTINCT FROM
        (NEW.campaign_id, NEW.prosas, NEW.cost)) EXECUTE FUNCTION recado_sum_ledger_line();
CREATE TRIGGER ledger_line_gone AFTER DELETE ON ledger_lines FOR EACH ROW
    WHEN (OLD.campaign_id IS NOT NULL) EXECUTE FUNCTION recado_sum_ledger_line();
INSERT INTO campaign_sums
SELECT company_id, campaign_id, sum(prosas), sum(cost) FROM ledger_lines
WHERE campaign_id IS NOT NULL GROUP BY 1, 2;

-- Only the sums of campaigns were read from it.
DROP INDEX ledger_lines_by_campaign;

-- As the other counts of a company that is gone. Those of a campaign are zero when it is gone.
CREATE FUNCTION recado_totals_of_campaigns_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(8243103962919534594);
    DELETE FROM recipient_counts WHERE company_id = OLD.id;
    DELETE FROM recipient_count_deltas WHERE company_id = OLD.id;
    DELETE FROM campaign_sums WHERE company_id = OLD.id;
    DELETE FROM campaign_sum_deltas WHERE company_id = OLD.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER company_gone_with_campaigns AFTER DELETE ON companies
    FOR EACH ROW EXECUTE FUNCTION recado_totals_of_campaigns_gone();
