//! The audit log over the use cases: who did what, in the commit of what was done.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use recado_core::Code;
use recado_core::Recado;
use recado_core::access::{KeyDraft, Operator, Scope, Scopes};
use recado_core::audit::{
    Acting, Actor, ActorKind, AuditEntryView, AuditOutcome, AuditPage, AuditRequest, OperationName,
};
use recado_core::query::Params;
use recado_testkit::kit::body;
use recado_testkit::{FaultyStore, Kit, MemoryStore, StoreFailure, StoreOp};
use serde_json::json;

use super::create_phone;

/// R384, R396.
#[tokio::test]
async fn a_member_who_signs_in_has_an_entry() {
    let kit = Kit::new().await;
    let bia = body(json!({"display_name": "Bia"}));
    let member = kit.app.access().create_member(kit.company.id, &bia).await.unwrap().id;
    let draft = body(json!({"email": "bia@example.org", "role": "agent"}));
    let app = root(&kit, "signIn");
    let accounts = app.accounts();
    let link = accounts.invite(&Operator::ROOT, kit.company.id, member, &draft).await.unwrap();
    accounts.accept_link(link.token.expose(), "nove sapos azuis").await.unwrap();
    let before = log(&kit, &[("actor", "member")]).await.len();
    let password = "nove sapos azuis";
    accounts.sign_in("bia@example.org", password, None, None).await.unwrap();
    let entries = log(&kit, &[("actor", "member")]).await;
    assert_eq!(entries.len(), before + 1);
    assert_eq!(entries[0].actor_id, Some(member.uuid()));
    assert_eq!(entries[0].operation.as_str(), "signIn");
    assert!(
        entries[0].records.iter().any(|record| record.kind.as_str() == "session"),
        "{entries:?}"
    );
    assert!(!format!("{entries:?}").contains("bia@example.org"));
}

/// R386, R410.
#[tokio::test]
async fn the_export_of_a_person_has_an_entry() {
    let kit = Kit::new().await;
    let app = root(&kit, "exportContact");
    let person = body(json!({"phone": "34991230001"}));
    let (contact, ..) = app.contacts().import(&kit.company, &person).await.unwrap();
    let before = log(&kit, &[]).await.len();
    app.contacts().export_person(kit.company.id, contact).await.unwrap();
    let entries = log(&kit, &[]).await;
    assert_eq!((entries.len(), entries[0].actor), (before + 1, ActorKind::Root));
    assert_eq!((entries[0].company_id, entries[0].record_count), (Some(kit.company.id), 1));
    assert_eq!(entries[0].records[0].id.as_str(), contact.to_string());
}

async fn page(app: &Recado, filters: &[(&str, &str)]) -> AuditPage {
    let given = filters.iter().map(|(name, value)| (*name, *value));
    let pairs = given.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let request = AuditRequest::parse(&Params::new(pairs)).expect("acceptable filters");
    app.audit().list(None, &request).await.expect("the store works")
}

async fn log(kit: &Kit, filters: &[(&str, &str)]) -> Vec<AuditEntryView> {
    page(&kit.app, filters).await.entries
}

/// The kit's core for an operator, in an operation.
fn root(kit: &Kit, operation: &'static str) -> Recado {
    let from = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 9));
    let operation = OperationName::of(operation);
    kit.app.installation().as_operator(&Operator::ROOT, operation, Some(from))
}

/// R384.
#[tokio::test]
async fn a_change_has_an_entry_with_who_did_it_from_where_in_which_operation_on_what() {
    let kit = Kit::new().await;
    let app =
        kit.app.installation().as_caller(&kit.caller, OperationName::of("createContact"), None);
    let new = body(json!({"phone": "34991230001"}));
    let contact = app.contacts().create(&kit.caller, &new).await.unwrap().contact.id;
    let by_key = &log(&kit, &[("operation", "createContact")]).await[0];
    assert_eq!(
        (by_key.actor, by_key.actor_id),
        (ActorKind::Key, kit.caller.key().map(|key| key.uuid()))
    );
    assert_eq!((by_key.company_id, by_key.outcome), (Some(kit.company.id), AuditOutcome::Done));
    let named = by_key.records.iter().map(|record| (record.kind.as_str(), record.id.as_str()));
    assert!(named.collect::<Vec<_>>().contains(&("contact", contact.to_string().as_str())));

    let change = body(json!({"name": "Casa Azul"}));
    root(&kit, "updateCompany").access().change_company(kit.company.id, &change).await.unwrap();
    let by_root = &log(&kit, &[("actor", "root")]).await[0];
    assert_eq!((by_root.operation.as_str(), by_root.record_count), ("updateCompany", 1));
    assert_eq!(by_root.from.as_deref(), Some("203.0.113.9"));
    assert_eq!(by_root.company_id, Some(kit.company.id));
}

