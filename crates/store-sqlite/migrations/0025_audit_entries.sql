-- expands: The audit log: who did what, when, from where. Conventions as in the first migration.
CREATE TABLE audit_entries (
    id BLOB NOT NULL PRIMARY KEY,
    company_id BLOB,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    actor_id BLOB,
    client TEXT,
    operation TEXT NOT NULL,
    records TEXT NOT NULL,
    denied TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_entries_by_company ON audit_entries (company_id, at, id);
CREATE INDEX audit_entries_by_time ON audit_entries (at, id);
