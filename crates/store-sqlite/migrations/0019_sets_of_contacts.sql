-- Lists, tags and assignees as sets of contacts that are listed and counted as a whole company is,
-- and two more values that the exact filters compare. Conventions as in the first migration.

-- Whether one of its conversations has unread messages.
ALTER TABLE contacts ADD COLUMN has_unread INTEGER NOT NULL DEFAULT 0;
ALTER TABLE contact_facets ADD COLUMN is_assigned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE contact_facets ADD COLUMN has_unread INTEGER NOT NULL DEFAULT 0;

UPDATE contacts SET has_unread = 1 WHERE EXISTS (
    SELECT 1 FROM conversations AS v
    WHERE v.company_id = contacts.company_id AND v.contact_id = contacts.id AND v.unread > 0);

-- `facet_key` is the program's: the key of a combination.
CREATE TABLE moved_contacts (
    seq INTEGER PRIMARY KEY,
    company_id BLOB NOT NULL,
    key BLOB NOT NULL
) STRICT;
INSERT INTO moved_contacts
    SELECT seq, company_id, facet_key(source_platform, inbox_status, pipeline_stage_id, crm_status,
        is_ai_enabled, is_group, assigned_to_member_id IS NOT NULL, has_unread)
    FROM contacts WHERE assigned_to_member_id IS NOT NULL OR has_unread = 1;
INSERT INTO contact_facets (company_id, key, source_platform, inbox_status, pipeline_stage_id,
        crm_status, is_ai_enabled, is_group, is_assigned, has_unread, contacts)
    SELECT m.company_id, m.key, c.source_platform, c.inbox_status, c.pipeline_stage_id,
        c.crm_status, c.is_ai_enabled, c.is_group, c.assigned_to_member_id IS NOT NULL,
        c.has_unread, 0
    FROM moved_contacts AS m JOIN contacts AS c ON c.seq = m.seq GROUP BY m.company_id, m.key;
UPDATE contacts SET facet_id = (
        SELECT f.id FROM moved_contacts AS m
        JOIN contact_facets AS f ON f.company_id = m.company_id AND f.key = m.key
        WHERE m.seq = contacts.seq)
    WHERE seq IN (SELECT seq FROM moved_contacts);
DROP TABLE moved_contacts;
UPDATE contact_facets SET contacts = (
    SELECT count(*) FROM contacts WHERE contacts.facet_id = contact_facets.id);
DELETE FROM contact_facets WHERE contacts = 0;

-- One row for each contact in each of its sets: `kind` is 1 for a list, 2 for a tag, 3 for the
-- member whom it is assigned to. Kept by the triggers below. What the orders of the listing compare
-- is copied, so that a set has both orders for each combination of filtered values.
CREATE TABLE contact_sets (
    seq INTEGER NOT NULL REFERENCES contacts (seq) ON DELETE CASCADE,
    kind INTEGER NOT NULL,
    set_id BLOB NOT NULL,
    facet_id INTEGER NOT NULL,
    recency INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    id BLOB NOT NULL,
    PRIMARY KEY (seq, kind, set_id)
) STRICT, WITHOUT ROWID;
INSERT INTO contact_sets
    SELECT c.seq, 1, m.list_id, c.facet_id, c.recency, c.created_at, c.id FROM list_members AS m
        JOIN contacts AS c ON c.company_id = m.company_id AND c.id = m.contact_id
    UNION ALL
    SELECT c.seq, 2, t.tag_id, c.facet_id, c.recency, c.created_at, c.id FROM contact_tags AS t
        JOIN contacts AS c ON c.company_id = t.company_id AND c.id = t.contact_id
    UNION ALL
    SELECT seq, 3, assigned_to_member_id, facet_id, recency, created_at, id FROM contacts
        WHERE assigned_to_member_id IS NOT NULL;
CREATE INDEX contact_sets_by_recency ON contact_sets (set_id, kind, facet_id, recency, id);
CREATE INDEX contact_sets_by_creation ON contact_sets (set_id, kind, facet_id, created_at, id);

-- How many contacts of a set have a combination of filtered values.
CREATE TABLE contact_set_facets (
    set_id BLOB NOT NULL,
    kind INTEGER NOT NULL,
    facet_id INTEGER NOT NULL,
    contacts INTEGER NOT NULL,
    PRIMARY KEY (set_id, kind, facet_id)
) STRICT, WITHOUT ROWID;
INSERT INTO contact_set_facets
    SELECT set_id, kind, facet_id, count(*) FROM contact_sets GROUP BY set_id, kind, facet_id;

CREATE TRIGGER contact_sets_joined AFTER INSERT ON contact_sets BEGIN
    INSERT OR IGNORE INTO contact_set_facets VALUES (new.set_id, new.kind, new.facet_id, 0);
    UPDATE contact_set_facets SET contacts = contacts + 1
        WHERE set_id = new.set_id AND kind = new.kind AND facet_id = new.facet_id;
