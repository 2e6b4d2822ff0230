-- As before, but for one thing: an allowance that is asked for the first time in a call that another
-- allowance refuses stays whole even if the clock is set back. It was kept as used up to the time of
-- that call.
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
        -- A state more than two minutes ahead is from a clock that was ahead: it counts as none.
        IF tat > now + 120000000 THEN
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
