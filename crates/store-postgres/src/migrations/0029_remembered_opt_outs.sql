-- expands: Numbers that asked to stop, as keyed hashes.
CREATE TABLE remembered_opt_outs (
    company_id uuid NOT NULL REFERENCES companies (id),
    hash bytea NOT NULL,
    since bigint NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (company_id, hash)
);
