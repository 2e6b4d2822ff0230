-- expands: How members log in: logins, one-time links and sessions; limits over hours.
CREATE TABLE logins (
    company_id uuid NOT NULL REFERENCES companies,
    member_id uuid NOT NULL,
    email text NOT NULL,
    role text NOT NULL,
    password text,
    disabled_at bigint,
    totp_secret bytea,
    totp_confirmed_at bigint,
    totp_step bigint,
    recovery bytea,
    password_set_at bigint,
    created_at bigint NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT login_member PRIMARY KEY (company_id, member_id),
    CONSTRAINT login_email UNIQUE (email),
    FOREIGN KEY (company_id, member_id) REFERENCES members (company_id, id) ON DELETE CASCADE
);

CREATE TABLE login_links (
    company_id uuid NOT NULL REFERENCES companies,
    member_id uuid NOT NULL,
    hash bytea NOT NULL,
    purpose text NOT NULL,
    expires_at bigint NOT NULL,
    created_at bigint NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT login_link_member PRIMARY KEY (company_id, member_id),
    FOREIGN KEY (company_id, member_id) REFERENCES members (company_id, id) ON DELETE CASCADE
);

CREATE TABLE sessions (
    company_id uuid NOT NULL REFERENCES companies,
    id uuid NOT NULL,
    member_id uuid NOT NULL,
    hash bytea NOT NULL,
    last_seen_at bigint NOT NULL,
    created_at bigint NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, member_id) REFERENCES members (company_id, id) ON DELETE CASCADE
);
CREATE INDEX sessions_by_member ON sessions (company_id, member_id, created_at, id);

-- As before, but an allowance may last longer than two minutes.
CREATE OR REPLACE FUNCTION
recado_rate_check(keys text[], intervals bigint[], bursts bigint[], now bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    tats bigint[] := '{}';
    tat bigint;
    wait bigint := 0;
BEGIN
    FOR i IN 1 .. cardinality(keys) LOOP
        LOOP
            SELECT r.tat INTO tat FROM rate_limits r WHERE r.key = keys[i] FOR UPDATE;
            EXIT WHEN FOUND;
            INSERT INTO rate_limits VALUES (keys[i], 0) ON CONFLICT DO NOTHING;
        END LOOP;
        -- A state more than two minutes, and twice the allowance, ahead is from a clock that was
        -- ahead: it counts as none.
        IF tat > now + greatest(120000000, 2 * bursts[i]) THEN
            tat := now;
        END IF;
        tat := greatest(tat, now) + intervals[i];
        tats := tats || tat;
        wait := greatest(wait, tat - now - bursts[i]);
    END LOOP;
    IF wait > 0 THEN
        RETURN wait;
    END IF;
    FOR i IN 1 .. cardinality(keys) LOOP
        UPDATE rate_limits r SET tat = tats[i] WHERE r.key = keys[i];
    END LOOP;
    RETURN 0;
END
$$;
