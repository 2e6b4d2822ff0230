//! Connections, conversations and related rows are read back as they were stored.

use recado_core::Timestamp;
use recado_core::connections::{
    Connection, ConnectionKind, ConnectionSettings, ConnectionStatus, StatusHistory, StatusSince,
};
use recado_core::conversations::{ChannelQuery, Conversation};
use recado_core::groups::Group;
use recado_core::idempotency::{CallState, RememberedCall};
use recado_core::ids::{CampaignId, ConnectionId, ContactId, LedgerLineId, MessageId, UploadId};
use recado_core::jobs::{Job, JobKind};
use recado_core::leads::{Bant, Inferred, LeadMemory};
use recado_core::messages::{
    DeliveryCode, Early, EarlyEdit, Failure, MessageStatus, RefTarget, StatusReport,
};
use recado_core::prosas::{Brl, LedgerLine, LineKind, ProsaScope, Prosas};
use recado_core::store::{RecordsExt, Row};
use recado_core::templates::{
    ButtonKind, ButtonNeed, ButtonPart, Components, HeaderKind, HeaderPart, Template,
    TemplateCategory, TemplateNeeds, TemplateStatus,
};
use recado_core::workers::Worker;
use serde_json::json;

use super::Harness;
use super::channel_scene::{code, platform, wamid};
use super::scene::{Scene, at, first};
use crate::descriptions;

/// Texts that are often stored wrongly.
pub(super) const AWKWARD: &[&str] = &[
    "",
    "'; DROP TABLE messages; --",
    "100% _sure_ \\ \"quoted\" $1 ?1 :x @y",
    "linha 1\nlinha 2\tfim\r\n",
    "e\u{301} é ﬁ İ 東京 🇧🇷 👩‍👩‍👧 \u{202e}abc \u{1f}\u{7f}\u{fffd}\u{10ffff}",
    "{\"a\":[1,null]}",
    "NULL",
];

