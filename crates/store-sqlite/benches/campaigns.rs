//! Measures campaigns on SQLite: enrolling a list of 10,000; claiming a recipient together with its
//! message and its debit, alone and with concurrent claims; counting and listing the recipients.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use recado_core::Timestamp;
use recado_core::access::{Company, Features, Plan, TimeZone};
use recado_core::campaigns::{
    Campaign, CampaignReads, CampaignStatus, Recipient, RecipientNumber, RecipientStatus,
    RecipientsFrom,
};
use recado_core::connections::{
    Connection, ConnectionKind, ConnectionSettings, ConnectionStatus, GatewayName,
};
use recado_core::contacts::{Contact, Identifier, Phone, Platform, Region};
use recado_core::ids::{
    CampaignId, CompanyId, ConnectionId, ContactId, LedgerLineId, ListId, MessageId, TemplateId,
};
use recado_core::lists::{List, ListMember};
use recado_core::messages::{
    Blocks, Direction, Media, Message, MessageStatus, MessageType, Quoted, SenderType,
};
use recado_core::page::PageRequest;
use recado_core::prosas::{Brl, LedgerLine, LineKind, ProsaScope, Prosas};
use recado_core::store::{Change, ChangeSet, Commit, RecordsExt};
use recado_store_sqlite::SqliteStore;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use uuid::Uuid;

const CONTACTS: u32 = 10_000;
/// Campaigns whose recipients are claimed.
const CAMPAIGNS: u32 = 20;
const NOW: Timestamp = Timestamp::from_millis(1_795_000_000_000);

fn uuid(number: u32) -> Uuid {
    Uuid::from_u128(u128::from(number) + 1)
}

fn company() -> CompanyId {
    CompanyId::new(uuid(0))
}

fn connection() -> Connection {
    Connection {
        id: ConnectionId::new(uuid(0)),
        company: company(),
        kind: ConnectionKind::Qr,
        platform: Platform::whatsapp(),
        name: "Bench".to_owned(),
        identifier: "551133224455".to_owned(),
        gateway: GatewayName::new("simulated"),
        settings: ConnectionSettings::default(),
        is_active: true,
        status: ConnectionStatus::Connected,
        created_at: NOW,
        updated_at: NOW,
        last_heard_at: None,
    }
}

fn list() -> List {
    let id = ListId::new(uuid(0));
    List { id, company: company(), name: "Bench".to_owned(), is_active: true, created_at: NOW }
}

fn campaign(number: u32) -> Campaign {
    Campaign {
        id: CampaignId::new(uuid(number)),
        company: company(),
        name: format!("Bench {number}"),
        template: TemplateId::new(uuid(0)),
        list: list().id,
        connection: None,
        variables: BTreeMap::from([(1.into(), "amanhã".to_owned())]),
        header: None,
        buttons: Vec::new(),
        prosas: Prosas::from_units(1_250),
        cost: Brl::from_units(62_500),
        messages_per_second: 500,
        scheduled_at: None,
        send_between: None,
        stop_after_failures: None,
        failures_after: None,
        status: CampaignStatus::Running,
        pause_reason: None,
        created_at: NOW,
        updated_at: NOW,
        started_at: Some(NOW),
        finished_at: None,
    }
}

fn enroll(number: u32) -> ChangeSet {
    let campaign = campaign(number);
    let enroll = Change::enroll(company(), campaign.id, list().id);
    ChangeSet::new().insert(campaign).with(enroll)
}

async fn fill(store: &SqliteStore) {
    let made = ChangeSet::new().insert(Company {
        id: company(),
        name: "Bench".to_owned(),
        plan: Plan::Enterprise,
        features: Features::default(),
        default_region: Region::br(),
        time_zone: TimeZone::default(),
        erase_deleted_messages: false,
        created_at: NOW,
        updated_at: NOW,
        deleted_at: None,
    });
    let made = made.insert(connection()).insert(list());
    store.commit(made).await.expect("the company is new");
    for first in (0..CONTACTS).step_by(500) {
        let contacts = (first..first + 500).fold(ChangeSet::new(), |changes, number| {
            let digits = format!("+55349{:08}", 90_000_000 + number);
            let phone = Phone::from_stored(digits).expect("a phone");
            let identifier = Identifier::of_phone(&phone);
            let id = ContactId::new(uuid(number));
            let platform = Platform::whatsapp();
            let mut contact = Contact::new(id, company(), platform, identifier, Some(phone), NOW);
            contact.name = format!("Maria da Silva {number}");
            contact.derive();
            let member = ListMember { company: company(), list: list().id, contact: id };
            changes.insert(contact).insert(member)
        });
        store.commit(contacts).await.expect("the contacts are new");
    }
    for number in 0..CAMPAIGNS {
        store.commit(enroll(number)).await.expect("the campaign is new");
    }
}

