-- Edits, deletions and names of messages that came before their message: one JSON value.
ALTER TABLE message_refs ADD COLUMN early TEXT;
-- Whether the content of messages that their sender deletes is erased.
ALTER TABLE companies ADD COLUMN erase_deleted_messages INTEGER NOT NULL DEFAULT 0;