END;
CREATE TRIGGER contact_sets_left AFTER DELETE ON contact_sets BEGIN
    UPDATE contact_set_facets SET contacts = contacts - 1
        WHERE set_id = old.set_id AND kind = old.kind AND facet_id = old.facet_id;
    DELETE FROM contact_set_facets
        WHERE set_id = old.set_id AND kind = old.kind AND facet_id = old.facet_id AND contacts = 0;
END;
CREATE TRIGGER contact_sets_moved AFTER UPDATE OF facet_id ON contact_sets
        WHEN new.facet_id <> old.facet_id BEGIN
    INSERT OR IGNORE INTO contact_set_facets VALUES (new.set_id, new.kind, new.facet_id, 0);
    UPDATE contact_set_facets SET contacts = contacts + 1
        WHERE set_id = new.set_id AND kind = new.kind AND facet_id = new.facet_id;
    UPDATE contact_set_facets SET contacts = contacts - 1
        WHERE set_id = old.set_id AND kind = old.kind AND facet_id = old.facet_id;
    DELETE FROM contact_set_facets
        WHERE set_id = old.set_id AND kind = old.kind AND facet_id = old.facet_id AND contacts = 0;
END;

-- A membership that goes with its contact leaves the set by the foreign key.
CREATE TRIGGER list_members_in_set AFTER INSERT ON list_members BEGIN
    INSERT INTO contact_sets
        SELECT seq, 1, new.list_id, facet_id, recency, created_at, id FROM contacts
        WHERE company_id = new.company_id AND id = new.contact_id;
END;
CREATE TRIGGER list_members_out_of_set AFTER DELETE ON list_members BEGIN
    DELETE FROM contact_sets WHERE kind = 1 AND set_id = old.list_id AND seq = (
        SELECT seq FROM contacts WHERE company_id = old.company_id AND id = old.contact_id);
END;
CREATE TRIGGER list_members_reassigned AFTER UPDATE OF contact_id ON list_members BEGIN
    DELETE FROM contact_sets WHERE kind = 1 AND set_id = old.list_id AND seq = (
        SELECT seq FROM contacts WHERE company_id = old.company_id AND id = old.contact_id);
    INSERT INTO contact_sets
        SELECT seq, 1, new.list_id, facet_id, recency, created_at, id FROM contacts
        WHERE company_id = new.company_id AND id = new.contact_id;
END;
CREATE TRIGGER contact_tags_in_set AFTER INSERT ON contact_tags BEGIN
    INSERT INTO contact_sets
        SELECT seq, 2, new.tag_id, facet_id, recency, created_at, id FROM contacts
        WHERE company_id = new.company_id AND id = new.contact_id;
END;
CREATE TRIGGER contact_tags_out_of_set AFTER DELETE ON contact_tags BEGIN
    DELETE FROM contact_sets WHERE kind = 2 AND set_id = old.tag_id AND seq = (
        SELECT seq FROM contacts WHERE company_id = old.company_id AND id = old.contact_id);
END;
CREATE TRIGGER contact_tags_reassigned AFTER UPDATE OF contact_id ON contact_tags BEGIN
    DELETE FROM contact_sets WHERE kind = 2 AND set_id = old.tag_id AND seq = (
        SELECT seq FROM contacts WHERE company_id = old.company_id AND id = old.contact_id);
    INSERT INTO contact_sets
        SELECT seq, 2, new.tag_id, facet_id, recency, created_at, id FROM contacts
        WHERE company_id = new.company_id AND id = new.contact_id;
END;
CREATE TRIGGER contacts_assigned AFTER INSERT ON contacts
        WHEN new.assigned_to_member_id IS NOT NULL BEGIN
    INSERT INTO contact_sets VALUES (new.seq, 3, new.assigned_to_member_id, new.facet_id,
        new.recency, new.created_at, new.id);
END;
CREATE TRIGGER contacts_reassigned AFTER UPDATE OF assigned_to_member_id ON contacts
        WHEN new.assigned_to_member_id IS NOT old.assigned_to_member_id BEGIN
    DELETE FROM contact_sets WHERE seq = old.seq AND kind = 3;
    INSERT INTO contact_sets
        SELECT seq, 3, assigned_to_member_id, facet_id, recency, created_at, id FROM contacts
        WHERE seq = new.seq AND assigned_to_member_id IS NOT NULL;
END;
CREATE TRIGGER contacts_move_in_sets AFTER UPDATE OF facet_id, recency ON contacts BEGIN
    UPDATE contact_sets SET facet_id = new.facet_id, recency = new.recency
        WHERE seq = new.seq AND (facet_id, recency) <> (new.facet_id, new.recency);
END;

-- For `updated_since`.
CREATE INDEX contacts_by_update ON contacts (company_id, updated_at, facet_id);

-- What the planner is to believe, as in the second migration.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('contact_sets', 'contact_sets', '1000000 4 2 1'),
    ('contact_sets', 'contact_sets_by_recency', '1000000 10000 10000 100 2 1'),
    ('contact_sets', 'contact_sets_by_creation', '1000000 10000 10000 100 2 1'),
    ('contact_set_facets', 'contact_set_facets', '1000000 100 100 1');
ANALYZE sqlite_schema;
