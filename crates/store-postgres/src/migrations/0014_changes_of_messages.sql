-- Edits, deletions and names of messages that came before their message: one JSON value.
ALTER TABLE message_refs ADD COLUMN early jsonb;
-- Whether the content of messages that their sender deletes is erased.
ALTER TABLE companies ADD COLUMN erase_deleted_messages boolean NOT NULL DEFAULT false;
-- The messages that quote one: answers, reactions, votes.
CREATE INDEX messages_by_quoted ON messages (company_id, quoted_message_id, created_at, id)
    WHERE quoted_message_id IS NOT NULL;