pub(super) fn filled(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// All fields of connections and templates are read back, including secrets and exact numbers.
pub async fn every_field_of_a_connection_and_a_template_is_read_back(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let settings = json!({
        "api_key": "s3cr3t \"é\" \u{10ffff}",
        "big": 9_007_199_254_740_993_u64,
        "delay_ms": 3_600_000,
        "nothing": null,
        "on": true,
    });
    let settings = settings.as_object().expect("an object").clone();
    let kinds = ConnectionKind::ALL.iter().cycle();
    let statuses = ConnectionStatus::ALL.iter().cycle();
    for ((gateway, kind), status) in descriptions::NAMES.iter().zip(kinds).zip(statuses) {
        let connection = Connection {
            kind: *kind,
            platform: platform("qr-whatsapp_2"),
            name: "São João \"1\"".to_owned(),
            identifier: "+55 11 3322-4455".to_owned(),
            gateway: gateway.clone(),
            settings: ConnectionSettings::from_stored(settings.clone()),
            is_active: false,
            status: *status,
            created_at: Timestamp::MIN,
            updated_at: Timestamp::MAX,
            last_heard_at: Some(Timestamp::MAX),
            ..scene.connection()
        };
        scene.add(connection.clone()).await;
        let stored = scene.connection_now(connection.id).await;
        assert_eq!(stored, Some(first(connection.clone())));
        let plain = Connection { id: connection.id, ..scene.connection() };
        scene.apply(first(connection.clone()).update(plain.clone())).await;
        let stored = scene.connection_now(connection.id).await.expect("there");
        assert_eq!((stored.value(), stored.version().number()), (&plain, 2));

        for status in TemplateStatus::ALL {
            let template = Template {
                name: "promo".to_owned(),
                category: TemplateCategory::ALL[scene.random::<1>()[0] as usize % 3],
                language: "en_US".to_owned(),
                body: "{{1}}\n\"é\" 👩‍👩‍👧 %s \\ {{2}}".to_owned(),
                components: Components {
                    header: Some(HeaderPart {
                        kind: HeaderKind::Text,
                        text: Some("\"é\" {{1}}".to_owned()),
                    }),
                    footer: Some("👩‍👩‍👧 \\".to_owned()),
                    buttons: ButtonKind::ALL
                        .iter()
                        .map(|kind| ButtonPart {
                            kind: *kind,
                            text: "\n\"é\"".to_owned(),
                            url: Some("https://loja.example/{{1}}".to_owned()),
                        })
                        .collect(),
                },
                status: *status,
                provider_id: Some("1627019861106475 \"é\"".to_owned()),
                needs: TemplateNeeds {
                    header: Some("image \"é\"".to_owned()),
                    buttons: vec![ButtonNeed { index: u32::MAX, kind: "url".to_owned() }],
                    other: vec!["👩‍👩‍👧 \\".to_owned()],
                },
                created_at: at(-5),
                updated_at: at(5),
                ..scene.template(Some(&connection))
            };
            scene.add(template.clone()).await;
            let stored =
                scene.store.get::<Template>((scene.company, template.id)).await.expect("works");
            assert_eq!(stored, Some(first(template.clone())));
            let (token_hash, id) = (template.token_hash, template.id);
            let plain = Template { id, token_hash, ..scene.template(Some(&connection)) };
            scene.apply(first(template).update(plain.clone())).await;
            let stored = scene.store.get::<Template>((scene.company, id)).await.expect("works");
            let stored = stored.expect("it is there");
            assert_eq!((stored.value(), stored.version().number()), (&plain, 2));
        }
    }
}

/// All fields that channels report of contacts, groups and statuses are read back.
pub async fn every_field_of_conversations_and_groups_is_read_back(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contact = scene.contact();
    scene.add(contact.clone()).await;
    for (n, text) in AWKWARD.iter().enumerate() {
        let connection = scene.connection();
        scene.add(connection.clone()).await;
        let flag = |bit: usize| n >> bit & 1 == 1;
        let conversation = Conversation {
            identifier: (*text).to_owned(),
            last_message_at: flag(0).then_some(Timestamp::MIN),
            last_inbound_at: flag(1).then_some(Timestamp::MAX),
            unread: if flag(2) { u32::MAX } else { 0 },
            ..scene.conversation(&contact, &connection)
        };
        scene.add(conversation.clone()).await;
        let query = ChannelQuery { ids: vec![contact.id], ..ChannelQuery::default() };
        let found = scene.store.channel_contacts(scene.company, &query).await.expect("works");
        assert_eq!(found[0].conversations.last(), Some(&first(conversation.clone())));
        let record = scene.store.contact_record(scene.company, contact.id).await;
        let (record, _) = record.expect("the store works").expect("the contact is there");
        assert_eq!(record.related.conversations.last(), Some(&(connection.clone(), conversation)));

        let mut group = scene.group(&connection, "120363-1_2.3");
        scene.add(group.clone()).await;
        let met = first(group.clone());
        group.group = Group {
            code: group.group.code,
            subject: Some((*text).to_owned()),
            is_community: flag(0),
            community_code: flag(1).then(|| code("com")),
            is_announcement: flag(2),
            announce_only: !flag(0),
            participates: flag(1),
            is_admin: !flag(2),
        };
        scene.apply(met.update(group.clone())).await;
        let stored = scene.store.groups(scene.company, connection.id).await.expect("works");
        assert_eq!(stored.len(), 1);
        assert_eq!((stored[0].value(), stored[0].version().number()), (&group, 2));

        let times = [Timestamp::MIN, at(0), Timestamp::MAX];
        let since =
            |(at, status): (Timestamp, &ConnectionStatus)| StatusSince { at, status: *status };
        let changes = times.into_iter().zip(ConnectionStatus::ALL.iter().cycle()).map(since);
        let begun = StatusHistory { changes: vec![], ..scene.statuses(&connection) };
        let history = StatusHistory { changes: changes.take(n % 4).collect(), ..begun.clone() };
        scene.add(begun.clone()).await;
        scene.apply(first(begun).update(history.clone())).await;
        let key = (scene.company, connection.id);
        let stored = scene.store.get::<StatusHistory>(key).await.expect("works").expect("kept");
        assert_eq!((stored.value(), stored.version().number()), (&history, 2));
    }
}

/// All fields of reports, workers and remembered calls are read back.
pub async fn every_field_of_reports_workers_and_calls_is_read_back(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, connection) = scene.pair().await;
    let failure = Failure::new(DeliveryCode::Payment, filled("pague \"já\""));
    for (n, (status, failure)) in [
        (MessageStatus::Sent, None),
        (MessageStatus::Delivered, None),
        (MessageStatus::Read, None),
        (MessageStatus::Failed, Some(failure)),
        (MessageStatus::Failed, Some(Failure::uncertain(None))),
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("w{n}");
        let mut row = scene.report(&connection, &id, at(0));
        let report = StatusReport { status, failure };
        let early = Early::of_report(report);
        row.target = RefTarget::Early { early, expires_at: Timestamp::MAX };
        scene.add(row.clone()).await;
        let found = scene.store.referred(scene.company, connection.id, &[wamid(&id)]).await;
        let found = found.expect("the store works").pop().expect("the report is there");
        assert_eq!((found.reference, found.message), (first(row), None));
    }
    let named = || MessageId::new(scene.uuid());
    let edit = |text: &str, n| Some(EarlyEdit { content: text.to_owned(), at: at(n) });
    for (n, early) in [
        Early { edit: edit("a \"new\" text", 3), ..Early::default() },
        Early { deleted_at: Some(at(4)), ..Early::default() },
        Early { named_by: vec![named(), named()], ..Early::default() },
        Early {
            report: Some(StatusReport { status: MessageStatus::Read, failure: None }),
            edit: edit("", 5),
            deleted_at: Some(at(6)),
            named_by: vec![named()],
        },
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("e{n}");
        let mut row = scene.report(&connection, &id, at(0));
        row.target = RefTarget::Early { early, expires_at: Timestamp::MAX };
        scene.add(row.clone()).await;
        let found = scene.store.referred(scene.company, connection.id, &[wamid(&id)]).await;
        let found = found.expect("the store works").pop().expect("the row is there");
        assert_eq!((found.reference, found.message), (first(row), None));
    }
    let longest = "é".repeat(256);
    let row = scene.report(&connection, &longest, Timestamp::MIN);
    scene.add(row.clone()).await;
    let found = scene.store.referred(scene.company, connection.id, &[wamid(&longest)]).await;
    assert_eq!(found.expect("the store works")[0].reference, first(row));

    for until in [Timestamp::MIN, at(5), Timestamp::MAX] {
        let mut worker = scene.worker(0);
        worker.leased_until = until;
        scene.add(worker).await;
        assert_eq!(scene.store.get::<Worker>(worker.id).await.expect("works"), Some(first(worker)));
    }

    for (n, text) in AWKWARD.iter().enumerate() {
        let mut call = scene.call(&format!("{text}{n}"), (n % 2 == 0).then_some(contact.id));
        call.key.operation = format!("POST /v1/{text}");
        call.state = CallState::InFlight { worker: scene.worker(0).id };
        call.expires_at = Timestamp::MAX;
        scene.add(call.clone()).await;
        let read = async || {
            let call = scene.store.get::<RememberedCall>((scene.company, call.key.clone())).await;
            call.expect("the store works").expect("the call is there")
        };
        assert_eq!(read().await, first(call.clone()));
        let mut answered = call.clone();
        answered.state = CallState::Answered { answer: (*text).to_owned() };
        answered.expires_at = Timestamp::MIN;
        scene.apply(first(call.clone()).update(answered.clone())).await;
        assert_eq!((read().await.value(), read().await.version().number()), (&answered, 2));
    }
}

