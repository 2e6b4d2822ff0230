-- What a template needs beside the variables of its text, by name.
ALTER TABLE templates ADD COLUMN needs jsonb NOT NULL DEFAULT '{}';
-- What these need was not kept.
UPDATE templates SET needs = '{"other":["parts that are named once the templates are read again"]}'
WHERE is_complex;
ALTER TABLE templates DROP COLUMN is_complex;
