-- What messages hold besides text and file: one JSON value, null where there is nothing.
ALTER TABLE messages ADD COLUMN blocks TEXT;
