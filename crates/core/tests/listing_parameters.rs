//! The parameters of the contact listing (4.1, 7.1, D7, D24).

use proptest::prelude::*;
use recado_core::Timestamp;
use recado_core::contacts::{
    AssigneeFilter, Contact, ContactFilter, Facets, Identifier, ListQuery, Platform,
};
use recado_core::ids::{CompanyId, ContactId, MemberId, StageId};
use recado_core::page::{PageRequest, Pagination};
use recado_core::query::Params;
use uuid::Uuid;

fn params(pairs: &[(&str, &str)]) -> Params {
    Params::new(pairs.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect())
}

fn refused(pairs: &[(&str, &str)]) -> String {
    ListQuery::parse(&params(pairs)).expect_err("refused").parameter
}

#[test]
fn each_unacceptable_parameter_is_named() {
    for (name, value) in [
        ("order_by", "name"),
        ("page", "0"),
        ("page", "-1"),
        ("page", "1.5"),
        ("page", ""),
        ("limit", "0"),
        ("limit", "101"),
        ("limit", "+5"),
        ("is_group", "yes"),
        ("is_ai_enabled", "1"),
        ("pipeline_stage_id", "42"),
        ("inbox_status", "closed"),
        ("include", "link_clicks,tags"),
        ("search", "a\u{0}b"),
        ("list_id", "clientes"),
        ("tag_id", ""),
        ("assigned_to", "me"),
        ("unread", "yes"),
        ("updated_since", "yesterday"),
        ("active_since", "2026-13-01"),
    ] {
        assert_eq!(refused(&[(name, value)]), name, "{name}={value}");
    }
}

#[test]
fn page_and_cursor_each_go_with_one_order() {
    assert_eq!(refused(&[("cursor", "x")]), "cursor");
    assert_eq!(refused(&[("cursor", "x"), ("order_by", "last_message_at")]), "cursor");
    assert_eq!(refused(&[("page", "1"), ("order_by", "created_at")]), "page");
}

#[test]
fn a_repeated_parameter_is_refused_and_an_unknown_one_ignored() {
    assert_eq!(refused(&[("limit", "5"), ("limit", "5")]), "limit");
    assert!(ListQuery::parse(&params(&[("colour", "x"), ("colour", "y")])).is_ok());
}

#[test]
fn a_value_that_no_contact_can_have_matches_nothing_and_is_no_error() {
    for pair in [("crm_status", "gold"), ("source_platform", "Fax Machine")] {
        let filter = ContactFilter::parse(&params(&[pair])).expect("no error");
        assert!(filter.matches_nothing, "{pair:?}");
    }
}

#[test]
fn only_an_export_uses_the_export_allowance() {
    assert!(ListQuery::is_export(&params(&[("order_by", "created_at")])));
    assert!(!ListQuery::is_export(&params(&[("order_by", "last_message_at")])));
    assert!(!ListQuery::is_export(&params(&[])));
}

#[test]
fn nothing_has_no_pages() {
    assert_eq!(Pagination::new(PageRequest::FIRST, 0).total_pages, 0);
    assert_eq!(Pagination::new(PageRequest::FIRST, 50).total_pages, 1);
    assert_eq!(Pagination::new(PageRequest::FIRST, 51).total_pages, 2);
}

fn facets() -> impl Strategy<Value = Facets> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    ("[ab]", any::<bool>(), prop::option::of(0u128..3), 0usize..5, flags).prop_map(
        |(platform, open, stage, crm, (ai, group, assigned, unread))| {
            use recado_core::contacts::{CrmStatus, InboxStatus};
            Facets {
                source_platform: Platform::parse(&platform).expect("a letter"),
                inbox_status: if open { InboxStatus::Open } else { InboxStatus::Resolved },
                pipeline_stage_id: stage.map(|id| StageId::new(Uuid::from_u128(id))),
                crm_status: CrmStatus::ALL[crm],
                is_ai_enabled: ai,
                is_group: group,
                is_assigned: assigned,
                has_unread: unread,
            }
        },
    )
}

proptest! {
    #[test]
    fn equal_facets_and_only_those_have_equal_keys(a in facets(), b in facets()) {
        prop_assert_eq!(a == b, a.key() == b.key());
    }

    #[test]
    fn a_filter_made_of_all_its_facets_passes_a_contact_and_no_other(a in facets(), b in facets()) {
        let filter = ContactFilter {
            source_platform: Some(a.source_platform.clone()),
            inbox_status: Some(a.inbox_status),
            pipeline_stage_id: a.pipeline_stage_id,
            crm_status: Some(a.crm_status),
            is_ai_enabled: Some(a.is_ai_enabled),
            is_group: Some(a.is_group),
            assigned_to: Some(match a.is_assigned {
                true => AssigneeFilter::Member(MemberId::new(Uuid::nil())),
                false => AssigneeFilter::Nobody,
            }),
            unread: Some(a.has_unread),
            ..ContactFilter::default()
        };
        prop_assert!(a.pass(&filter));
        let same_but_stage =
            Facets { pipeline_stage_id: a.pipeline_stage_id, ..b.clone() } == a;
        let same = a == b || (a.pipeline_stage_id.is_none() && same_but_stage);
        prop_assert_eq!(b.pass(&filter), same);
    }

    #[test]
    fn no_query_string_panics(
        pairs in prop::collection::vec(("[a-z_]{1,20}", "\\PC{0,20}"), 0..6),
        known in prop::sample::select(vec![
            "search", "page", "limit", "order_by", "include", "cursor", "assigned_to", "updated_since",
        ]),
        value in "\\PC{0,20}",
    ) {
        let mut pairs = pairs;
        pairs.push((known.to_owned(), value));
        let _ = ListQuery::parse(&Params::new(pairs));
    }

    #[test]
    fn a_contacts_own_fields_find_it(name in recado_core::strategies::names()) {
        let phone = recado_core::contacts::Phone::parse("11987654321", &Default::default()).expect("valid");
        let mut contact = Contact::new(
            ContactId::new(Uuid::nil()),
            CompanyId::new(Uuid::nil()),
            Platform::whatsapp(),
            Identifier::of_phone(&phone),
            Some(phone),
            Timestamp::from_millis(0),
        );
        contact.name = name.clone();
        contact.derive();
        for search in [name.as_str(), "98765-4321", "(11) 8765-4321", "5511987654321"] {
            if let Ok(Some(query)) = recado_core::contacts::SearchQuery::parse(search) {
                prop_assert!(query.matches(&contact.search_text()), "{search}");
            }
        }
    }
}
