-- What an operator has halted: sending or writing, for one company or, where the subject is the nil
-- id, for the installation. Every commit reads it, so it is locked as commit_entry.rs says.
CREATE TABLE halts (
    kind text COLLATE "C" NOT NULL,
    subject uuid NOT NULL,
    reason text,
    since bigint NOT NULL,
    is_final boolean NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT halt PRIMARY KEY (kind, subject)
);
