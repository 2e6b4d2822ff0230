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
CREATE INDEX clicks_by_time ON clicks (at);