/// R384.
#[tokio::test]
async fn what_is_not_committed_has_no_entry() {
    let store = FaultyStore::new(Arc::new(MemoryStore::new()));
    let kit = Kit::builder().store(Arc::new(store.clone())).build().await;
    let before = log(&kit, &[]).await.len();
    store.plan(|op| (op == StoreOp::Commit).then_some(StoreFailure::Unavailable));
    let new = body(json!({"phone": "34991230001"}));
    kit.app.contacts().create(&kit.caller, &new).await.unwrap_err();
    assert_eq!(log(&kit, &[]).await.len(), before);
    // The second attempt has it, once.
    let mut is_first = true;
    store.plan(move |op| {
        let fails = op == StoreOp::Commit && std::mem::take(&mut is_first);
        fails.then_some(StoreFailure::Contended)
    });
    kit.app.contacts().create(&kit.caller, &new).await.unwrap();
    assert_eq!(log(&kit, &[]).await.len(), before + 1);
    // What is refused changes nothing.
    kit.app.contacts().create(&kit.caller, &body(json!({"phone": "x"}))).await.unwrap_err();
    assert_eq!(log(&kit, &[]).await.len(), before + 1);
}

/// R385.
#[tokio::test]
async fn a_send_has_one_entry_and_what_comes_in_has_none() {
    let kit = Kit::new().await;
    let connection = kit.connection("qr").await;
    let before = log(&kit, &[]).await.len();
    kit.send("+5534991230001", "Oi").await.unwrap();
    assert_eq!(log(&kit, &[]).await.len(), before + 1);
    let outside = Acting::new(Actor::Outside, OperationName::of("receiveEvent"), None);
    let outside = Kit { app: kit.app.installation().by(outside), ..kit.clone() };
    outside.contact_writes(connection, "5534991230002", "Oi").await;
    assert_eq!(log(&kit, &[]).await.len(), before + 1);
}

/// R385.
#[tokio::test]
async fn the_work_that_follows_from_a_call_has_no_entry_and_the_removal_of_a_company_has_one() {
    let kit = Kit::new().await;
    root(&kit, "deleteCompany").access().delete_company(kit.company.id).await.unwrap();
    let process = kit.app.installation().by(Acting::system("background"));
    while process.jobs().run_one().await.unwrap() {}
    let system = log(&kit, &[("actor", "system")]).await;
    assert_eq!(system.len(), 1, "{system:?}");
    assert_eq!(system[0].records[0].kind, "company");
}

/// R386.
#[tokio::test]
async fn a_read_of_lead_memory_has_an_entry_and_is_not_answered_without_it() {
    let store = FaultyStore::new(Arc::new(MemoryStore::new()));
    let kit = Kit::builder().store(Arc::new(store.clone())).build().await;
    let contact = create_phone(&kit, "34991230001").await;
    let sent = body(json!({"summary": "a"}));
    kit.app.leads().merge(kit.company.id, contact, &sent).await.unwrap();
    let root = root(&kit, "getLeadMemory");
    root.leads().get(kit.company.id, contact).await.unwrap();
    let read = log(&kit, &[("operation", "getLeadMemory")]).await;
    assert_eq!((read.len(), read[0].records[0].kind.as_str()), (1, "lead_memory"));
    store.plan(|op| (op == StoreOp::Commit).then_some(StoreFailure::Unavailable));
    root.leads().get(kit.company.id, contact).await.unwrap_err();
}