/// All fields of ledger lines and lead memories are read back.
pub async fn every_field_of_ledger_lines_and_lead_memories_is_read_back(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contact = scene.contact();
    scene.add(contact.clone()).await;
    let (store, company) = (&scene.store, scene.company);
    let largest = 1_000_000_000_000_000;
    for (n, text) in AWKWARD.iter().enumerate() {
        let line = LedgerLine {
            consumption_id: LedgerLineId::new(scene.uuid()),
            kind: LineKind::ALL[n % 2],
            scope: ProsaScope::ALL[n / 2 % 2],
            prosas: Prosas::from_units(-largest / 1_000 + n as i64),
            cost: Brl::from_units(largest - n as i64),
            refunded: (Prosas::from_units(n as i64), Brl::from_units(largest)),
            contact: (n % 2 == 0).then_some(contact.id),
            campaign: (n % 3 == 0).then(|| CampaignId::new(scene.uuid())),
            description: Some((*text).to_owned()),
            created_at: at(-1),
            ..scene.debit(None, 0, 0)
        };
        scene.add(line.clone()).await;
        assert_eq!(
            store.get::<LedgerLine>((company, line.id)).await.expect("works"),
            Some(first(line))
        );
    }
    let plain = scene.debit(None, 5, 0);
    scene.add(plain.clone()).await;
    assert_eq!(
        store.get::<LedgerLine>((company, plain.id)).await.expect("works"),
        Some(first(plain))
    );

    let texts = || AWKWARD.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let text = AWKWARD[2].to_owned();
    let full = LeadMemory {
        version: u32::MAX,
        inferred: Inferred {
            summary: text.clone(),
            sentiment: AWKWARD[4].to_owned(),
            intent: text.clone(),
            consciousness_level: text.clone(),
            bant: Bant {
                budget: text.clone(),
                authority: "decision_maker".to_owned(),
                authority_raw: Some(text.clone()),
                need: text.clone(),
                timeline: text.clone(),
            },
            key_facts: texts(),
            products_interested: texts(),
            objections: texts(),
            last_topic: text,
        },
        interaction_count: u32::MAX,
        first_interaction_at: Timestamp::MIN,
        last_memory_update_at: Timestamp::MAX,
        ..scene.lead(&contact)
    };
    let plain = LeadMemory { inferred: Inferred::default(), ..scene.lead(&contact) };
    scene.add(full.clone()).await;
    assert_eq!(
        store.get::<LeadMemory>((company, contact.id)).await.expect("works"),
        Some(first(full.clone()))
    );
    scene.apply(first(full).update(plain.clone())).await;
    let stored =
        store.get::<LeadMemory>((company, contact.id)).await.expect("works").expect("there");
    assert_eq!((stored.value(), stored.version().number()), (&plain, 2));
}

