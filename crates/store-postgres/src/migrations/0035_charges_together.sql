-- Charges calls that have the same allowances, one after the other, in the order of their times: the
-- rows of the allowances are read and written once for all of them. For each call, the time that it
-- has to wait, or 0. A call that waits is not charged.
CREATE FUNCTION
recado_rate_checks(keys text[], intervals bigint[], bursts bigint[], times bigint[])
RETURNS SETOF bigint LANGUAGE plpgsql AS $$
DECLARE
    tats bigint[] := '{}';
    charged bigint[];
    tat bigint;
    now bigint;
    wait bigint;
BEGIN
    FOR i IN 1 .. cardinality(keys) LOOP
        LOOP
            SELECT r.tat INTO tat FROM rate_limits r WHERE r.key = keys[i] FOR UPDATE;
            EXIT WHEN FOUND;
            INSERT INTO rate_limits VALUES (keys[i], 0) ON CONFLICT DO NOTHING;
        END LOOP;
        tats := tats || tat;
    END LOOP;
    FOREACH now IN ARRAY times LOOP
        wait := 0;
        charged := '{}';
        FOR i IN 1 .. cardinality(keys) LOOP
            tat := tats[i];
            -- A state more than two minutes, and twice the allowance, ahead is from a clock that was
            -- ahead: it counts as none.
            IF tat > now + greatest(120000000, 2 * bursts[i]) THEN
                tat := now;
            END IF;
            tat := greatest(tat, now) + intervals[i];
            charged := charged || tat;
            wait := greatest(wait, tat - now - bursts[i]);
        END LOOP;
        IF wait = 0 THEN
            tats := charged;
        END IF;
        RETURN NEXT wait;
    END LOOP;
    FOR i IN 1 .. cardinality(keys) LOOP
        UPDATE rate_limits r SET tat = tats[i] WHERE r.key = keys[i] AND r.tat <> tats[i];
    END LOOP;
END
$$;
DROP FUNCTION recado_rate_check(text[], bigint[], bigint[], bigint);
