-- expands: Numbers that asked to stop, as keyed hashes. Conventions as in the first migration.
CREATE TABLE remembered_opt_outs (
    company_id BLOB NOT NULL REFERENCES companies (id),
    hash BLOB NOT NULL,
    since INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, hash)
) STRICT, WITHOUT ROWID;
