//! The records that a body which creates or changes a contact refers to, in one read.

use recado_core::contacts::{
    DraftFacts, DraftQuery, Email, Identifier, OrganizationKey, Phone, Platform, Region,
};
use recado_core::custom_fields::{CustomField, FieldStatus};
use recado_core::ids::{CloseReasonId, CustomFieldId, ListId, MemberId, OrganizationId, TagId};
use recado_core::organizations::Cnpj;
use recado_core::store::{ChangeSet, Removable, Stored};

use super::Harness;
use super::channel_scene::{key, platform};
use super::scene::{CNPJ, OTHER_CNPJ, Scene, at, first};

async fn facts(scene: &Scene, query: DraftQuery) -> DraftFacts {
    scene.store.draft_facts(scene.company, &query).await.expect("the store works")
}

fn phone(text: &str) -> Option<Phone> {
    Some(Phone::parse(text, &Region::br()).expect("a phone number"))
}

fn identifiers(texts: &[&str]) -> Vec<Identifier> {
    texts.iter().filter_map(|text| Identifier::parse(text)).collect()
}

/// An empty query answers nothing.
pub async fn an_empty_query_answers_nothing(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    assert_eq!(facts(&scene, DraftQuery::default()).await, DraftFacts::default());
    let mut contact = scene.contact();
    contact.email = Email::parse("ana@example.com").ok();
    scene.add_all([contact, scene.contact_with_phone("+5511987654321")]).await;
    scene.add(scene.organization(CNPJ)).await;
    assert_eq!(facts(&scene, DraftQuery::default()).await, DraftFacts::default());
}

/// D17: phones are unique over all channels, and an identifier may be a phone without its ninth
/// digit.
pub async fn the_holder_has_the_phone_or_an_identifier_on_any_channel(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let mut by_phone = scene.contact_named("a-lid");
    by_phone.phone = phone("+5511987654321");
    let mut by_identifier = scene.contact_named("553491234567");
    by_identifier.source_platform = Platform::parse("telegram").expect("a channel");
    scene.add_all([by_phone.clone(), by_identifier.clone()]).await;

    let ask = |phone: Option<Phone>, texts: &[&str]| DraftQuery {
        phones: phone.into_iter().collect(),
        identifiers: identifiers(texts),
        ..DraftQuery::default()
    };
    let holder = async |query| facts(&scene, query).await.holder;
    let query = ask(phone("+5511987654321"), &["5511987654321", "551187654321"]);
    assert_eq!(holder(query).await, Some(by_phone.id));
    let query = ask(phone("+5534991234567"), &["5534991234567", "553491234567"]);
    assert_eq!(holder(query).await, Some(by_identifier.id));
    let query = ask(phone("+5521987654321"), &["5521987654321", "552187654321"]);
    assert_eq!(holder(query).await, None);
    let mut several = ask(phone("+5521987654321"), &[]);
    several.phones.extend(phone("+5511987654321"));
    assert_eq!(holder(several).await, Some(by_phone.id));
    assert_eq!(holder(ask(None, &["a-lid"])).await, Some(by_phone.id));
    assert_eq!(holder(ask(None, &["A-LID"])).await, None);
}

/// `created_at`, then `id`.
pub async fn the_oldest_holder_is_named(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let mut contacts: Vec<_> = (0..5)
        .map(|n| {
            let mut contact = scene.contact_named(&format!("lid-{n}"));
            contact.phone = phone("+5511987654321");
            contact.created_at = at([7, 3, 3, 9, 3][n]);
            contact
        })
        .collect();
    // An identifier counts in the same way as a phone.
    contacts[3].phone = None;
    scene.add_all(contacts.iter().rev().cloned().collect::<Vec<_>>()).await;
    let query = DraftQuery {
        phones: phone("+5511987654321").into_iter().collect(),
        identifiers: identifiers(&["lid-3", "lid-0"]),
        ..DraftQuery::default()
    };
    assert_eq!(facts(&scene, query.clone()).await.holder, Some(contacts[1].id));
    for gone in [1, 2, 4] {
        scene.apply(first(contacts[gone].clone()).delete()).await;
    }
    assert_eq!(facts(&scene, query.clone()).await.holder, Some(contacts[0].id));
    scene.apply(first(contacts[0].clone()).delete()).await;
    assert_eq!(facts(&scene, query).await.holder, Some(contacts[3].id));
}

