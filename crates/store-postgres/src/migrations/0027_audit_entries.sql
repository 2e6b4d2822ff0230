-- expands: The audit log: who did what, when, from where.
CREATE TABLE audit_entries (
    id uuid NOT NULL PRIMARY KEY,
    company_id uuid,
    at bigint NOT NULL,
    actor text NOT NULL,
    actor_id uuid,
    client text,
    operation text NOT NULL,
    records jsonb NOT NULL,
    denied text
);
CREATE INDEX audit_entries_by_company ON audit_entries (company_id, at, id);
CREATE INDEX audit_entries_by_time ON audit_entries (at, id);
