-- The contacts from :first to :last of both companies, under some hundred combinations of filtered
-- values.
INSERT INTO contacts (
    company_id, id, source_platform, identifier, phone, name, display_name, inbox_status, priority,
    crm_status, is_ai_enabled, external_ai_enabled, is_archived, is_pinned, is_muted, is_blocked,
    is_group, is_simulated, last_message_at, custom_fields, created_at, updated_at,
    pipeline_stage_id, assigned_to_member_id, has_unread, facet, version)
SELECT
    company, md5(i::text)::uuid, platform, '5534' || i, '+5534' || lpad(i::text, 9, '0'), name,
    name, inbox, 'normal', crm, ai, true, false, false, false, false, is_group, false,
    CASE WHEN i % 7 > 0 THEN 1700000000000 + (i * 7919::bigint) % 100000000 END, '{}',
    1690000000000 + i * 10, 1690000000000 + i * 10, stage, member, unread,
    md5(concat_ws('|', platform, inbox, stage, crm, ai, is_group, member IS NULL, unread))::uuid, 1
FROM (
    SELECT
        c.id AS company, i, (ARRAY['whatsapp', 'instagram'])[1 + (i % 5 = 0)::int] AS platform,
        (ARRAY['open', 'resolved'])[1 + (i / 3) % 2] AS inbox,
        CASE WHEN i % 100 = 0 THEN 'lost' ELSE (ARRAY['lead', 'customer'])[1 + i % 2] END AS crm,
        (i / 11) % 2 = 0 AS ai, (i / 13) % 10 = 0 AS is_group,
        CASE WHEN i % 6 = 0 THEN ('00000000-0000-0000-0000-0000000000a' || (i / 6) % 10)::uuid
            END AS member,
        i % 17 = 0 AS unread,
        CASE WHEN i % 4 = 0 THEN md5(c.id::text || (i / 17) % 10)::uuid END AS stage,
        (ARRAY['Maria', 'Joana', 'Nona', 'Pedro', 'Carla'])[1 + i % 5] || ' '
            || (ARRAY['Silva', 'Souza', 'Lima'])[1 + i % 3] || ' ' || lpad(i::text, 6, '0') AS name
    FROM companies c, generate_series(:first, :last) AS i) AS made;

INSERT INTO contact_search
SELECT company_id, id, facet, lower(name) || E'\x1f' || phone || E'\x1f\x1f' FROM contacts
WHERE created_at BETWEEN 1690000000000 + :first * 10 AND 1690000000000 + :last * 10;
INSERT INTO list_members
SELECT company_id, '00000000-0000-0000-0000-0000000000b1', id FROM contacts
WHERE created_at / 10 % 2 = 0
    AND created_at BETWEEN 1690000000000 + :first * 10 AND 1690000000000 + :last * 10;
INSERT INTO contact_tags
SELECT company_id, id, '00000000-0000-0000-0000-0000000000d1' FROM contacts
WHERE created_at / 10 % 200 = 0
    AND created_at BETWEEN 1690000000000 + :first * 10 AND 1690000000000 + :last * 10;