/// Only `email` identifies a contact; `shared_email` does not (D20).
pub async fn the_holder_of_an_email_is_named(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let email = Email::parse("ana@example.com").ok();
    let (mut holder, mut shares) = (scene.contact(), scene.contact());
    holder.email.clone_from(&email);
    shares.shared_email.clone_from(&email);
    scene.add_all([shares, holder.clone()]).await;
    let query = DraftQuery { email, ..DraftQuery::default() };
    assert_eq!(facts(&scene, query).await.email_holder, Some(holder.id));
    let query = DraftQuery { email: Email::parse("b@example.com").ok(), ..DraftQuery::default() };
    assert_eq!(facts(&scene, query).await.email_holder, None);
}

/// There is one organization for each cnpj (D22).
pub async fn an_organization_is_found_by_number_or_id(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (ours, other) = (scene.organization(CNPJ), scene.organization(OTHER_CNPJ));
    scene.add_all([ours.clone(), other.clone()]).await;
    let found = async |key| {
        let query = DraftQuery { organization: Some(key), ..DraftQuery::default() };
        facts(&scene, query).await.organization
    };
    for organization in [ours, other] {
        let by_number = found(OrganizationKey::Cnpj(organization.cnpj.clone())).await;
        assert_eq!(by_number, Some(first(organization.clone())));
        let by_id = found(OrganizationKey::Id(organization.id)).await;
        assert_eq!(by_id, Some(first(organization)));
    }
    assert_eq!(found(OrganizationKey::Id(OrganizationId::new(scene.uuid()))).await, None);
    let unknown = Cnpj::parse("11222333000181").expect("valid");
    assert_eq!(found(OrganizationKey::Cnpj(unknown)).await, None);
}

/// The core decides whether they may be used. Missing ones are left out.
pub async fn lists_fields_and_tags_are_found_in_any_state(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (list, mut inactive) = (scene.list(), scene.list());
    inactive.is_active = false;
    let (field, mut pending) = (scene.field("a"), scene.field("b"));
    pending.status = FieldStatus::Pending;
    let tag = scene.tag();
    scene.add_all([list.clone(), inactive.clone(), scene.list()]).await;
    scene.add_all([field.clone(), pending.clone(), scene.field("c")]).await;
    scene.add_all([tag.clone(), scene.tag()]).await;
    let query = DraftQuery {
        lists: vec![inactive.id, ListId::new(scene.uuid()), list.id],
        fields: vec![pending.id, field.id, CustomFieldId::new(scene.uuid())],
        tags: vec![TagId::new(scene.uuid()), tag.id],
        ..DraftQuery::default()
    };
    let found = facts(&scene, query).await;
    let mut lists = found.lists;
    lists.sort_by_key(|list| list.id);
    assert_eq!(lists, [first(list), first(inactive)]);
    let mut fields = found.fields;
    fields.sort_by_key(|field| field.id);
    assert_eq!(fields, [first(field), first(pending)]);
    assert_eq!(found.tags, [first(tag)]);
}

/// D46: by id or by slug, in any status. Each is answered once, even if it is asked for twice.
pub async fn fields_are_found_by_id_and_by_slug_each_once(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let mut fields: Vec<_> = ["cidade", "Cidade", "a.b-c_1", "x"].map(|s| scene.field(s)).to_vec();
    for (field, status) in fields.iter_mut().zip(FieldStatus::ALL.iter().cycle()) {
        field.status = *status;
    }
    scene.add_all(fields.clone()).await;
    other.add_all(["cidade", "theirs"].map(|slug| other.field(slug))).await;
    let found = async |ids: &[usize], slugs: &[&str]| {
        let query = DraftQuery {
            fields: ids.iter().map(|n| fields[*n].id).collect(),
            slugs: slugs.iter().map(|slug| (*slug).to_owned()).collect(),
            ..DraftQuery::default()
        };
        let mut found = facts(&scene, query).await.fields;
        found.sort_by_key(|field| field.id);
        let at = |field: &Stored<CustomField>| fields.iter().position(|f| f == field.value());
        found.iter().map(|field| at(field).expect("one of ours")).collect::<Vec<_>>()
    };
    assert_eq!(found(&[], &["cidade"]).await, [0]);
    assert_eq!(found(&[], &["CIDADE", "theirs", "", "y"]).await, [] as [usize; 0]);
    assert_eq!(found(&[], &["x", "a.b-c_1", "Cidade", "y"]).await, [1, 2, 3]);
    assert_eq!(found(&[3, 0], &["Cidade"]).await, [0, 1, 3]);
    assert_eq!(found(&[0, 2, 0], &["cidade", "cidade", "a.b-c_1"]).await, [0, 2], "each once");
}

