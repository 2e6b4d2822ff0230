-- The cell that a company was moved to: its calls are handed on to it. NULL where nobody said it.
ALTER TABLE halts ADD COLUMN moved_to INTEGER;
