-- Who wrote a message belongs to messages in groups only. It used to be kept of any message.
UPDATE messages m SET participant = NULL, participant_phone = NULL, participant_name = NULL
WHERE m.participant IS NOT NULL AND NOT EXISTS (
    SELECT FROM contacts c
    WHERE c.company_id = m.company_id AND c.id = m.contact_id AND c.is_group);
