//! The rules of creating and changing a contact, as properties of the pure decisions (4.3, 4.4).

use proptest::prelude::*;
use recado_core::contacts::{
    Contact, ContactDetail, ContactDraft, ContactRecord, CreateContact, CreateContactError,
    Created, DraftFacts, OrganizationIds, Region, Related, UpdateContact, UpdateContactError,
    creation_stamp,
};
use recado_core::custom_fields::{CustomField, FieldStatus, FieldType};
use recado_core::ids::{CompanyId, ContactId, CustomFieldId, EventId, JobId, OrganizationId};
use recado_core::store::{ChangeKind, Decided, Row, Stored, Version};
use recado_core::{Rejection, Timestamp, UseCase, strategies};
use serde_json::{Map, Value, json};
use uuid::Uuid;

const NOW: Timestamp = Timestamp::from_millis(1_763_000_000_000);

fn company() -> CompanyId {
    CompanyId::new(Uuid::from_u128(1))
}

fn organization_ids() -> OrganizationIds {
    OrganizationIds::new(OrganizationId::new(Uuid::from_u128(2)), JobId::new(Uuid::from_u128(3)))
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().expect("a test writes objects").clone()
}

fn create(body: &Map<String, Value>) -> CreateContact {
    CreateContact {
        company: company(),
        draft: ContactDraft::of_new(body, &Region::br()),
        id: ContactId::new(Uuid::from_u128(4)),
        event: EventId::new(Uuid::from_u128(5)),
        organization: organization_ids(),
    }
}

fn created(body: Value, facts: DraftFacts) -> Decided<Created> {
    create(&object(body)).decide(facts, NOW).expect("acceptable")
}

/// The rows that a decision makes, in order.
fn inserted<T>(decided: &Decided<T>) -> Vec<&Row> {
    let changes = decided.changes.changes.iter();
    let inserts = changes.filter_map(|change| match change.kind() {
        ChangeKind::Insert(row) => Some(row),
        _ => None,
    });
    inserts.collect()
}

fn update(contact: &Contact, body: &Map<String, Value>) -> UpdateContact {
    UpdateContact {
        company: company(),
        id: contact.id,
        region: Region::br(),
        draft: ContactDraft::of_patch(body, &Region::br()),
        organization: organization_ids(),
    }
}

fn facts_of(contact: &Contact) -> DraftFacts {
    DraftFacts {
        contact: Some(Stored::new(contact.clone(), Version::FIRST)),
        ..DraftFacts::default()
    }
}

fn field(id: u128, status: FieldStatus) -> Stored<CustomField> {
    let field = CustomField {
        id: CustomFieldId::new(Uuid::from_u128(id)),
        company: company(),
        slug: format!("field-{id}"),
        label: "Field".to_owned(),
        field_type: FieldType::Text,
        status,
        created_at: NOW,
    };
    Stored::new(field, Version::FIRST)
}

/// Any JSON value of modest size.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-z_]{1,8}", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

const FIELDS: &[&str] = &[
    "phone",
    "name",
    "email",
    "birthday",
    "observation",
    "cpf",
    "rg",
    "genero",
    "estado_civil",
    "profissao",
    "city",
    "state",
    "postal_code",
    "cnpj",
    "custom_fields",
    "list_ids",
];

#[test]
fn every_field_wrong_at_once_is_one_refusal_that_names_all() {
    let body: Map<String, Value> =
        FIELDS.iter().map(|name| ((*name).to_owned(), json!(7))).collect();
    let of_new = match create(&body).decide(DraftFacts::default(), NOW) {
        Err(CreateContactError::Invalid(problems)) => problems,
        other => panic!("{other:?}"),
    };
    let contact = created(json!({"phone": "11987654321"}), DraftFacts::default());
    let contact = contact.output.contact;
    let of_patch = match update(&contact, &body).decide(facts_of(&contact), NOW) {
        Err(UpdateContactError::Invalid(problems)) => problems,
        other => panic!("{other:?}"),
    };
    for problems in [of_new, of_patch] {
        let mut named: Vec<&str> = problems.fields().collect();
        named.sort_unstable();
        let mut wanted = FIELDS.to_vec();
        wanted.sort_unstable();
        assert_eq!(named, wanted);
    }
}