/// A job of each kind is claimed as it was stored.
pub async fn jobs_of_channels_are_read_back(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (message, connection) = (MessageId::new(scene.uuid()), ConnectionId::new(scene.uuid()));
    let kinds = [
        JobKind::FetchMedia { message },
        JobKind::SyncGroups { connection },
        JobKind::SyncGroupsOnce { connection },
        JobKind::CheckConnection { connection },
        JobKind::CheckConnectionOnce { connection },
        JobKind::PullMissed { connection, since: at(-7) },
        JobKind::PullMissedOnce { connection, since: Timestamp::MIN },
        JobKind::FindSent { message },
        JobKind::LearnNames { message },
        JobKind::EraseEvents { contact: ContactId::new(scene.uuid()) },
        JobKind::FreeUploads {
            contact: ContactId::new(scene.uuid()),
            uploads: vec![UploadId::new(scene.uuid()), UploadId::new(scene.uuid())],
        },
    ];
    for (millis, kind) in (0..).zip(kinds) {
        let job = Job { kind, due_at: at(millis), ..scene.job() };
        let row: Row = job.clone().into();
        scene.add(row).await;
        let claimed = scene.store.claim_jobs(at(millis), at(90), 10, &[]).await.expect("works");
        assert_eq!(claimed.len(), 1);
        assert_eq!(*claimed[0].value(), Job { leased_until: Some(at(90)), ..job });
    }
}