/// R386.
#[tokio::test]
async fn a_contact_that_is_read_with_its_lead_memory_has_an_entry_and_another_has_none() {
    let store = FaultyStore::new(Arc::new(MemoryStore::new()));
    let kit = Kit::builder().store(Arc::new(store.clone())).build().await;
    let [known, without] =
        [create_phone(&kit, "34991230001").await, create_phone(&kit, "34991230002").await];
    let sent = body(json!({"summary": "a"}));
    kit.app.leads().merge(kit.company.id, known, &sent).await.unwrap();
    let app = root(&kit, "getContact");
    let logged = || async { log(&kit, &[("operation", "getContact")]).await };
    for contact in [known, without] {
        app.contacts().get_for_operator(kit.company.id, contact).await.unwrap();
        app.contacts().get(&kit.caller, contact, false).await.unwrap();
        app.contacts().get_without_memory(kit.company.id, contact).await.unwrap();
    }
    let reads = logged().await;
    assert_eq!(reads.len(), 2, "{reads:?}");
    for read in &reads {
        assert_eq!(read.records[0].kind.as_str(), "lead_memory");
        assert_eq!((read.record_count, read.records[0].id.clone()), (1, known.to_string()));
    }
    let narrow = KeyDraft::new("narrow", Scopes::of(&[Scope::ContactsRead]));
    let made = kit.app.access().create_key(kit.company.id, narrow).await.unwrap();
    let narrow = kit.app.access().authenticate(made.secret.expose()).await.unwrap();
    app.contacts().get(&narrow, known, false).await.unwrap();
    assert_eq!(logged().await.len(), 2);
    store.plan(|op| (op == StoreOp::Commit).then_some(StoreFailure::Unavailable));
    app.contacts().get(&kit.caller, known, false).await.unwrap_err();
    app.contacts().get_for_operator(kit.company.id, known).await.unwrap_err();
}

/// R386.
#[tokio::test]
async fn a_document_that_is_read_in_parts_has_one_entry() {
    let kit = Kit::new().await;
    let contact = create_phone(&kit, "34991230001").await;
    let documents = kit.app.documents();
    let id = documents.attach(kit.company.id, contact, "a.pdf", vec![1, 2, 3]).await.unwrap().id;
    let document = documents.find(kit.company.id, contact, id).await.unwrap();
    let app = root(&kit, "readDocument");
    for from in [0, 1, 2] {
        app.documents().open(&document, from).await.unwrap();
    }
    let reads = log(&kit, &[("operation", "readDocument")]).await;
    assert_eq!(reads.len(), 1, "{reads:?}");
    assert_eq!(reads[0].records[0].id, id.to_string());
    // Who leaves out the first byte is in the log, too.
    let operation = OperationName::of("readDocument");
    let key = kit.app.installation().as_caller(&kit.caller, operation, None);
    for from in [1, 2] {
        key.documents().open(&document, from).await.unwrap();
    }
    let reads = log(&kit, &[("operation", "readDocument")]).await;
    assert_eq!((reads.len(), reads[0].actor), (2, ActorKind::Key), "{reads:?}");
}

/// R386.
#[tokio::test]
async fn a_read_whose_entry_could_not_be_written_stands_for_no_later_one() {
    let store = FaultyStore::new(Arc::new(MemoryStore::new()));
    let kit = Kit::builder().store(Arc::new(store.clone())).build().await;
    let contact = create_phone(&kit, "34991230001").await;
    let documents = kit.app.documents();
    let id = documents.attach(kit.company.id, contact, "a.pdf", vec![1, 2, 3]).await.unwrap().id;
    let document = documents.find(kit.company.id, contact, id).await.unwrap();
    let app = root(&kit, "readDocument");
    let logged = || async { log(&kit, &[("operation", "readDocument")]).await.len() };
    store.plan(|op| (op == StoreOp::Commit).then_some(StoreFailure::Unavailable));
    for from in [0, 1] {
        assert!(app.documents().open(&document, from).await.is_err(), "{from}");
    }
    store.heal();
    assert_eq!(logged().await, 0);
    app.documents().open(&document, 1).await.unwrap();
    assert_eq!(logged().await, 1);
    app.documents().open(&document, 2).await.unwrap();
    assert_eq!(logged().await, 1);
}

