//! Rows are read back as they were stored, by their own company.

use recado_core::Timestamp;
use recado_core::access::{ApiKey, Company, Features, Member, Plan, Role, Scope, Scopes, TimeZone};
use recado_core::contacts::{
    Address, Birthday, Contact, Cpf, CrmStatus, Email, InboxStatus, Platform, PostalCode, Priority,
    Profile, Region,
};
use recado_core::custom_fields::{CustomField, FieldStatus, FieldType};
use recado_core::deals::{Deal, DealStatus, Pipeline, Stage};
use recado_core::documents::{Document, DocumentState};
use recado_core::ids::{ConnectionId, ContactId, DocumentId};
use recado_core::jobs::{Job, JobKind, PurgeStage};
use recado_core::links::Link;
use recado_core::lists::List;
use recado_core::organizations::Organization;
use recado_core::store::{RecordsExt, Row};
use recado_core::tags::{CloseReason, Tag};

use super::Harness;
use super::call_site::assert_same;
use super::scene::{CNPJ, Scene, at, first};

/// A contact in which no field has its default value, with all records it refers to.
pub(super) async fn full_contact(scene: &Scene) -> Contact {
    let pipeline = scene.pipeline();
    let (stage, member) = (scene.stage(&pipeline, 0), scene.member());
    let (reason, organization) = (scene.close_reason(), scene.organization(CNPJ));
    let (city, team) = (scene.field("cidade"), scene.field("time"));
    let filled = |text: &str| Some(text.to_owned());
    let mut contact = scene.contact_with_phone("+5511987654321");
    contact.source_platform = Platform::parse("qr-whatsapp_2").expect("a channel");
    contact.email = Email::parse("ana@example.com").ok();
    contact.shared_email = Email::parse("familia@example.com").ok();
    contact.name = "Ana Lúcia".to_owned();
    contact.wa_profile_name = filled("Aninha");
    contact.wa_push_name = filled("ana ☕");
    contact.avatar_url = filled("https://example.com/a.png");
    contact.observation = filled("gosta de\tcafé\n\"forte\"");
    contact.inbox_status = InboxStatus::Resolved;
    contact.priority = Priority::Urgent;
    contact.crm_status = CrmStatus::Customer;
    contact.is_ai_enabled = false;
    contact.external_ai_enabled = false;
    contact.ai_paused_until = Some(at(11));
    contact.opted_out_at = Some(at(12));
    contact.opt_out_backfilled = true;
    contact.opted_in_at = Some(at(13));
    contact.is_archived = true;
    contact.is_pinned = true;
    contact.is_muted = true;
    contact.is_blocked = true;
    contact.is_group = true;
    contact.is_simulated = true;
    contact.has_unread = true;
    contact.external_chat_id = filled("chat-1");
    contact.first_message_at = Some(at(-5));
    contact.last_message_at = Some(at(-1));
    contact.last_inbound_at = Some(at(-2));
    contact.last_read_at = Some(at(-3));
    contact.last_closed_at = Some(at(-4));
    contact.last_close_reason_id = Some(reason.id);
    contact.address = Address {
        street: filled("Rua das Flores"),
        street_number: filled("12A"),
        complement: filled("fundos"),
        neighborhood: filled("Centro"),
        city: filled("Uberlândia"),
        state: filled("MG"),
        postal_code: PostalCode::parse("38400-100").ok(),
        country: filled("Brasil"),
    };
    contact.profile = Profile {
        birthday: Birthday::parse("1990-02-28").ok(),
        cpf: Cpf::parse("529.982.247-25").ok(),
        rg: filled("MG-1"),
        genero: filled("feminino"),
        estado_civil: filled("casada"),
        profissao: filled("padeira"),
        cargo: filled("dona"),
    };
    contact.organization_id = Some(organization.id);
    contact.pipeline_stage_id = Some(stage.id);
    contact.assigned_to_member_id = Some(member.id);
    contact.last_connection_id = Some(ConnectionId::new(scene.uuid()));
    contact.custom_fields =
        [(city.id, "São Paulo".to_owned()), (team.id, "a\"b\\c".to_owned())].into();
    contact.created_at = at(-9);
    contact.updated_at = at(9);
    contact.derive();
    let rows: Vec<Row> = vec![
        pipeline.into(),
        stage.into(),
        member.into(),
        reason.into(),
        organization.into(),
        city.into(),
        team.into(),
    ];
    scene.add_all(rows).await;
    contact
}