/// The lists and tags that the written contact has already.
pub async fn memberships_are_reported_the_named_lists_and_tags_in_full(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, other) = (scene.contact(), scene.contact());
    let lists = [scene.list(), scene.list(), scene.list()];
    let tags = [scene.tag(), scene.tag(), scene.tag()];
    let changes = ChangeSet::new().insert(contact.clone()).insert(other.clone());
    let changes = lists.iter().fold(changes, |changes, list| changes.insert(list.clone()));
    let changes = tags.iter().fold(changes, |changes, tag| changes.insert(tag.clone()));
    let changes = changes
        .insert(scene.joins(&contact, &lists[0]))
        .insert(scene.joins(&contact, &lists[1]))
        .insert(scene.joins(&other, &lists[2]))
        .insert(scene.tagged(&contact, &tags[0]))
        .insert(scene.tagged(&contact, &tags[1]))
        .insert(scene.tagged(&other, &tags[2]));
    scene.store.commit(changes).await.expect("all can be stored");
    let query = DraftQuery {
        contact: Some(contact.id),
        lists: vec![lists[1].id, lists[2].id],
        ..DraftQuery::default()
    };
    let found = facts(&scene, query.clone()).await;
    assert_eq!(found.contact, Some(first(contact)));
    assert_eq!(found.member_of, [lists[1].id]);
    let mut tagged = found.tagged;
    tagged.sort();
    assert_eq!(tagged, [tags[0].id, tags[1].id]);
    let nobody = facts(&scene, DraftQuery { contact: None, ..query }).await;
    assert_eq!((nobody.contact, nobody.member_of, nobody.tagged), (None, vec![], vec![]));
}

/// Members and close reasons: which of the ids exist.
pub async fn members_and_close_reasons_are_known_by_id(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (member, reason) = (scene.member(), scene.close_reason());
    scene.add(member.clone()).await;
    scene.add(reason.clone()).await;
    let ask = |member, reason| DraftQuery {
        member: Some(member),
        close_reason: Some(reason),
        ..DraftQuery::default()
    };
    let known = facts(&scene, ask(member.id, reason.id)).await;
    assert!(known.member && known.close_reason);
    let (member, reason) = (MemberId::new(scene.uuid()), CloseReasonId::new(scene.uuid()));
    let unknown = facts(&scene, ask(member, reason)).await;
    assert!(!unknown.member && !unknown.close_reason);
}

/// Promise 8.
pub async fn nothing_of_another_company_is_reported(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let mut contact = scene.contact_with_phone("+5511987654321");
    contact.email = Email::parse("ana@example.com").ok();
    let (list, field, tag) = (scene.list(), scene.field("a"), scene.tag());
    let (member, reason) = (scene.member(), scene.close_reason());
    let organization = scene.organization(CNPJ);
    let (connection, alias) = (scene.connection(), scene.alias(&contact, "a-lid"));
    let changes = ChangeSet::new()
        .insert(contact.clone())
        .insert(connection.clone())
        .insert(alias.clone())
        .insert(list.clone())
        .insert(field.clone())
        .insert(tag.clone())
        .insert(member.clone())
        .insert(reason.clone())
        .insert(organization.clone())
        .insert(scene.joins(&contact, &list))
        .insert(scene.tagged(&contact, &tag));
    scene.store.commit(changes).await.expect("all can be stored");
    let query = DraftQuery {
        contact: Some(contact.id),
        phones: contact.phone.iter().cloned().collect(),
        identifiers: vec![contact.identifier.clone()],
        email: contact.email.clone(),
        organization: Some(OrganizationKey::Cnpj(organization.cnpj.clone())),
        lists: vec![list.id],
        fields: vec![field.id],
        slugs: vec![field.slug.clone()],
        tags: vec![tag.id],
        member: Some(member.id),
        close_reason: Some(reason.id),
        keys: vec![alias.key.clone()],
        alias: Some((alias.platform, alias.key)),
        connection: Some(connection.id),
    };
    let theirs = facts(&other, query.clone()).await;
    assert_eq!(theirs, DraftFacts::default());
    let ours = facts(&scene, query).await;
    assert_eq!(ours.holder, Some(contact.id));
    assert_eq!(ours.organization, Some(first(organization)));
    assert_eq!((ours.connection, ours.alias_taken), (Some(first(connection)), true));
}