/// R387.
#[tokio::test]
async fn refused_sign_ins_whose_entries_could_not_be_written_wait_for_the_next_upkeep() {
    let store = FaultyStore::new(Arc::new(MemoryStore::new()));
    let kit = Kit::builder().store(Arc::new(store.clone())).build().await;
    let accounts = kit.app.accounts();
    let mut members = Vec::new();
    for n in 0..3 {
        let draft = body(json!({"display_name": "Bia"}));
        let member = kit.app.access().create_member(kit.company.id, &draft).await.unwrap().id;
        let email = format!("bia-{n}@example.org");
        let draft = body(json!({"email": email, "role": "agent"}));
        let link = accounts.invite(&Operator::ROOT, kit.company.id, member, &draft).await.unwrap();
        accounts.accept_link(link.token.expose(), "nove sapos azuis").await.unwrap();
        accounts.sign_in(&email, "zebra-lunar-77", None, None).await.unwrap_err();
        members.push(member.to_string());
    }
    // The first is written, and nothing of the second is.
    store.fail_nth(StoreOp::Commit, 1, StoreFailure::Unavailable);
    kit.app.upkeep().await.unwrap_err();
    assert_eq!(log(&kit, &[("outcome", "denied")]).await.len(), 1);
    store.heal();
    kit.app.upkeep().await.unwrap();
    kit.app.upkeep().await.unwrap();
    let denied = log(&kit, &[("outcome", "denied")]).await;
    let mut of: Vec<_> = denied.iter().map(|entry| entry.records[0].id.to_string()).collect();
    of.sort();
    members.sort();
    assert_eq!(of, members);
}

/// R387.
#[tokio::test]
async fn refused_sign_ins_to_a_login_are_in_the_log_of_its_company_once_a_minute() {
    const PASSWORD: &str = "nove sapos azuis";
    let kit = Kit::new().await;
    let bia = body(json!({"display_name": "Bia"}));
    let member = kit.app.access().create_member(kit.company.id, &bia).await.unwrap().id;
    let draft = body(json!({"email": "bia@example.org", "role": "agent"}));
    let accounts = kit.app.accounts();
    let link = accounts.invite(&Operator::ROOT, kit.company.id, member, &draft).await.unwrap();
    accounts.accept_link(link.token.expose(), PASSWORD).await.unwrap();
    let from = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 9));
    let stranger = Acting::new(Actor::Outside, OperationName::of("signIn"), Some(from));
    let stranger = kit.app.installation().by(stranger);
    let sign_in = async |email, password| {
        let signed_in = stranger.accounts().sign_in(email, password, None, Some(from)).await;
        let of_known = log(&kit, &[("outcome", "denied")]).await.len();
        kit.app.upkeep().await.unwrap();
        (signed_in.is_ok(), of_known, log(&kit, &[("outcome", "denied")]).await.len())
    };
    // The answer does not wait for the entry, as it has none for an unknown address.
    assert_eq!(sign_in("eva@example.org", PASSWORD).await, (false, 0, 0));
    assert_eq!(sign_in("bia@example.org", "zebra-lunar-77").await, (false, 0, 1));
    assert_eq!(sign_in("bia@example.org", "zebra-lunar-78").await, (false, 1, 1));
    assert_eq!(sign_in("bia@example.org", PASSWORD).await, (true, 1, 1));
    kit.clock.advance(Duration::from_secs(60));
    assert_eq!(sign_in("bia@example.org", "zebra-lunar-77").await, (false, 1, 2));
    let denied = log(&kit, &[("outcome", "denied")]).await;
    let entry = &denied[0];
    assert_eq!((entry.actor, entry.actor_id), (ActorKind::Outside, None));
    assert_eq!((entry.company_id, entry.code), (Some(kit.company.id), Some("UNAUTHORIZED")));
    assert_eq!((entry.operation.as_str(), entry.from.as_deref()), ("signIn", Some("203.0.113.9")));
    assert_eq!((entry.record_count, entry.records[0].kind.as_str()), (1, "member"));
    assert_eq!(entry.records[0].id, member.to_string());
    let all = serde_json::to_string(&denied).unwrap();
    assert!(!all.contains("bia@example.org") && !all.contains("zebra"), "{all}");
}

