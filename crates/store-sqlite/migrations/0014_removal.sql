-- When a company was deleted; a job then removes its rows. Conventions as in the first migration.
ALTER TABLE companies ADD COLUMN deleted_at INTEGER;
