-- The index of a contact's names on a channel had the names, too. Once the table was vacuumed, reading
-- all names of a company from it looked cheaper than looking one up, which a large company paid for.
DROP INDEX aliases_by_contact;
CREATE INDEX aliases_by_contact ON aliases (company_id, contact_id);