/// Writes what is written before a recipient's message is sent to the gateway.
async fn claim(store: &SqliteStore, number: u32) {
    let campaign = campaign(number / CONTACTS);
    let place = RecipientNumber(number % CONTACTS + 1);
    let recipient =
        store.get::<Recipient>((company(), campaign.id, place)).await.expect("it works");
    let recipient = recipient.expect("it is enrolled");
    let contact = recipient.contact.expect("nobody was deleted");
    let contact =
        store.get::<Contact>((company(), contact)).await.expect("it works").expect("the contact");
    let campaign = store.get::<Campaign>((company(), campaign.id)).await.expect("it works");
    let campaign = campaign.expect("the campaign");
    let (message, debit) = (MessageId::new(uuid(number)), LedgerLineId::new(uuid(number)));
    let met = Contact {
        last_message_at: Some(NOW),
        last_connection_id: Some(connection().id),
        ..contact.value().clone()
    };
    let claimed = Recipient {
        status: RecipientStatus::Sending,
        message: Some(message),
        debit: Some(debit),
        ..recipient.value().clone()
    };
    let changes = ChangeSet::new()
        .require(campaign.unchanged())
        .with(contact.update(met))
        .insert(Message {
            id: message,
            company: company(),
            contact: contact.id,
            connection: connection().id,
            direction: Direction::Outbound,
            message_type: MessageType::Template,
            sender_type: SenderType::System,
            status: MessageStatus::Pending,
            failure: None,
            content: Some("Bom dia! O bolo de cenoura sai amanhã.".to_owned()),
            media: Media::default(),
            blocks: Blocks::default(),
            provider_id: None,
            external_id: None,
            quoted: Quoted::default(),
            participant: None,
            template_category: None,
            prosa: None,
            is_history: false,
            edited_at: None,
            sender: None,
            created_at: NOW,
            timestamp: NOW,
        })
        .insert(LedgerLine {
            id: debit,
            company: company(),
            consumption_id: debit,
            kind: LineKind::Debit,
            scope: ProsaScope::Message,
            prosas: campaign.prosas,
            cost: campaign.cost,
            refunded: (Prosas::ZERO, Brl::ZERO),
            contact: Some(contact.id),
            campaign: Some(campaign.id),
            description: None,
            created_at: NOW,
        })
        .with(recipient.update(claimed));
    store.commit(changes).await.expect("nobody else writes these rows");
}

fn campaigns(criterion: &mut Criterion) {
    let runtime = Runtime::new().expect("a runtime can be made");
    let directory = tempfile::tempdir().expect("a directory can be made");
    let _entered = runtime.enter();
    let store = SqliteStore::open(directory.path().join("bench.db")).expect("a new file");
    store.migrate().expect("a new file can be migrated");
    runtime.block_on(fill(&store));
    let store = Arc::new(store);

    let mut group = criterion.benchmark_group("sqlite/campaign_of_10000");
    let id = campaign(CAMPAIGNS - 1).id;
    group.bench_function("counts", |bench| {
        bench.to_async(&runtime).iter(|| async {
            let totals = store.campaign_totals(company(), id, None).await;
            black_box(totals.expect("it works"))
        });
    });
    group.bench_function("next_100", |bench| {
        bench.to_async(&runtime).iter(|| async {
            let (waiting, after) = (RecipientStatus::Waiting, Some(RecipientNumber(5_000)));
            let next =
                store.recipients(company(), id, waiting, RecipientsFrom::After(after), 100).await;
            black_box(next.expect("it works"))
        });
    });
    group.bench_function("last_page_of_100", |bench| {
        bench.to_async(&runtime).iter(|| async {
            let last = PageRequest { page: 100, limit: 100 };
            let page = store.recipient_page(company(), id, None, last).await;
            black_box(page.expect("it works"))
        });
    });
    group.finish();

    let next = AtomicU32::new(0);
    let mut group = criterion.benchmark_group("sqlite/claim_recipient");
    for at_once in [1, 32] {
        group.throughput(Throughput::Elements(at_once));
        group.bench_function(BenchmarkId::from_parameter(at_once), |bench| {
            bench.to_async(&runtime).iter(|| {
                let mut claims = JoinSet::new();
                for _ in 0..at_once {
                    let (store, number) = (store.clone(), next.fetch_add(1, Ordering::Relaxed));
                    claims.spawn(async move { claim(&store, number).await });
                }
                claims.join_all()
            });
        });
    }
    group.finish();

    let next = AtomicU32::new(CAMPAIGNS);
    let mut group = criterion.benchmark_group("sqlite/enroll");
    group.sample_size(10);
    group.bench_function("10000", |bench| {
        bench.to_async(&runtime).iter(|| async {
            let changes = enroll(next.fetch_add(1, Ordering::Relaxed));
            store.commit(changes).await.expect("the campaign is new");
        });
    });
    group.finish();
}

criterion_group!(benches, campaigns);
criterion_main!(benches);
