//! Connections, their groups and their templates.

use recado_core::connections::Connection;
use recado_core::contacts::Contact;
use recado_core::groups::ConnectionGroup;
use recado_core::idempotency::RememberedCall;
use recado_core::ids::{ConnectionId, TemplateId};
use recado_core::leads::LeadMemory;
use recado_core::prosas::LedgerLine;
use recado_core::store::{RecordsExt, Removable, Row, Stored};
use recado_core::templates::Template;
use recado_core::workers::Worker;

use super::Harness;
use super::channel_scene::code;
use super::scene::{Scene, at, first};

/// `created_at`, then `id`.
pub async fn connections_and_templates_come_by_creation_then_id(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    other.add(other.connection()).await;
    other.add(other.template(None)).await;
    let times = [5, 3, 3, 7];
    let mut connections: Vec<_> = times.iter().map(|_| scene.connection()).collect();
    let mut templates: Vec<_> = times.iter().map(|_| scene.template(None)).collect();
    for (n, millis) in times.into_iter().enumerate() {
        connections[n].created_at = at(millis);
        templates[n].created_at = at(millis);
    }
    scene.add_all(connections.iter().rev().cloned().collect::<Vec<_>>()).await;
    scene.add_all(templates.iter().rev().cloned().collect::<Vec<_>>()).await;
    let order = [1, 2, 0, 3];
    let found = scene.store.all_stored::<Connection>(scene.company).await.expect("the store works");
    assert_eq!(found, order.map(|n: usize| first(connections[n].clone())));
    let found = scene.store.all_stored::<Template>(scene.company).await.expect("the store works");
    assert_eq!(found, order.map(|n: usize| first(templates[n].clone())));
}

/// A connection is in use if a row refers to it or mentions it (R54).
pub async fn use_of_a_connection_is_reported(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, spare) = scene.pair().await;
    let used = async |id: ConnectionId| {
        scene
            .store
            .is_in_use(scene.company, Removable::Connection(id))
            .await
            .expect("the store works")
    };
    for case in 0..4 {
        let connection = scene.connection();
        scene.add(connection.clone()).await;
        scene.add(scene.group(&connection, "g1")).await;
        scene.add(scene.report(&connection, "w1", at(9))).await;
        assert!(!used(connection.id).await, "case {case}");
        let mut last = scene.contact();
        last.last_connection_id = Some(connection.id);
        let row: Row = match case {
            0 => scene.inbound(&contact, &connection, 0).into(),
            1 => scene.conversation(&contact, &connection).into(),
            2 => scene.template(Some(&connection)).into(),
            _ => last.into(),
        };
        scene.add(row).await;
        assert!(used(connection.id).await, "case {case}");
        assert!(!used(spare.id).await, "case {case}");
        let other = scene.another_company().await.company;
        let theirs = scene.store.is_in_use(other, Removable::Connection(connection.id)).await;
        assert!(!theirs.expect("the store works"), "case {case}");
    }
    assert!(!used(ConnectionId::new(scene.uuid())).await);
}

/// A call to its address has only its id, not its company.
pub async fn a_connection_is_found_whatever_the_company(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let (ours, theirs) = (scene.connection(), other.connection());
    scene.add(ours.clone()).await;
    other.add(theirs.clone()).await;
    let find = async |id| scene.store.connection_anywhere(id).await.expect("the store works");
    assert_eq!(find(ours.id).await, Some(first(ours.clone())));
    assert_eq!(find(theirs.id).await, Some(first(theirs.clone())));
    assert_eq!(find(ConnectionId::new(scene.uuid())).await, None);
    // The connection is read as it is now, in another process, too.
    let off = Connection { is_active: false, updated_at: at(9), ..ours.clone() };
    scene.apply(first(ours).update(off.clone())).await;
    let second = harness.second().await.unwrap_or_else(|| scene.store.clone());
    let found = second.connection_anywhere(off.id).await.expect("the store works");
    let found = found.expect("it is there");
    assert_eq!((found.value(), found.version().number()), (&off, 2));
    scene.apply(found.delete()).await;
    assert_eq!(find(off.id).await, None);
}

fn codes(groups: Vec<Stored<ConnectionGroup>>) -> Vec<String> {
    groups.iter().map(|row| row.group.code.as_str().to_owned()).collect()
}

/// Codes are ordered byte by byte.
pub async fn groups_of_a_connection_come_by_code(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let (connection, second) = (scene.connection(), scene.connection());
    scene.add_all([connection.clone(), second.clone()]).await;
    for id in ["b", "a-1", "B", "a.1", "10", "9", "a_1"] {
        scene.add(scene.group(&connection, id)).await;
    }
    scene.add(scene.group(&second, "c")).await;
    let list =
        async |company, id| codes(scene.store.groups(company, id).await.expect("the store works"));
    let sorted = ["10", "9", "B", "a-1", "a.1", "a_1", "b"].map(|id| format!("{id}@g.us"));
    assert_eq!(list(scene.company, connection.id).await, sorted);
    assert_eq!(list(scene.company, second.id).await, ["c@g.us"]);
    assert_eq!(list(scene.company, ConnectionId::new(scene.uuid())).await, [""; 0]);
    assert_eq!(list(other.company, connection.id).await, [""; 0]);
}

