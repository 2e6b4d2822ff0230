-- What campaigns are counted and summed by, kept as recipients and ledger lines are written.
-- Conventions as in the first migration.

-- How many recipients of a campaign have a status.
CREATE TABLE recipient_counts (
    company_id BLOB NOT NULL,
    campaign_id BLOB NOT NULL,
    status TEXT NOT NULL,
    recipients INTEGER NOT NULL,
    PRIMARY KEY (company_id, campaign_id, status)
) STRICT, WITHOUT ROWID;
INSERT INTO recipient_counts
    SELECT company_id, campaign_id, status, count(*) FROM recipients GROUP BY 1, 2, 3;
-- Triggers, because recipients also go by cascade.
CREATE TRIGGER recipients_counted AFTER INSERT ON recipients BEGIN
    INSERT INTO recipient_counts VALUES (new.company_id, new.campaign_id, new.status, 1)
        ON CONFLICT DO UPDATE SET recipients = recipients + 1;
END;
CREATE TRIGGER recipients_recounted AFTER UPDATE OF status ON recipients
    WHEN new.status <> old.status BEGIN
    UPDATE recipient_counts SET recipients = recipients - 1
        WHERE company_id = old.company_id AND campaign_id = old.campaign_id AND status = old.status;
    INSERT INTO recipient_counts VALUES (new.company_id, new.campaign_id, new.status, 1)
        ON CONFLICT DO UPDATE SET recipients = recipients + 1;
END;
CREATE TRIGGER recipients_uncounted AFTER DELETE ON recipients BEGIN
    UPDATE recipient_counts SET recipients = recipients - 1
        WHERE company_id = old.company_id AND campaign_id = old.campaign_id AND status = old.status;
END;
-- Its recipients are gone by then.
CREATE TRIGGER campaigns_uncounted AFTER DELETE ON campaigns BEGIN
    DELETE FROM recipient_counts WHERE company_id = old.company_id AND campaign_id = old.id;
END;

-- The sums of a campaign's ledger lines, also of a deleted one: in thousand millions and the rest, as
-- a sum of many lines may be more than an integer holds.
CREATE TABLE campaign_sums (
    company_id BLOB NOT NULL,
    campaign_id BLOB NOT NULL,
    lines INTEGER NOT NULL,
    prosas_upper INTEGER NOT NULL,
    prosas_lower INTEGER NOT NULL,
    cost_upper INTEGER NOT NULL,
    cost_lower INTEGER NOT NULL,
    PRIMARY KEY (company_id, campaign_id)
) STRICT, WITHOUT ROWID;
INSERT INTO campaign_sums
    SELECT company_id, campaign_id, count(*), sum(prosas / 1000000000), sum(prosas % 1000000000),
        sum(cost / 1000000000), sum(cost % 1000000000)
    FROM ledger_lines WHERE campaign_id IS NOT NULL GROUP BY 1, 2;
CREATE TRIGGER ledger_lines_summed AFTER INSERT ON ledger_lines
    WHEN new.campaign_id IS NOT NULL BEGIN
    INSERT INTO campaign_sums VALUES (new.company_id, new.campaign_id, 1,
            new.prosas / 1000000000, new.prosas % 1000000000,
            new.cost / 1000000000, new.cost % 1000000000)
        ON CONFLICT DO UPDATE SET lines = lines + 1,
            prosas_upper = prosas_upper + excluded.prosas_upper,
            prosas_lower = prosas_lower + excluded.prosas_lower,
            cost_upper = cost_upper + excluded.cost_upper,
            cost_lower = cost_lower + excluded.cost_lower;
END;
CREATE TRIGGER ledger_lines_taken_out AFTER DELETE ON ledger_lines
    WHEN old.campaign_id IS NOT NULL BEGIN
    UPDATE campaign_sums SET lines = lines - 1,
            prosas_upper = prosas_upper - old.prosas / 1000000000,
            prosas_lower = prosas_lower - old.prosas % 1000000000,
            cost_upper = cost_upper - old.cost / 1000000000,
            cost_lower = cost_lower - old.cost % 1000000000
        WHERE company_id = old.company_id AND campaign_id = old.campaign_id;
    DELETE FROM campaign_sums
        WHERE company_id = old.company_id AND campaign_id = old.campaign_id AND lines = 0;
END;
CREATE TRIGGER ledger_lines_changed AFTER UPDATE OF campaign_id, prosas, cost ON ledger_lines
    WHEN new.campaign_id IS NOT old.campaign_id OR new.prosas <> old.prosas OR new.cost <> old.cost
BEGIN
    UPDATE campaign_sums SET lines = lines - 1,
            prosas_upper = prosas_upper - old.prosas / 1000000000,
            prosas_lower = prosas_lower - old.prosas % 1000000000,
            cost_upper = cost_upper - old.cost / 1000000000,
            cost_lower = cost_lower - old.cost % 1000000000
        WHERE company_id = old.company_id AND campaign_id = old.campaign_id;
    INSERT INTO campaign_sums SELECT new.company_id, new.campaign_id, 1,
            new.prosas / 1000000000, new.prosas % 1000000000,
            new.cost / 1000000000, new.cost % 1000000000
        WHERE new.campaign_id IS NOT NULL
        ON CONFLICT DO UPDATE SET lines = lines + 1,
            prosas_upper = prosas_upper + excluded.prosas_upper,
            prosas_lower = prosas_lower + excluded.prosas_lower,
            cost_upper = cost_upper + excluded.cost_upper,
            cost_lower = cost_lower + excluded.cost_lower;
    DELETE FROM campaign_sums
        WHERE company_id = old.company_id AND campaign_id = old.campaign_id AND lines = 0;
END;

-- Only the sums of campaigns were read from it.
DROP INDEX ledger_lines_by_campaign;
