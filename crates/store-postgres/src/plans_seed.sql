-- Two companies, with what their contacts refer to.
INSERT INTO companies
SELECT company, 'c', 'enterprise', false, false, 'BR', 0, 0, 1
FROM unnest('{00000000-0000-0000-0000-0000000000c1, 00000000-0000-0000-0000-0000000000c2}'::uuid[])
    AS company;
INSERT INTO pipelines SELECT id, id, 'p', 0, 1 FROM companies;
INSERT INTO stages
SELECT c.id, md5(c.id::text || i)::uuid, c.id, 's', '#fff', i, 1
FROM companies c, generate_series(0, 9) AS i;
INSERT INTO members
SELECT c.id, ('00000000-0000-0000-0000-0000000000a' || i)::uuid, 'm', 'agent', 0, 1
FROM companies c, generate_series(0, 9) AS i;
INSERT INTO lists SELECT id, '00000000-0000-0000-0000-0000000000b1', 'l', true, 0, 1 FROM companies;
INSERT INTO tags SELECT id, '00000000-0000-0000-0000-0000000000d1', 't', '#fff', 0, 1 FROM companies;