/// Every read gives back all fields of a contact.
pub async fn every_field_of_a_contact_is_read_back(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contact = full_contact(&scene).await;
    assert!(contact.profile.birthday.is_some() && contact.profile.cpf.is_some());
    assert!(contact.address.postal_code.is_some() && contact.email.is_some());
    let plain = scene.contact();
    scene.add_all([contact.clone(), plain.clone()]).await;
    for wanted in [&contact, &plain] {
        let (store, company) = (&scene.store, scene.company);
        let read = scene.stored(wanted.id).await;
        assert_same(read.value(), wanted);
        let (record, _) =
            store.contact_record(company, wanted.id).await.expect("works").expect("there");
        assert_same(record.contact.value(), wanted);
        let page = scene.page(&Default::default(), 1, 10).await;
        let listed = page.records.iter().find(|r| r.contact.id == wanted.id).expect("listed");
        assert_same(listed.contact.value(), wanted);
        let export = store.contact_export(company, &Default::default(), None, 10, false).await;
        let export = export.expect("the store works");
        let listed = export.records.iter().find(|r| r.contact.id == wanted.id).expect("listed");
        assert_same(listed.contact.value(), wanted);
        let (platform, identifier) = (&wanted.source_platform, &wanted.identifier);
        let found = store.contact_by_identifier(company, platform, identifier).await;
        assert_same(found.expect("the store works").expect("there").value(), wanted);
    }
    // Every field is set to its default, and to a value again.
    let mut emptied = plain.clone();
    (emptied.id, emptied.created_at) = (contact.id, contact.created_at);
    emptied.identifier = scene.contact().identifier;
    scene.apply(first(contact.clone()).update(emptied.clone())).await;
    assert_same(scene.stored(contact.id).await.value(), &emptied);
    scene.apply(scene.stored(contact.id).await.update(contact.clone())).await;
    assert_same(scene.stored(contact.id).await.value(), &contact);
}

/// Times are stored exactly, from the year 1 to 9999.
pub async fn the_extremes_of_time_are_read_back(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    for time in [Timestamp::MIN, Timestamp::from_millis(-1), at(1), Timestamp::MAX] {
        let mut contact = scene.contact();
        contact.last_message_at = Some(time);
        contact.last_read_at = Some(time);
        contact.updated_at = time;
        contact.created_at = time;
        scene.add(contact.clone()).await;
        assert_same(scene.stored(contact.id).await.value(), &contact);
        let mut job = scene.job();
        (job.due_at, job.leased_until) = (Timestamp::MAX, Some(time));
        scene.add(job).await;
    }
    let filter = Default::default();
    let export = scene.store.contact_export(scene.company, &filter, None, 9, false);
    let export = export.await.expect("the store works");
    let times: Vec<_> = export.records.iter().map(|r| r.contact.created_at).collect();
    assert_eq!(times, [Timestamp::MIN, Timestamp::from_millis(-1), at(1), Timestamp::MAX]);
}

/// Texts are stored exactly, whatever they contain.
pub async fn awkward_texts_are_read_back(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let field = scene.field("campo");
    scene.add(field.clone()).await;
    let texts = [
        "",
        "'; DROP TABLE contacts; --",
        "100% _sure_ \\ \"quoted\" `tick` $1 ?1 :x @y",
        "linha 1\nlinha 2\tfim",
        "e\u{301} é ﬁ İ ß 東京 🇧🇷 👩‍👩‍👧 \u{202e}abc",
        "{\"a\":[1,null]}",
        "NULL",
        "\u{1f}\u{7f}\u{fffd}\u{10ffff}",
    ];
    for text in texts.into_iter().map(str::to_owned).chain(["ç".repeat(10_000)]) {
        let mut contact = scene.contact();
        contact.name.clone_from(&text);
        contact.observation = Some(text.clone());
        contact.address.city = Some(text.clone());
        if !text.is_empty() {
            contact.custom_fields = [(field.id, text.clone())].into();
        }
        contact.derive();
        scene.add(contact.clone()).await;
        assert_same(scene.stored(contact.id).await.value(), &contact);
        let mut list = scene.list();
        list.name = text;
        scene.add(list.clone()).await;
        let stored = scene.store.list(scene.company, list.id).await.expect("the store works");
        assert_eq!(stored, Some((first(list), 0)));
    }
}