/// R387.
#[tokio::test]
async fn a_refusal_has_one_entry_a_minute() {
    let kit = Kit::new().await;
    let root = root(&kit, "createCompany");
    for _ in 0..5 {
        root.audit().note_denial(Some(kit.company.id), Code::InsufficientRole).await;
    }
    let denied = log(&kit, &[("outcome", "denied")]).await;
    assert_eq!((denied.len(), denied[0].code), (1, Some("INSUFFICIENT_ROLE")));
    kit.clock.advance(Duration::from_secs(60));
    root.audit().note_denial(Some(kit.company.id), Code::InsufficientRole).await;
    assert_eq!(log(&kit, &[("outcome", "denied")]).await.len(), 2);
}

/// R388.
#[tokio::test]
async fn the_log_is_listed_by_its_filters_the_newest_first_and_page_by_page() {
    let kit = Kit::new().await;
    let mut contacts = Vec::new();
    for n in 1..=5 {
        kit.clock.advance(Duration::from_secs(1));
        contacts.push(create_phone(&kit, &format!("3499123000{n}")).await);
    }
    let all = log(&kit, &[("record_kind", "contact")]).await;
    assert_eq!(all.len(), 5);
    assert!(all.windows(2).all(|two| two[0].at > two[1].at));
    let one = contacts[2].to_string();
    let of_one = log(&kit, &[("record_kind", "contact"), ("record_id", &one)]).await;
    assert_eq!(of_one.iter().map(|entry| entry.id).collect::<Vec<_>>(), [all[2].id]);
    let since = all[1].at.to_string();
    assert_eq!(log(&kit, &[("record_kind", "contact"), ("since", &since)]).await.len(), 2);
    assert_eq!(log(&kit, &[("record_kind", "contact"), ("until", &since)]).await.len(), 4);
    assert_eq!(log(&kit, &[("actor", "system")]).await.len(), 0);
    let mut filters = vec![("record_kind", "contact".to_owned()), ("limit", "2".to_owned())];
    let mut found = Vec::new();
    loop {
        let given: Vec<(&str, &str)> = filters.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let part = page(&kit.app, &given).await;
        assert!(part.entries.len() <= 2);
        found.extend(part.entries.into_iter().map(|entry| entry.id));
        let Some(cursor) = part.next_cursor else { break };
        filters.retain(|(name, _)| *name != "cursor");
        filters.push(("cursor", cursor));
    }
    assert_eq!(found, all.iter().map(|entry| entry.id).collect::<Vec<_>>());
}

/// R389.
#[tokio::test]
async fn entries_leave_the_log_by_their_age_alone() {
    let kit = Kit::new().await;
    let contact = create_phone(&kit, "34991230001").await;
    let year = Duration::from_secs(365 * 24 * 60 * 60);
    kit.clock.advance(year - Duration::from_secs(1));
    create_phone(&kit, "34991230002").await;
    assert!(!kit.app.audit().sweep().await.unwrap());
    assert!(!log(&kit, &[("record_id", &contact.to_string())]).await.is_empty());
    kit.clock.advance(Duration::from_secs(1));
    kit.app.audit().sweep().await.unwrap();
    assert_eq!(log(&kit, &[("record_id", &contact.to_string())]).await.len(), 0);
    assert_eq!(log(&kit, &[("record_kind", "contact")]).await.len(), 1);
}

/// R390.
#[tokio::test]
async fn no_entry_has_anything_that_a_person_wrote() {
    const MARKERS: [&str; 4] = ["34991239999", "Zuleica", "zuleica@example.org", "segredo"];
    let kit = Kit::new().await;
    kit.connection("qr").await;
    let new = body(json!({
        "phone": "34991239999", "name": "Zuleica", "email": "zuleica@example.org",
    }));
    let contact = kit.app.contacts().create(&kit.caller, &new).await.unwrap().contact.id;
    kit.send("+5534991239999", "segredo").await.unwrap();
    let memory = body(json!({"summary": "segredo"}));
    kit.app.leads().merge(kit.company.id, contact, &memory).await.unwrap();
    kit.app.leads().get(kit.company.id, contact).await.unwrap();
    kit.app.contacts().delete(&kit.caller, contact).await.unwrap();
    let all = serde_json::to_string(&log(&kit, &[("limit", "100")]).await).unwrap();
    assert!(all.contains(&contact.to_string()), "{all}");
    for marker in MARKERS {
        assert!(!all.contains(marker), "{marker} in {all}");
    }
}
