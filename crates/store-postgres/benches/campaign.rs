//! Measures a campaign of 10,000 recipients on Postgres: its enrolment, the intents of its messages
//! by 16 tasks at once, and how long a change of the campaign waits meanwhile.
//!
//! It runs on the server of the tests, which does not wait for the disk unless
//! `RECADO_TEST_POSTGRES` names another one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use recado_core::Timestamp;
use recado_core::access::{Company, Features, Plan, TimeZone};
use recado_core::campaigns::{
    Campaign, CampaignReads, CampaignStatus, Recipient, RecipientStatus, RecipientsFrom,
};
use recado_core::connections::{
    Connection, ConnectionKind, ConnectionSettings, ConnectionStatus, GatewayName,
};
use recado_core::contacts::{Contact, Identifier, Phone, Platform, Region};
use recado_core::conversations::Conversation;
use recado_core::deliveries::Shards;
use recado_core::ids::{
    CampaignId, CompanyId, ConnectionId, ContactId, LedgerLineId, ListId, MessageId, TemplateId,
    WorkerId,
};
use recado_core::lists::{List, ListMember};
use recado_core::messages::{
    Blocks, Direction, Media, Message, MessageStatus, MessageType, Quoted, SenderType,
};
use recado_core::prosas::{Brl, LedgerLine, LineKind, ProsaScope, Prosas};
use recado_core::store::{Change, ChangeSet, Commit, CommitError, RecordsExt, Stored, Upkeep};
use recado_store_postgres::{Options, PostgresStore};
use recado_testkit::postgres::TestPostgres;
use tokio::task::JoinSet;
use uuid::Uuid;

const RECIPIENTS: u32 = 10_000;
const TASKS: usize = 16;
const NOW: Timestamp = Timestamp::from_millis(1_795_000_000_000);

fn company() -> CompanyId {
    CompanyId::new(Uuid::from_u128(1))
}

fn contact(number: u32) -> Contact {
    let phone = Phone::from_stored(format!("+55349{:08}", 90_000_000 + number)).expect("a phone");
    let id = ContactId::new(Uuid::from_u128(u128::from(number) + 1));
    let identifier = Identifier::of_phone(&phone);
    Contact::new(id, company(), Platform::whatsapp(), identifier, Some(phone), NOW)
}

fn connection() -> Connection {
    Connection {
        id: ConnectionId::new(Uuid::from_u128(2)),
        company: company(),
        kind: ConnectionKind::Qr,
        platform: Platform::whatsapp(),
        name: "Bench".to_owned(),
        identifier: "5534999990000".to_owned(),
        gateway: GatewayName::new("simulated"),
        settings: ConnectionSettings::default(),
        is_active: true,
        status: ConnectionStatus::Connected,
        created_at: NOW,
        updated_at: NOW,
        last_heard_at: None,
    }
}

