-- expands: Who a login belongs to at the provider that members sign in with.
ALTER TABLE logins ADD COLUMN subject bytea;
CREATE UNIQUE INDEX login_subject ON logins (subject) WHERE subject IS NOT NULL;
