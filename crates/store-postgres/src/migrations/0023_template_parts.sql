-- What templates have beside their text, and what campaigns give for their headers and buttons.
ALTER TABLE templates ADD COLUMN components jsonb NOT NULL DEFAULT '{}';
ALTER TABLE campaigns
    ADD COLUMN header jsonb,
    ADD COLUMN buttons jsonb NOT NULL DEFAULT '[]';