/// D9: what a text may hold is counted in characters, after trimming.
#[test]
fn each_text_may_be_as_long_as_its_limit_and_no_longer() {
    for (name, limit) in [
        ("name", 200),
        ("observation", 10_000),
        ("rg", 200),
        ("genero", 200),
        ("estado_civil", 200),
        ("profissao", 200),
        ("city", 200),
        ("state", 200),
    ] {
        let fits = "ç".repeat(limit);
        created(json!({"phone": "11987654321", name: format!("  {fits} ")}), DraftFacts::default());
        let over = object(json!({"phone": "11987654321", name: format!("{fits}ç")}));
        match create(&over).decide(DraftFacts::default(), NOW) {
            Err(CreateContactError::Invalid(problems)) => {
                assert_eq!(problems.fields().collect::<Vec<_>>(), [name]);
            }
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn unknown_fields_and_what_only_the_database_knows_are_named_in_one_answer() {
    let inactive = field(9, FieldStatus::Inactive);
    let id = inactive.id;
    let facts = DraftFacts { fields: vec![inactive], ..DraftFacts::default() };
    let body = object(json!({"phone": "x", "nmae": "Ana", "custom_fields": {id.to_string(): "v"}}));
    let refused = create(&body).decide(facts, NOW).expect_err("unacceptable");
    let details = refused.details().expect("a validation error has details");
    assert_eq!(details["custom_fields"], json!([id.to_string()]));
    for name in ["phone", "nmae", "custom_fields"] {
        assert!(details["fields"].as_array().expect("array").contains(&json!(name)), "{name}");
        assert!(details["reasons"][name].is_string(), "{name}");
    }
    assert!(details["hint"].is_string());
}

#[test]
fn a_taken_email_goes_to_shared_email_and_the_phone_decides_identity() {
    let holder = ContactId::new(Uuid::from_u128(77));
    let facts = DraftFacts { email_holder: Some(holder), ..DraftFacts::default() };
    let made = created(json!({"phone": "11987654321", "email": " Ana@Example.COM "}), facts).output;
    assert_eq!(made.contact.email, None);
    assert_eq!(made.contact.shared_email.expect("kept").as_str(), "ana@example.com");
    assert_eq!(made.warnings[0].code, "EMAIL_BELONGS_TO_ANOTHER_CONTACT");
}

#[test]
fn a_missing_list_is_named_before_a_taken_phone() {
    let list = Uuid::from_u128(8).to_string();
    let holder = ContactId::new(Uuid::from_u128(77));
    let facts = DraftFacts { holder: Some(holder), ..DraftFacts::default() };
    let body = object(json!({"phone": "11987654321", "list_ids": [list]}));
    let refused = create(&body).decide(facts.clone(), NOW);
    assert!(matches!(refused, Err(CreateContactError::ListsNotFound(_))), "{refused:?}");
    let body = object(json!({"phone": "11987654321"}));
    assert_eq!(
        create(&body).decide(facts, NOW),
        Err(CreateContactError::PhoneTaken { by: holder })
    );
}

#[test]
fn a_new_cnpj_makes_an_organization_and_its_job_and_a_known_one_is_linked() {
    let body = json!({"phone": "11987654321", "cnpj": "12.ABC.345/01DE-35"});
    let decided = created(body.clone(), DraftFacts::default());
    let rows = inserted(&decided);
    let Some(Row::Organization(organization)) =
        rows.iter().find(|row| matches!(row, Row::Organization(_)))
    else {
        panic!("an organization is made");
    };
    assert!(rows.iter().any(|row| matches!(row, Row::Job(_))));
    assert_eq!(organization.name, "12ABC34501DE35");
    let known = Stored::new(organization.clone(), Version::FIRST);
    let facts = DraftFacts { organization: Some(known), ..DraftFacts::default() };
    let linked = created(body, facts);
    assert_eq!(linked.output.contact.organization_id, Some(organization.id));
    let made = inserted(&linked);
    assert!(matches!(made.as_slice(), [Row::Contact(_), Row::Alias(_)]), "{made:?}");
}

/// R38.
#[test]
fn a_new_contact_is_known_on_its_channel_by_its_phone_from_the_start() {
    let decided = created(json!({"phone": "+55 11 8765-4321"}), DraftFacts::default());
    let rows = inserted(&decided);
    let [Row::Contact(contact), Row::Alias(alias)] = rows.as_slice() else {
        panic!("a contact and then its alias: {rows:?}");
    };
    assert_eq!(alias.key.as_str(), "5511987654321");
    assert_eq!(alias.platform, contact.source_platform);
    assert_eq!((alias.company, alias.contact), (contact.company, contact.id));
}

#[test]
fn a_contact_keeps_the_organization_it_has() {
    let mut contact =
        created(json!({"phone": "11987654321"}), DraftFacts::default()).output.contact;
    contact.organization_id = Some(OrganizationId::new(Uuid::from_u128(50)));
    let body = object(json!({"cnpj": "19131243000197"}));
    let decided = update(&contact, &body).decide(facts_of(&contact), NOW).expect("accepted");
    assert_eq!(decided.output.contact, contact);
    assert!(decided.changes.is_empty());
}

#[test]
fn the_own_phone_reformatted_is_accepted_and_another_is_not() {
    let contact = created(json!({"phone": "11987654321"}), DraftFacts::default()).output.contact;
    for same in ["+55 (11) 98765-4321", "11 8765-4321", "5511987654321"] {
        let body = object(json!({"phone": same, "identifier": same}));
        let decided = update(&contact, &body).decide(facts_of(&contact), NOW).expect(same);
        assert!(decided.changes.is_empty(), "{same}");
    }
    let body = object(json!({"phone": "11987654322", "identifier": "other"}));
    let refused = update(&contact, &body).decide(facts_of(&contact), NOW).expect_err("immutable");
    let details = refused.details().expect("details");
    assert_eq!(details["fields"], json!(["phone", "identifier"]));
}

proptest! {
    #[test]
    fn no_body_panics_and_a_refusal_always_names_a_field(
        body in prop::collection::btree_map(
            prop_oneof![prop::sample::select(FIELDS).prop_map(str::to_owned), "[a-z_]{1,10}"],
            json_value(),
            0..8,
        ),
    ) {
        let body: Map<String, Value> = body.into_iter().collect();
        match create(&body).decide(DraftFacts::default(), NOW) {
            Err(CreateContactError::Invalid(problems)) => prop_assert!(problems.fields().count() > 0),
            Err(CreateContactError::ListsNotFound(lists)) => prop_assert!(!lists.is_empty()),
            Err(CreateContactError::PhoneTaken { .. }) => prop_assert!(false, "nobody holds it"),
            Ok(decided) => prop_assert_eq!(decided.changes.events.len(), 1),
        }
        let contact = created(json!({"phone": "11987654321"}), DraftFacts::default()).output.contact;
        let _ = update(&contact, &body).decide(facts_of(&contact), NOW);
    }

    #[test]
    fn the_detail_form_sent_back_whole_changes_nothing(
        phone in strategies::phones(),
        name in strategies::names(),
        email in strategies::emails(),
        cpf in strategies::cpfs(),
        value in "[a-zA-Z0-9 ]{1,20}",
    ) {
        let active = field(9, FieldStatus::Active);
        let facts = DraftFacts { fields: vec![active.clone()], ..DraftFacts::default() };
        let body = json!({
            "phone": phone.as_str(), "name": name, "email": email.as_str(), "cpf": cpf.as_str(),
            "custom_fields": {active.id.to_string(): value},
        });
        let contact = created(body, facts.clone()).output.contact;
        let record = ContactRecord {
            contact: Stored::new(contact.clone(), Version::FIRST),
            related: Related::default(),
        };
        let detail = ContactDetail::new(&record, &[active.value().clone()], true, false);
        let detail = object(serde_json::to_value(detail).expect("json"));
        let facts = DraftFacts {
            contact: Some(Stored::new(contact.clone(), Version::FIRST)),
            email_holder: Some(contact.id),
            ..facts
        };
        let later = Timestamp::from_millis(NOW.millis() + 5);
        let decided = update(&contact, &detail).decide(facts, later);
        let decided = decided.map_err(|error| TestCaseError::fail(format!("{error:?}")))?;
        prop_assert!(decided.changes.is_empty());
        prop_assert_eq!(decided.output.contact, contact);
    }

    #[test]
    fn a_change_touches_only_what_was_sent(name in strategies::names(), city in "[A-Za-z]{1,20}") {
        let body = json!({"phone": "11987654321", "observation": "kept", "rg": "12"});
        let contact = created(body, DraftFacts::default()).output.contact;
        let later = Timestamp::from_millis(NOW.millis() + 5);
        let body = object(json!({"name": name, "city": city, "rg": ""}));
        let changed = update(&contact, &body)
            .decide(facts_of(&contact), later)
            .expect("accepted")
            .output
            .contact;
        let mut wanted = contact.changed(later, |contact| {
            contact.name = name.trim().to_owned();
            contact.address.city = Some(city.clone());
            contact.profile.rg = None;
        });
        wanted.derive();
        prop_assert_eq!(changed, wanted);
    }

    #[test]
    fn a_new_contact_is_stamped_after_every_position_that_was_handed_out(
        now in 0i64..1_000_000, frontier in prop::option::of(0i64..1_000_000),
    ) {
        let frontier = frontier.map(Timestamp::from_millis);
        let stamp = creation_stamp(Timestamp::from_millis(now), frontier);
        prop_assert!(stamp >= Timestamp::from_millis(now));
        prop_assert!(frontier.is_none_or(|frontier| stamp > frontier));
        prop_assert!(frontier.is_some_and(|frontier| frontier.millis() >= now) || stamp.millis() == now);
    }
}
