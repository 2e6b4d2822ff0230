-- By which key the body of a kept event is sealed: how it begins.
CREATE INDEX unknown_events_by_seal ON unknown_events ((substr(body, 1, 21)) COLLATE "C");
