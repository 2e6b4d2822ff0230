-- Who wrote a message belongs to messages in groups only. It used to be kept of any message.
UPDATE messages SET participant = NULL, participant_phone = NULL, participant_name = NULL
WHERE participant IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM contacts
    WHERE contacts.company_id = messages.company_id AND contacts.id = messages.contact_id
    AND contacts.is_group
);
