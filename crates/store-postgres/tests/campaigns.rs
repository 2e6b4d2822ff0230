//! Campaigns on Postgres: which commits wait for which.

mod support;

use std::collections::BTreeMap;
use std::time::Duration;

use recado_core::Timestamp;
use recado_core::campaigns::{
    Campaign, CampaignReads, CampaignStatus, Recipient, RecipientNumber, RecipientStatus,
    RecipientsFrom,
};
use recado_core::contacts::{Contact, Identifier, Platform};
use recado_core::ids::{CampaignId, CompanyId, ContactId, ListId, TemplateId};
use recado_core::lists::{List, ListMember};
use recado_core::prosas::{Brl, Prosas};
use recado_core::store::{Change, ChangeSet, Commit, CommitError, Conflict, RecordsExt};
use recado_store_postgres::{Options, PostgresStore};
use support::{Database, until_waiting};
use tokio::task::JoinHandle;
use uuid::Uuid;

const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

fn company() -> CompanyId {
    CompanyId::new(Uuid::from_u128(1))
}

fn contact(number: u128) -> ContactId {
    ContactId::new(Uuid::from_u128(number + 100))
}

fn list() -> ListId {
    ListId::new(Uuid::from_u128(2))
}

fn campaign() -> Campaign {
    Campaign {
        id: CampaignId::new(Uuid::from_u128(3)),
        company: company(),
        name: "Natal".to_owned(),
        template: TemplateId::new(Uuid::from_u128(4)),
        list: list(),
        connection: None,
        variables: BTreeMap::new(),
        header: None,
        buttons: Vec::new(),
        prosas: Prosas::from_units(1),
        cost: Brl::from_units(1),
        messages_per_second: 10,
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

fn enrollment() -> ChangeSet {
    ChangeSet::new().with(Change::enroll(company(), campaign().id, list()))
}

/// A database with a campaign whose list has this many contacts.
async fn with_list(contacts: u128) -> Database {
    let database = Database::fresh().await;
    let made = support::company(company(), NOW);
    let name = "Clientes".to_owned();
    let clients = List { id: list(), company: company(), name, is_active: true, created_at: NOW };
    let mut changes = ChangeSet::new().insert(made).insert(clients).insert(campaign());
    for number in 1..=contacts {
        let identifier = Identifier::parse(&format!("c{number}")).expect("an identifier");
        let (id, platform) = (contact(number), Platform::whatsapp());
        changes = changes.insert(Contact::new(id, company(), platform, identifier, None, NOW));
        changes = changes.insert(ListMember { company: company(), list: list(), contact: id });
    }
    database.store.commit(changes).await.expect("all is new");
    database
}

/// Makes every enrolment slow, like that of a very long list.
const SLOW: &str = "\
CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS \
$$ BEGIN PERFORM pg_sleep(0.8); RETURN NULL; END $$; \
CREATE TRIGGER slow AFTER INSERT ON recipients FOR EACH STATEMENT EXECUTE FUNCTION slow()";

/// The change set that claims a recipient, as the store has it now.
async fn claim(store: &PostgresStore, number: u32) -> ChangeSet {
    let id = campaign().id;
    let campaign =
        store.get::<Campaign>((company(), id)).await.expect("it works").expect("it is there");
    let recipient = store.get::<Recipient>((company(), id, RecipientNumber(number))).await;
    let recipient = recipient.expect("it works").expect("it is there");
    let contact = recipient.contact.expect("nobody was deleted");
    let contact =
        store.get::<Contact>((company(), contact)).await.expect("it works").expect("it is there");
    let touched = Contact { last_message_at: Some(NOW), ..contact.value().clone() };
    let status = RecipientStatus::Sending;
    let sending = Recipient { status, ..recipient.value().clone() };
    ChangeSet::new()
        .require(campaign.unchanged())
        .with(contact.update(touched))
        .with(recipient.update(sending))
}

fn commit(store: &PostgresStore, changes: ChangeSet) -> JoinHandle<Result<(), CommitError>> {
    let store = store.clone();
    tokio::spawn(async move { store.commit(changes).await })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_waits_for_the_turns_under_way_and_for_no_later_ones() {
    let database = with_list(2).await;
    let store = &database.store;
    store.commit(enrollment()).await.unwrap();
    let (first, second) = (claim(store, 1).await, claim(store, 2).await);
    let (holder, watcher) = (database.client().await, database.client().await);
    let held = "BEGIN; SELECT FROM contacts WHERE identifier = 'c1' FOR UPDATE";
    holder.batch_execute(held).await.unwrap();

    let under_way = commit(store, first);
    until_waiting(&watcher, 1).await;
    let running = store.get::<Campaign>((company(), campaign().id)).await.unwrap().unwrap();
    let paused = Campaign { status: CampaignStatus::Paused, ..running.value().clone() };
    let pause = commit(store, ChangeSet::new().with(running.update(paused)));
    until_waiting(&watcher, 2).await;
    let late = commit(store, second);
    until_waiting(&watcher, 3).await;

    holder.batch_execute("COMMIT").await.unwrap();
    under_way.await.unwrap().unwrap();
    pause.await.unwrap().unwrap();
    let refused = late.await.unwrap();
    assert!(matches!(refused, Err(CommitError::Conflict(Conflict::Stale(_)))), "{refused:?}");
    let totals = store.campaign_totals(company(), campaign().id, None).await.unwrap();
    assert_eq!(totals.counts.of(RecipientStatus::Sending), 1);
    assert_eq!(totals.counts.of(RecipientStatus::Waiting), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_contact_that_goes_during_an_enrollment_leaves_no_gap() {
    let database = with_list(3).await;
    let store = &database.store;
    let (holder, watcher) = (database.client().await, database.client().await);
    holder.batch_execute("BEGIN; DELETE FROM contacts WHERE identifier = 'c2'").await.unwrap();
    let enrolled = commit(store, enrollment());
    until_waiting(&watcher, 1).await;
    holder.batch_execute("COMMIT").await.unwrap();
    enrolled.await.unwrap().unwrap();
    let id = campaign().id;
    let waiting = store
        .recipients(company(), id, RecipientStatus::Waiting, RecipientsFrom::After(None), 10)
        .await;
    let waiting: Vec<_> = waiting.unwrap().iter().map(|r| (r.number.0, r.contact)).collect();
    assert_eq!(waiting, [(1, Some(contact(1))), (2, Some(contact(3)))]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_enrollment_may_take_longer_than_any_other_statement() {
    let database = with_list(1).await;
    database.client().await.batch_execute(SLOW).await.unwrap();
    let options = Options { statement_timeout: Duration::from_millis(500), ..support::options() };
    let store = PostgresStore::connect(database.url(), options).await.unwrap();
    store.commit(enrollment()).await.unwrap();
    let totals = store.campaign_totals(company(), campaign().id, None).await.unwrap();
    assert_eq!(totals.counts.of(RecipientStatus::Waiting), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_contact_that_is_enrolled_can_go_meanwhile_only_afterwards() {
    let database = with_list(2).await;
    let store = &database.store;
    let (holder, watcher) = (database.client().await, database.client().await);
    // The enrolment has locked the first contact and waits for the second one.
    let held = "BEGIN; SELECT FROM contacts WHERE identifier = 'c2' FOR UPDATE";
    holder.batch_execute(held).await.unwrap();
    let enrolled = commit(store, enrollment());
    until_waiting(&watcher, 1).await;
    let first = store.get::<Contact>((company(), contact(1))).await.unwrap().unwrap();
    let gone = commit(store, ChangeSet::new().with(first.delete()));
    until_waiting(&watcher, 2).await;
    holder.batch_execute("COMMIT").await.unwrap();
    enrolled.await.unwrap().unwrap();
    gone.await.unwrap().unwrap();
    let first =
        store.get::<Recipient>((company(), campaign().id, RecipientNumber(1))).await.unwrap();
    assert_eq!(first.unwrap().contact, None);
}
