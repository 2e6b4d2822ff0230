-- expands: Tokens of operators: a role, and perhaps one company.
CREATE TABLE operator_tokens (
    id uuid NOT NULL PRIMARY KEY,
    name text NOT NULL,
    hash bytea NOT NULL,
    role text NOT NULL,
    company_id uuid,
    expires_at bigint,
    last_used_at bigint,
    created_at bigint NOT NULL,
    version bigint NOT NULL
);
