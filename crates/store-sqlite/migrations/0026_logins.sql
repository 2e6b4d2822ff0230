-- expands: How members log in: logins, one-time links and sessions. Conventions as in the first migration.
CREATE TABLE logins (
    company_id BLOB NOT NULL REFERENCES companies (id),
    member_id BLOB NOT NULL,
    email TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    password TEXT,
    disabled_at INTEGER,
    totp_secret BLOB,
    totp_confirmed_at INTEGER,
    totp_step INTEGER,
    recovery BLOB,
    password_set_at INTEGER,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, member_id),
    FOREIGN KEY (company_id, member_id) REFERENCES members (company_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE login_links (
    company_id BLOB NOT NULL REFERENCES companies (id),
    member_id BLOB NOT NULL,
    hash BLOB NOT NULL,
    purpose TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, member_id),
    FOREIGN KEY (company_id, member_id) REFERENCES members (company_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
    company_id BLOB NOT NULL REFERENCES companies (id),
    id BLOB NOT NULL,
    member_id BLOB NOT NULL,
    hash BLOB NOT NULL,
    last_seen_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, member_id) REFERENCES members (company_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_member ON sessions (company_id, member_id, created_at, id);
