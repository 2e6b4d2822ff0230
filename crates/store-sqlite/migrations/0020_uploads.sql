-- Files to be sent, and which messages carry them. Messages refer to them without a foreign key: an
-- upload is removed once it was marked and no message was found that has it.
CREATE TABLE uploads (
    company_id BLOB NOT NULL REFERENCES companies (id),
    id BLOB NOT NULL,
    mimetype TEXT NOT NULL,
    size INTEGER NOT NULL,
    sha256 BLOB NOT NULL,
    filename TEXT,
    state TEXT NOT NULL,
    is_listed INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX uploads_by_expiry ON uploads (company_id, expires_at, id);

ALTER TABLE messages ADD COLUMN media_upload_id BLOB;
CREATE INDEX messages_by_upload ON messages (company_id, media_upload_id)
    WHERE media_upload_id IS NOT NULL;
CREATE INDEX messages_sent_files ON messages (company_id, contact_id, media_upload_id)
    WHERE media_upload_id IS NOT NULL;

-- What the planner is to believe, as in the second migration.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('uploads', 'uploads', '100000 10000 1'),
    ('uploads', 'uploads_by_expiry', '100000 10000 10 1'),
    ('messages', 'messages_by_upload', '1000000 100000 10'),
    ('messages', 'messages_sent_files', '1000000 100000 10 1');
ANALYZE sqlite_schema;