/// All fields of the other rows are read back.
pub async fn every_field_of_the_other_rows_is_read_back(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (store, id) = (scene.store.clone(), scene.company);
    let company = Company {
        name: "Açougue".to_owned(),
        plan: Plan::Professional,
        features: Features { inbound_contacts: true, template_dispatch: false },
        default_region: Region::parse("PT").expect("a region"),
        time_zone: TimeZone::parse("Asia/Kathmandu").expect("a zone"),
        updated_at: at(5),
        deleted_at: None,
        ..scene.company_row(id)
    };
    scene.apply(first(scene.company_row(id)).update(company.clone())).await;
    let stored = store.get::<Company>(id).await.expect("works").expect("there");
    assert_eq!((stored.value(), stored.version().number()), (&company, 2));

    let contact = scene.contact();
    scene.add(contact.clone()).await;
    let key = ApiKey {
        name: "Só leitura".to_owned(),
        scopes: Scopes::of(&[Scope::ContactsRead, Scope::LeadMemoryRead]),
        rate_per_minute: 1_000_000,
        export_rate_per_minute: 1,
        expires_at: Some(at(9)),
        last_used_at: Some(at(-7)),
        created_at: at(3),
        ..scene.key()
    };
    let none = ApiKey { scopes: Scopes::default(), ..scene.key() };
    scene.add_all([key.clone(), none.clone()]).await;
    assert_eq!(store.get::<ApiKey>((id, key.id)).await.expect("works"), Some(first(key)));
    assert_eq!(store.get::<ApiKey>((id, none.id)).await.expect("works"), Some(first(none)));
    let member = Member { role: Role::Admin, created_at: at(3), ..scene.member() };
    scene.add(member.clone()).await;
    assert_eq!(store.get::<Member>((id, member.id)).await.expect("works"), Some(first(member)));
    for (field_type, status) in [
        (FieldType::Text, FieldStatus::Active),
        (FieldType::Select, FieldStatus::Pending),
        (FieldType::Boolean, FieldStatus::Inactive),
    ] {
        let slug = field_type.to_string();
        let field = CustomField { field_type, status, ..scene.field(&slug) };
        scene.add(field.clone()).await;
        let by_slug = store.custom_field_by_slug(id, &slug).await.expect("works");
        assert_eq!(by_slug, Some(first(field.clone())));
        assert_eq!(store.get::<CustomField>((id, field.id)).await.expect("works"), by_slug);
    }
    let list = List { is_active: false, created_at: at(3), ..scene.list() };
    scene.add(list.clone()).await;
    assert_eq!(store.list(id, list.id).await.expect("works"), Some((first(list), 0)));
    let tag = Tag { name: "É".to_owned(), color: "tomato".to_owned(), ..scene.tag() };
    scene.add(tag.clone()).await;
    assert_eq!(store.get::<Tag>((id, tag.id)).await.expect("works"), Some(first(tag)));
    let reason = CloseReason { created_at: at(3), ..scene.close_reason() };
    scene.add(reason.clone()).await;
    assert_eq!(
        store.get::<CloseReason>((id, reason.id)).await.expect("works"),
        Some(first(reason))
    );
    let pipeline = scene.pipeline();
    let stage = scene.stage(&pipeline, 7);
    scene.add(pipeline.clone()).await;
    scene.add(stage.clone()).await;
    assert_eq!(
        store.get::<Pipeline>((id, pipeline.id)).await.expect("works"),
        Some(first(pipeline))
    );
    assert_eq!(
        store.get::<Stage>((id, stage.id)).await.expect("works"),
        Some(first(stage.clone()))
    );
    for status in [DealStatus::Open, DealStatus::Won, DealStatus::Lost] {
        let deal = Deal {
            stage_entered_at: Some(at(-7)),
            status,
            updated_at: at(8),
            ..scene.deal(&contact, Some(&stage))
        };
        scene.add(deal.clone()).await;
        assert_eq!(store.get::<Deal>((id, deal.id)).await.expect("works"), Some(first(deal)));
    }
    let organization = Organization {
        name: "Aurora".to_owned(),
        razao_social: Some("AURORA LTDA".to_owned()),
        enriched_at: Some(at(4)),
        updated_at: at(5),
        ..scene.organization(CNPJ)
    };
    scene.add(organization.clone()).await;
    let stored = store.get::<Organization>((id, organization.id)).await.expect("works");
    assert_eq!(stored, Some(first(organization)));
    for (state, size) in [(DocumentState::Uploading, 0), (DocumentState::Stored, 26_214_400)] {
        let filename = "orçamento \"final\".pdf".to_owned();
        let document = Document { state, size, filename, ..scene.document(&contact) };
        scene.add(document.clone()).await;
        assert_eq!(
            store.get::<Document>((id, document.id)).await.expect("works"),
            Some(first(document))
        );
    }
    let link = scene.clicked_link(&contact, 3, 9);
    scene.add(link.clone()).await;
    assert_eq!(store.get::<Link>((id, link.id)).await.expect("works"), Some(first(link.clone())));
    assert_eq!(store.link_by_code(&link.code_hash).await.expect("works"), Some(first(link)));
    let job = Job {
        kind: JobKind::Purge {
            contact: contact.id,
            documents: (0..3).map(|_| DocumentId::new(scene.uuid())).collect(),
            stage: PurgeStage::Erasing,
        },
        attempts: 4,
        due_at: at(60_000),
        leased_until: Some(at(30_000)),
        created_at: at(1),
        ..scene.job()
    };
    scene.add(job.clone()).await;
    assert_eq!(
        store.job_like(id, &JobKind::purge_of(contact.id)).await.expect("works"),
        Some(first(job))
    );
}

