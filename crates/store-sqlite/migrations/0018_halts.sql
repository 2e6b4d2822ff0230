-- What an operator has halted: sending or writing, for one company or, where the subject is the nil
-- id, for the installation.
CREATE TABLE halts (
    kind TEXT NOT NULL,
    subject BLOB NOT NULL,
    reason TEXT,
    since INTEGER NOT NULL,
    is_final INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (kind, subject)
) STRICT, WITHOUT ROWID;
