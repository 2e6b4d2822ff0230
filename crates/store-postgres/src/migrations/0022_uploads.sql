-- Files to be sent, and which messages carry them. Messages refer to them without a foreign key: an
-- upload is removed once it was marked and no message was found that has it.
CREATE TABLE uploads (
    company_id uuid NOT NULL REFERENCES companies,
    id uuid NOT NULL,
    mimetype text NOT NULL,
    size bigint NOT NULL,
    sha256 bytea NOT NULL,
    filename text,
    state text NOT NULL,
    is_listed boolean NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    version bigint NOT NULL,
    PRIMARY KEY (company_id, id)
);
CREATE INDEX uploads_by_expiry ON uploads (company_id, expires_at, id);

ALTER TABLE messages ADD COLUMN media_upload_id uuid;
CREATE INDEX messages_by_upload ON messages (company_id, media_upload_id)
    WHERE media_upload_id IS NOT NULL;
CREATE INDEX messages_sent_files ON messages (company_id, contact_id, media_upload_id)
    WHERE media_upload_id IS NOT NULL;