/// Promise 8, reads by id.
pub async fn a_row_of_another_company_is_missing(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await.company;
    let contact = scene.contact();
    let pipeline = scene.pipeline();
    let stage = scene.stage(&pipeline, 0);
    let (deal, field) = (scene.deal(&contact, None), scene.field("cidade"));
    let (list, tag, reason) = (scene.list(), scene.tag(), scene.close_reason());
    let (member, key, organization) = (scene.member(), scene.key(), scene.organization(CNPJ));
    let (document, link) = (scene.document(&contact), scene.link(&contact));
    let rows: Vec<Row> = vec![
        contact.clone().into(),
        pipeline.clone().into(),
        stage.clone().into(),
        deal.clone().into(),
        field.clone().into(),
        list.clone().into(),
        tag.clone().into(),
        reason.clone().into(),
        member.clone().into(),
        key.clone().into(),
        organization.clone().into(),
        document.clone().into(),
        link.clone().into(),
    ];
    scene.add_all(rows).await;
    let store = &scene.store;
    assert_eq!(store.get::<Contact>((other, contact.id)).await.expect("works"), None);
    assert_eq!(store.contact_record(other, contact.id).await.expect("works"), None);
    assert_eq!(store.get::<Pipeline>((other, pipeline.id)).await.expect("works"), None);
    assert_eq!(store.get::<Stage>((other, stage.id)).await.expect("works"), None);
    assert_eq!(store.get::<Deal>((other, deal.id)).await.expect("works"), None);
    assert_eq!(store.deals(other, Some(contact.id)).await.expect("works"), []);
    assert_eq!(store.get::<CustomField>((other, field.id)).await.expect("works"), None);
    assert_eq!(store.custom_field_by_slug(other, "cidade").await.expect("works"), None);
    assert_eq!(store.list(other, list.id).await.expect("works"), None);
    assert_eq!(store.get::<Tag>((other, tag.id)).await.expect("works"), None);
    assert_eq!(store.get::<CloseReason>((other, reason.id)).await.expect("works"), None);
    assert_eq!(store.get::<Member>((other, member.id)).await.expect("works"), None);
    assert_eq!(store.get::<ApiKey>((other, key.id)).await.expect("works"), None);
    assert_eq!(store.get::<Organization>((other, organization.id)).await.expect("works"), None);
    assert_eq!(store.get::<Document>((other, document.id)).await.expect("works"), None);
    assert_eq!(store.documents(other, contact.id).await.expect("works"), []);
    assert_eq!(store.get::<Link>((other, link.id)).await.expect("works"), None);
    assert_eq!(store.all::<Link>(other).await.expect("works"), []);
    assert_eq!(
        store.get::<Contact>((scene.company, ContactId::new(scene.uuid()))).await.expect("works"),
        None
    );
}