fn campaign(list: ListId) -> Campaign {
    Campaign {
        id: CampaignId::new(Uuid::from_u128(3)),
        company: company(),
        name: "Bench".to_owned(),
        template: TemplateId::new(Uuid::from_u128(4)),
        list,
        connection: None,
        variables: BTreeMap::new(),
        header: None,
        buttons: Vec::new(),
        prosas: Prosas::from_units(1),
        cost: Brl::from_units(1),
        messages_per_second: 1000,
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

async fn fill(store: &PostgresStore) -> ListId {
    let list = ListId::new(Uuid::from_u128(5));
    let made = ChangeSet::new()
        .insert(Company {
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
        })
        .insert(List {
            id: list,
            company: company(),
            name: "Bench".to_owned(),
            is_active: true,
            created_at: NOW,
        })
        .insert(connection());
    store.commit(made).await.expect("all is new");
    for first in (0..RECIPIENTS).step_by(500) {
        let mut changes = ChangeSet::new();
        for number in first..first + 500 {
            changes = changes.insert(contact(number));
        }
        for number in first..first + 500 {
            let contact = contact(number).id;
            changes = changes.insert(ListMember { company: company(), list, contact });
        }
        store.commit(changes).await.expect("all is new");
    }
    list
}

fn message(number: u32, contact: ContactId) -> Message {
    Message {
        id: MessageId::new(Uuid::from_u128(u128::from(number) + 1)),
        company: company(),
        contact,
        connection: connection().id,
        direction: Direction::Outbound,
        message_type: MessageType::Text,
        sender_type: SenderType::System,
        status: MessageStatus::Pending,
        failure: None,
        content: Some("Olá! A sua encomenda chegou.".to_owned()),
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
        sender: Some(WorkerId::new(Uuid::from_u128(6))),
        created_at: NOW,
        timestamp: NOW,
    }
}

/// The rows written for one recipient before the gateway is called.
fn intent(
    campaign: &Stored<Campaign>,
    connection: &Stored<Connection>,
    contact: &Stored<Contact>,
    recipient: &Stored<Recipient>,
) -> ChangeSet {
    let message = message(recipient.number.0, contact.id);
    let debit = LedgerLineId::new(message.id.uuid());
    let touched = Contact { last_message_at: Some(NOW), ..contact.value().clone() };
    let sending = Recipient {
        status: RecipientStatus::Sending,
        message: Some(message.id),
        debit: Some(debit),
        ..recipient.value().clone()
    };
    ChangeSet::new()
        .require(connection.unchanged())
        .require(campaign.unchanged())
        .with(contact.update(touched))
        .insert(Conversation {
            company: company(),
            contact: contact.id,
            connection: connection.id,
            identifier: contact.identifier.as_str().to_owned(),
            last_message_at: Some(NOW),
            last_inbound_at: None,
            unread: 0,
        })
        .insert(message)
        .with(recipient.update(sending))
        .insert(LedgerLine {
            id: debit,
            company: company(),
            consumption_id: debit,
            kind: LineKind::Debit,
            scope: ProsaScope::ALL[0],
            prosas: campaign.prosas,
            cost: campaign.cost,
            refunded: (Prosas::ZERO, Brl::ZERO),
            contact: Some(contact.id),
            campaign: Some(campaign.id),
            description: None,
            created_at: NOW,
        })
}

/// The state of one task.
struct Work {
    store: PostgresStore,
    queue: Vec<Stored<Recipient>>,
    next: AtomicUsize,
    refused: AtomicUsize,
}

impl Work {
    async fn run(&self) {
        let campaigns = self
            .store
            .active_campaigns(&Shards::USUAL.all().collect(), Timestamp::MAX)
            .await
            .expect("the store works");
        let mut campaign = campaigns.into_iter().next().expect("one runs");
        let connection = self.store.get::<Connection>((company(), connection().id)).await;
        let connection = connection.expect("the store works").expect("it is there");
        while let Some(recipient) = self.queue.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let contact = recipient.contact.expect("nobody was deleted");
            let contact =
                self.store.get::<Contact>((company(), contact)).await.expect("the store works");
            let contact = contact.expect("it is there");
            loop {
                let changes = intent(&campaign, &connection, &contact, recipient);
                match self.store.commit(changes).await {
                    Ok(()) => break,
                    Err(CommitError::Conflict(conflict)) => {
                        self.refused.fetch_add(1, Ordering::Relaxed);
                        let again = self.store.get::<Campaign>((company(), campaign.id)).await;
                        campaign = again.expect("the store works").expect("it is there");
                        drop(conflict);
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }
}

/// Updates the campaign from time to time, as an operator might; answers the longest wait.
async fn meddle(store: PostgresStore, campaign: CampaignId) -> Duration {
    let mut longest = Duration::ZERO;
    loop {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let read = store.get::<Campaign>((company(), campaign)).await.expect("the store works");
        let read = read.expect("it is there");
        let changed = Campaign { updated_at: NOW, ..read.value().clone() };
        let began = Instant::now();
        match store.commit(ChangeSet::new().with(read.update(changed))).await {
            Ok(()) | Err(CommitError::Conflict(_)) => longest = longest.max(began.elapsed()),
            Err(error) => panic!("{error}"),
        }
        println!("  a change of the campaign took {:?}", began.elapsed());
        let totals =
            store.campaign_totals(company(), campaign, None).await.expect("the store works");
        if totals.counts.of(RecipientStatus::Waiting) == 0 {
            return longest;
        }
    }
}

fn per_second(began: Instant) -> f64 {
    f64::from(RECIPIENTS) / began.elapsed().as_secs_f64()
}

async fn run(store: PostgresStore) {
    let list = fill(&store).await;
    let campaign = campaign(list);
    let began = Instant::now();
    let changes = ChangeSet::new().insert(campaign.clone());
    let changes = changes.with(Change::enroll(company(), campaign.id, list));
    store.commit(changes).await.expect("all is new");
    println!("enrolment: {:?}, {:.0} recipients a second", began.elapsed(), per_second(began));

    store.upkeep(NOW).await.expect("the store works");
    let waiting = RecipientStatus::Waiting;
    let began = Instant::now();
    let queue = store
        .recipients(company(), campaign.id, waiting, RecipientsFrom::After(None), RECIPIENTS)
        .await;
    let queue = queue.expect("the store works");
    assert_eq!(queue.len(), RECIPIENTS as usize);
    println!("the whole queue: {:?}", began.elapsed());

    let (next, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = Arc::new(Work { store: store.clone(), queue, next, refused });
    let began = Instant::now();
    let meddler = tokio::spawn(meddle(store.clone(), campaign.id));
    let mut tasks = JoinSet::new();
    for _ in 0..TASKS {
        let work = Arc::clone(&work);
        tasks.spawn(async move { work.run().await });
    }
    tasks.join_all().await;
    println!("intents: {:?}, {:.0} a second", began.elapsed(), per_second(began));
    println!("  refused and repeated: {}", work.refused.load(Ordering::Relaxed));
    println!("  longest change of the campaign: {:?}", meddler.await.expect("it ends"));

    let began = Instant::now();
    let totals =
        store.campaign_totals(company(), campaign.id, None).await.expect("the store works");
    assert_eq!(totals.counts.of(RecipientStatus::Sending), u64::from(RECIPIENTS));
    println!("counts: {:?}", began.elapsed());
}

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be made");
    let database = TestPostgres::shared().fresh_database();
    runtime.block_on(async {
        let options = Options { pool_size: TASKS + 2, ..Options::default() };
        let store = PostgresStore::connect(database.url(), options).await.expect("it was made");
        store.migrate().await.expect("an empty database can be migrated");
        run(store).await;
    });
}