/// The rows of all connections, for the group itself and for the groups of a community.
pub async fn groups_are_found_by_their_code_and_their_communitys(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let connections = [scene.connection(), scene.connection()];
    scene.add_all(connections.clone()).await;
    let inside = |n: usize, id: &str, community: &str| {
        let mut row = scene.group(&connections[n], id);
        row.group.community_code = Some(code(community));
        row
    };
    let rows = [
        inside(1, "b", "com"),
        scene.group(&connections[1], "a"),
        scene.group(&connections[0], "com"),
        inside(0, "b", "com"),
        inside(0, "a", "elsewhere"),
        scene.group(&connections[0], "z"),
    ];
    scene.add_all(rows.clone()).await;
    let theirs = other.connection();
    other.add(theirs.clone()).await;
    other.add(other.group(&theirs, "a")).await;

    let find = async |ids: &[&str]| {
        let codes: Vec<_> = ids.iter().map(|id| code(id)).collect();
        scene.store.groups_by_code(scene.company, &codes).await.expect("the store works")
    };
    let row = |n: usize| first(rows[n].clone());
    assert_eq!(find(&["a"]).await, [row(4), row(1)]);
    assert_eq!(find(&["com"]).await, [row(3), row(0), row(2)]);
    // Each once, even if it is named twice.
    assert_eq!(find(&["com", "b", "b"]).await, [row(3), row(0), row(2)]);
    assert_eq!(find(&["elsewhere", "z"]).await, [row(4), row(5)]);
    assert_eq!(find(&["nowhere", "A"]).await, []);
    assert_eq!(find(&[]).await, []);
}

/// The detail form of a contact has its conversations and lead memory; no other form has them.
pub async fn a_single_contact_shows_its_conversations_and_lead_memory(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, other) = (scene.contact(), scene.contact());
    scene.add_all([contact.clone(), other.clone()]).await;
    let mut connections = [scene.connection(), scene.connection(), scene.connection()];
    for (connection, millis) in connections.iter_mut().zip([9, 3, 3]) {
        connection.created_at = at(millis);
    }
    scene.add_all(connections.clone()).await;
    for connection in &connections {
        scene.add(scene.conversation(&contact, connection)).await;
    }
    scene.add(scene.conversation(&other, &connections[0])).await;
    scene.add(scene.lead(&contact)).await;
    let related = async |contact: &Contact| {
        let record = scene.store.contact_record(scene.company, contact.id).await;
        record.expect("the store works").expect("the contact is there").0.related
    };
    let shown = related(&contact).await;
    let wanted = [1, 2, 0]
        .map(|n: usize| (connections[n].clone(), scene.conversation(&contact, &connections[n])));
    assert_eq!(shown.conversations, wanted);
    assert_eq!(shown.lead_memory, Some(scene.lead(&contact)));
    assert_eq!(related(&other).await.lead_memory, None);
    for record in scene.page(&Default::default(), 1, 10).await.records {
        assert_eq!((record.related.conversations, record.related.lead_memory), (vec![], None));
    }
}

/// Promise 8, reads by id.
pub async fn a_channels_row_of_another_company_is_missing(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await.company;
    let (contact, connection) = scene.pair().await;
    let (template, line) = (scene.template(Some(&connection)), scene.debit(None, 1, 0));
    let call = scene.call("k", None);
    let rows: Vec<Row> = vec![
        template.clone().into(),
        line.clone().into(),
        call.clone().into(),
        scene.lead(&contact).into(),
    ];
    scene.add_all(rows).await;
    let store = &scene.store;
    assert_eq!(store.get::<Connection>((other, connection.id)).await.expect("works"), None);
    assert_eq!(store.get::<Template>((other, template.id)).await.expect("works"), None);
    assert_eq!(store.get::<LedgerLine>((other, line.id)).await.expect("works"), None);
    assert_eq!(store.get::<RememberedCall>((other, call.key.clone())).await.expect("works"), None);
    assert_eq!(store.get::<LeadMemory>((other, contact.id)).await.expect("works"), None);
    let nowhere = TemplateId::new(scene.uuid());
    assert_eq!(store.get::<Template>((scene.company, nowhere)).await.expect("works"), None);
    let nowhere = ConnectionId::new(scene.uuid());
    assert_eq!(store.get::<Connection>((scene.company, nowhere)).await.expect("works"), None);
    assert_eq!(store.get::<Worker>(scene.worker(0).id).await.expect("works"), None);
}
