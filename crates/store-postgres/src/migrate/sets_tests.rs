//! The migration that makes sets of contacts.

use recado_core::contacts::{AssigneeFilter, ContactFilter, ContactReads};
use recado_core::ids::{CompanyId, ListId, MemberId, TagId};
use recado_core::page::PageRequest;

use super::tests::{COMPANY, CONTACTS, migrated};

/// The person is assigned, the group has a tag and unread messages, both are in a list.
const SETS_AT_STEP_18: &str = "\
    INSERT INTO members SELECT id, id, 'Bia', 'agent', 0, 1 FROM companies; \
    INSERT INTO lists SELECT id, id, 'VIP', true, 0, 1 FROM companies; \
    INSERT INTO tags SELECT id, id, 'T', '#fff', 0, 1 FROM companies; \
    INSERT INTO list_members SELECT company_id, company_id, id FROM contacts; \
    INSERT INTO contact_tags SELECT company_id, id, company_id FROM contacts WHERE is_group; \
    UPDATE contacts SET assigned_to_member_id = company_id WHERE NOT is_group; \
    INSERT INTO contact_search SELECT company_id, id, facet, '' FROM contacts; \
    INSERT INTO conversations SELECT company_id, id, company_id, '1', NULL, NULL, \
    CASE WHEN is_group THEN 2 ELSE 0 END, 1 FROM contacts";

/// D77: what was in lists, had tags, was assigned or unread before is found as such.
#[tokio::test(flavor = "multi_thread")]
async fn the_sets_of_contacts_of_an_older_database_are_found() {
    let (_database, store) = migrated(18, &[COMPANY, CONTACTS, SETS_AT_STEP_18]).await;
    let client = store.pool.get().await.unwrap();
    let id = client.query_one("SELECT id FROM companies", &[]).await.unwrap().get(0);
    let all = ContactFilter::default();
    let member = AssigneeFilter::Member(MemberId::new(id));
    for (filter, wanted) in [
        (all.clone(), 2),
        (ContactFilter { list: Some(ListId::new(id)), ..all.clone() }, 2),
        (ContactFilter { tag: Some(TagId::new(id)), is_group: Some(true), ..all.clone() }, 1),
        (ContactFilter { assigned_to: Some(member), unread: Some(false), ..all.clone() }, 1),
        (ContactFilter { list: Some(ListId::new(id)), unread: Some(true), ..all }, 1),
    ] {
        let page = store.contact_page(CompanyId::new(id), &filter, PageRequest::FIRST, false).await;
        let page = page.unwrap();
        assert_eq!((page.total, page.records.len()), (wanted, wanted as usize), "{filter:?}");
        for record in page.records {
            let key = uuid::Uuid::from_bytes(*record.contact.facet_key().as_bytes());
            let query = "SELECT count(*) FROM contacts c JOIN contact_search s \
                         ON s.contact_id = c.id AND s.facet = c.facet WHERE c.facet = $1";
            let kept = client.query_one(query, &[&key]).await.unwrap();
            assert_eq!(kept.get::<_, i64>(0), 1);
        }
    }
}
