-- What templates have beside their text, and what campaigns give for their headers and buttons.
-- Conventions as in the first migration.
ALTER TABLE templates ADD COLUMN components TEXT NOT NULL DEFAULT '{}';
ALTER TABLE campaigns ADD COLUMN header TEXT;
ALTER TABLE campaigns ADD COLUMN buttons TEXT NOT NULL DEFAULT '[]';
