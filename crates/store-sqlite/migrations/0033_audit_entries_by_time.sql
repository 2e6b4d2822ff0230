-- Entries of the audit log lie in the order of their times, so that they need one index less.
CREATE TABLE audit_entries_by_key (
    at INTEGER NOT NULL,
    id BLOB NOT NULL,
    company_id BLOB,
    actor TEXT NOT NULL,
    actor_id BLOB,
    client TEXT,
    operation TEXT NOT NULL,
    records TEXT NOT NULL,
    denied TEXT,
    PRIMARY KEY (at, id)
) STRICT, WITHOUT ROWID;
INSERT INTO audit_entries_by_key
    SELECT at, id, company_id, actor, actor_id, client, operation, records, denied
    FROM audit_entries ORDER BY at, id;
DROP TABLE audit_entries;
ALTER TABLE audit_entries_by_key RENAME TO audit_entries;
CREATE INDEX audit_entries_by_company ON audit_entries (company_id, at, id);
