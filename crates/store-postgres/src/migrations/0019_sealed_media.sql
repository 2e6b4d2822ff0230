-- By which key the gateway's address of a message's file is sealed: how it begins.
CREATE INDEX messages_by_seal ON messages ((substr(media_source, 1, 21)) COLLATE "C")
    WHERE media_source IS NOT NULL;