/// D62: an alias identifies a contact on any channel, like a phone.
pub async fn the_holder_may_be_known_by_an_alias(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (young, mut old, mut other) = (scene.contact(), scene.contact(), scene.contact());
    old.created_at = at(-5);
    old.source_platform = platform("telegram");
    other.phone = phone("+5511987654321");
    other.created_at = at(-3);
    scene.add_all([young.clone(), old.clone(), other.clone()]).await;
    scene.add_all([scene.alias(&young, "a"), scene.alias(&old, "b")]).await;
    scene.add(scene.alias(&young, "c")).await;
    let ask = |names: &[&str], phone: Option<Phone>| DraftQuery {
        keys: names.iter().map(|name| key(name)).collect(),
        phones: phone.into_iter().collect(),
        ..DraftQuery::default()
    };
    let holder = async |query| facts(&scene, query).await.holder;
    assert_eq!(holder(ask(&["a"], None)).await, Some(young.id));
    assert_eq!(holder(ask(&["c", "x"], None)).await, Some(young.id));
    assert_eq!(holder(ask(&["a", "b"], None)).await, Some(old.id));
    assert_eq!(holder(ask(&["x", "A"], None)).await, None);
    assert_eq!(holder(ask(&["a"], phone("+5511987654321"))).await, Some(other.id));
    assert_eq!(holder(ask(&["b"], phone("+5511987654321"))).await, Some(old.id));
}

/// An alias is unique on its own channel only.
pub async fn a_taken_alias_and_a_connection_are_reported(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, connection) = scene.pair().await;
    scene.add(scene.alias(&contact, "a-lid")).await;
    let ask = |channel: &str, name: &str| DraftQuery {
        alias: Some((platform(channel), key(name))),
        ..DraftQuery::default()
    };
    let taken = async |query| facts(&scene, query).await.alias_taken;
    assert!(taken(ask("whatsapp", "a-lid")).await);
    assert!(!taken(ask("telegram", "a-lid")).await);
    assert!(!taken(ask("whatsapp", "A-LID")).await);
    // It is not reported as the holder, because the query does not ask for the holder.
    assert_eq!(facts(&scene, ask("whatsapp", "a-lid")).await.holder, None);

    let ask = |id| DraftQuery { connection: Some(id), ..DraftQuery::default() };
    let known = facts(&scene, ask(connection.id)).await.connection;
    assert_eq!(known, Some(first(connection)));
    assert_eq!(facts(&scene, ask(scene.connection().id)).await.connection, None);
}

/// D17: (company, source_platform, identifier).
pub async fn a_contact_is_found_by_its_identifier_on_its_channel(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let telegram = Platform::parse("telegram").expect("a channel");
    let (here, mut there) = (scene.contact_named("ana"), scene.contact_named("ana"));
    there.source_platform = telegram.clone();
    scene.add_all([here.clone(), there.clone()]).await;
    let (store, company) = (&scene.store, scene.company);
    let find = async |platform: &Platform, text: &str| {
        let identifier = Identifier::parse(text).expect("acceptable");
        let found = store.contact_by_identifier(company, platform, &identifier).await;
        found.expect("the store works").map(|contact| contact.id)
    };
    assert_eq!(find(&Platform::whatsapp(), "ana").await, Some(here.id));
    assert_eq!(find(&telegram, "ana").await, Some(there.id));
    assert_eq!(find(&telegram, "bia").await, None);
    assert_eq!(find(&Platform::parse("sms").expect("a channel"), "ana").await, None);
    let other = scene.another_company().await;
    let found = store.contact_by_identifier(other.company, &telegram, &there.identifier).await;
    assert_eq!(found.expect("the store works"), None);
}

/// Whether a row refers to them, which prevents their deletion.
pub async fn use_of_members_and_close_reasons_is_reported(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (store, company) = (&scene.store, scene.company);
    let (member, reason) = (scene.member(), scene.close_reason());
    let mut contact = scene.contact();
    contact.assigned_to_member_id = Some(member.id);
    contact.last_close_reason_id = Some(reason.id);
    scene.add(member.clone()).await;
    scene.add(reason.clone()).await;
    let used = async || {
        let member = store.is_in_use(company, Removable::Member(member.id)).await.expect("works");
        (member, store.is_in_use(company, Removable::CloseReason(reason.id)).await.expect("works"))
    };
    assert_eq!(used().await, (false, false));
    scene.add(contact.clone()).await;
    assert_eq!(used().await, (true, true));
    let free = first(contact.clone()).changed(at(1), |c| c.assigned_to_member_id = None);
    scene.apply(first(contact.clone()).update(free)).await;
    assert_eq!(used().await, (false, true));
    scene.apply(scene.stored(contact.id).await.delete()).await;
    assert_eq!(used().await, (false, false));
}
