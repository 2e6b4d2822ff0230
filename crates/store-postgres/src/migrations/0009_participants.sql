-- Who of a group wrote a message: their phone and name as they were known then.
ALTER TABLE messages
    ADD COLUMN participant_phone text,
    ADD COLUMN participant_name text;
