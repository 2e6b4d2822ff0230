-- expands: Tokens of operators: a role, and perhaps one company. Conventions as in the first migration.
CREATE TABLE operator_tokens (
    id BLOB NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    hash BLOB NOT NULL,
    role TEXT NOT NULL,
    company_id BLOB,
    expires_at INTEGER,
    last_used_at INTEGER,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
