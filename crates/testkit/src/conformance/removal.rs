//! Removing a company with everything that it has (R208, R209).

use std::sync::Arc;

use recado_core::ids::CompanyId;
use recado_core::remembered_opt_outs::{OptOutHash, RememberedOptOut};
use recado_core::store::{
    ChangeSet, CommitError, Conflict, Listing, RecordsExt, Removable, Row, RowKind, Stored,
};
use recado_core::uploads::{FileHash, Upload, UploadState};

use super::Harness;
pub use super::about_contacts::{
    rows_about_a_contact_are_listed_and_counted,
    rows_that_were_counted_stop_the_change_set_when_there_are_more,
    the_last_messages_of_some_contacts_are_found,
    the_messages_of_a_contact_are_listed_page_by_page,
};
use super::accounts::{link as link_of, login, session};
use super::scene::{CNPJ, Scene, at, first, search};
use crate::Kit;
use crate::files::MemoryFiles;
use crate::ids::SeededIds;

/// Stores a row of every kind, and an event.
async fn fill(scene: &Scene, name: &str) {
    let (contact, connection) = scene.pair().await;
    let enrolled = scene.enrolled(2).await;
    let (pipeline, list, tag) = (scene.pipeline(), scene.list(), scene.tag());
    let stage = scene.stage(&pipeline, 0);
    let message = scene.outbound(&contact, &connection, 3);
    let link = scene.clicked_link(&contact, 1, 5);
    let webhook = scene.webhook();
    let member = scene.member();
    let email = format!("{name}@example.org");
    let event = scene.reported_of(contact.id, 3);
    let rows: Vec<Row> = vec![
        scene.key().into(),
        member.clone().into(),
        login(&member, &email).into(),
        link_of(&member).into(),
        session(scene, &member, 1).into(),
        scene.field("cidade").into(),
        scene.close_reason().into(),
        scene.organization(CNPJ).into(),
        pipeline.into(),
        stage.clone().into(),
        scene.deal(&contact, Some(&stage)).into(),
        list.clone().into(),
        scene.joins(&contact, &list).into(),
        tag.clone().into(),
        scene.tagged(&contact, &tag).into(),
        scene.document(&contact).into(),
        scene.upload(7).into(),
        scene.click(&link, 5, true).into(),
        scene.statuses(&connection).into(),
        scene.group(&connection, "120363000000000001").into(),
        scene.alias(&contact, name).into(),
        scene.conversation(&contact, &connection).into(),
        scene.reference(&message, name).into(),
        scene.lead(&contact).into(),
        scene.debit(Some(contact.id), 1, 0).into(),
        scene.call(name, Some(contact.id)).into(),
        scene.unknown_event(&connection, name).into(),
        scene.template(Some(&connection)).into(),
        scene.routes(&[webhook.id]).into(),
        scene.endpoint(name).into(),
        scene.window(&contact, 1).into(),
        scene.job().into(),
        RememberedOptOut {
            company: scene.company,
            hash: OptOutHash::from_bytes([7; 32]),
            since: at(3),
        }
        .into(),
    ];
    scene.add(link).await;
    scene.add(message).await;
    // What refers stands behind what it refers to.
    scene.add_all(rows).await;
    let queue = recado_core::deliveries::QueueKey { company: scene.company, webhook: webhook.id };
    scene.add(webhook).await;
    let delivery = scene.fresh(queue, &event);
    scene.tell(&[event], &[delivery]).await;
    assert_eq!(enrolled.contacts.len(), 2);
}

/// The kinds of which a company has rows.
async fn kinds_of(scene: &Scene, company: CompanyId) -> Vec<RowKind> {
    let mut found = Vec::new();
    for kind in RowKind::ALL.iter().copied() {
        let rows = scene.store.rows(Listing::Some { company, kind, limit: 1 }).await;
        if !rows.expect("the store works").is_empty() {
            found.push(kind);
        }
    }
    found
}

/// R209: some rows are rows of that company and kind, and not more than were asked for.
pub async fn some_rows_of_a_kind_are_of_one_company(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let lists = [scene.list(), scene.list(), scene.list()];
    scene.add_all(lists.clone()).await;
    scene.add(other.list()).await;
    let kind = RowKind::List;
    for (limit, count) in [(1, 1), (2, 2), (3, 3), (4, 3), (100, 3)] {
        let some = Listing::Some { company: scene.company, kind, limit };
        let found = scene.store.rows(some).await.expect("the store works");
        assert_eq!(found.len(), count, "{limit}");
        for row in &found {
            assert_eq!(row.value().key().company(), Some(scene.company));
            let read = scene.store.row(&row.value().key()).await.expect("the store works");
            assert_eq!(read.as_ref(), Some(row));
        }
    }
    for kind in [RowKind::Company, RowKind::Secret, RowKind::Worker, RowKind::Shard] {
        let some = Listing::Some { company: scene.company, kind, limit: 9 };
        assert_eq!(scene.store.rows(some).await.expect("the store works"), [], "{kind:?}");
    }
}

/// R456: of each kind, the companies that have rows of it, once each, by id.
pub async fn companies_with_rows_of_a_kind_are_named_once(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let empty = scene.another_company().await;
    fill(&scene, "one").await;
    scene.add_all([scene.list(), scene.list()]).await;
    other.add_all([other.list(), other.list(), other.list()]).await;
    let named = async |kind| {
        let found = scene.store.rows(Listing::CompaniesWith { kind }).await;
        let found = found.expect("the store works");
        let company = |row: &Stored<Row>| match row.value() {
            Row::Company(company) => company.id,
            row => panic!("another kind: {row:?}"),
        };
        found.iter().map(company).collect::<Vec<_>>()
    };
    let mut both = vec![scene.company, other.company];
    both.sort_unstable();
    assert_eq!(named(RowKind::List).await, both);
    for kind in RowKind::ALL.iter().copied() {
        let mut having = Vec::new();
        for company in [scene.company, other.company, empty.company] {
            let some = Listing::Some { company, kind, limit: 1 };
            let rows = scene.store.rows(some).await.expect("the store works");
            having.extend((!rows.is_empty()).then_some(company));
        }
        having.sort_unstable();
        assert_eq!(named(kind).await, having, "{kind:?}");
    }
}

/// X11: whatever is known of a file.
pub async fn every_field_of_an_upload_is_read_back(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let uploads = [
        (0, FileHash::NONE, None, None),
        (1, FileHash::from_bytes([255; 32]), Some("nota '\"\\ %_ é 👍.pdf"), Some(at(0))),
        (104_857_600, FileHash::from_bytes([1; 32]), Some(""), Some(at(i64::from(u32::MAX)))),
        (u64::from(u32::MAX) + 1, FileHash::from_bytes([7; 32]), Some("a"), None),
    ];
    for ((size, sha256, filename, expires_at), state) in
        uploads.iter().zip(UploadState::ALL.iter().cycle())
    {
        let upload = Upload {
            mimetype: "application/vnd.ms-excel".to_owned(),
            size: *size,
            sha256: *sha256,
            filename: filename.map(str::to_owned),
            state: *state,
            expires_at: *expires_at,
            created_at: at(7),
            ..scene.upload(3)
        };
        scene.add(upload.clone()).await;
        let key = (scene.company, upload.id);
        let read = scene.store.get::<Upload>(key).await.expect("the store works");
        assert_eq!(read, Some(first(upload.clone())));
        scene.apply(first(upload).delete()).await;
        assert_eq!(scene.store.get::<Upload>(key).await.expect("the store works"), None);
    }
}

/// R348: a message that begins to hold an upload, and a sweep that begins to remove it, cannot both
/// have read it as it was.
pub async fn an_upload_is_written_once_by_those_who_read_it_at_once(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, connection) = scene.pair().await;
    let upload = Upload { expires_at: Some(at(10)), ..scene.upload(2) };
    scene.add(upload.clone()).await;
    let read = first(upload.clone());
    let marked = Upload { state: UploadState::Removing, ..upload.clone() };
    let mut message = scene.outbound(&contact, &connection, 3);
    message.media.upload = Some(upload.id);
    scene.apply(read.update(marked.clone())).await;
    let sent = |hold: ChangeSet| scene.store.commit(hold.insert(message.clone()));
    for hold in [
        ChangeSet::new().with(read.update(upload.held())),
        ChangeSet::new().require(read.unchanged()),
    ] {
        let refused = sent(hold).await.expect_err("the upload was marked");
        assert!(matches!(refused, CommitError::Conflict(Conflict::Stale(_))), "{refused:?}");
    }
    // The other way round.
    let marked = Stored::new(marked, read.version().next());
    sent(ChangeSet::new().with(marked.update(upload.held()))).await.expect("it was read anew");
    let removed = scene.store.commit(ChangeSet::new().with(marked.delete())).await;
    let refused = removed.expect_err("a message has it");
    assert!(matches!(refused, CommitError::Conflict(Conflict::Stale(_))), "{refused:?}");
}

/// R348: uploads are found by their end, and by who has them.
pub async fn uploads_are_found_by_their_end_and_by_their_messages(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let (contact, connection) = scene.pair().await;
    let (held, unused, due) = (scene.upload(1), scene.upload(2), scene.upload(3));
    let due = Upload { expires_at: Some(at(10)), ..due };
    let later = Upload { expires_at: Some(at(30)), ..scene.upload(4) };
    let theirs = other.upload(1);
    for upload in [&held, &unused, &due, &later] {
        scene.add(upload.clone()).await;
    }
    other.add(theirs.clone()).await;
    let mut message = scene.outbound(&contact, &connection, 3);
    message.media.upload = Some(held.id);
    scene.add(message.clone()).await;
    let company = scene.company;
    for state in UploadState::ALL.iter().copied() {
        let read = scene.store.get::<Upload>((company, later.id)).await.expect("the store works");
        let read = read.expect("it is there");
        let changed = Upload { state, is_listed: !read.is_listed, ..read.value().clone() };
        scene.apply(read.update(changed.clone())).await;
        let again = scene.store.get::<Upload>((company, later.id)).await.expect("the store works");
        assert_eq!(again.map(Stored::into_value), Some(changed));
    }
    let found = async |listing| {
        let rows = scene.store.rows(listing).await.expect("the store works");
        rows.iter().map(|row| row.value().key()).collect::<Vec<_>>()
    };
    let key = |upload: &Upload| Row::from(upload.clone()).key();
    let oldest =
        |until, limit| Listing::Oldest { company, kind: RowKind::Upload, until: at(until), limit };
    assert_eq!(found(oldest(30, 9)).await, [key(&due), key(&later)]);
    assert_eq!(found(oldest(29, 9)).await, [key(&due)]);
    assert_eq!(found(oldest(30, 1)).await, [key(&due)]);
    let free = |limit| Listing::Unused { company, kind: RowKind::Upload, limit };
    assert_eq!(found(free(9)).await, [key(&unused)]);
    let carried = |contact, limit| Listing::Carried { company, contact, limit };
    assert_eq!(found(carried(contact.id, 9)).await, [key(&held)]);
    let stranger = scene.contact();
    assert_eq!(found(carried(stranger.id, 9)).await, []);
    let used = async |company, id| {
        let used = scene.store.is_in_use(company, Removable::Upload(id)).await;
        used.expect("the store works")
    };
    assert!(used(company, held.id).await && !used(company, unused.id).await);
    assert!(!used(other.company, held.id).await);
    // What messages have can be deleted all the same: the core looks first.
    scene.apply(first(held.clone()).delete()).await;
    assert!(used(company, held.id).await);
    scene.apply(first(message).delete()).await;
    assert!(!used(company, held.id).await);
}

/// R210, R211, R212: messages, ledger lines and clicks, oldest first, up to a time.
pub async fn the_oldest_rows_are_found_by_their_times(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    for scene in [&scene, &other] {
        let (contact, connection) = scene.pair().await;
        let link = scene.link(&contact);
        scene.add(link.clone()).await;
        for millis in [30, 10, 20] {
            scene.add(scene.outbound(&contact, &connection, millis)).await;
            scene.add(scene.debit(None, 1, millis)).await;
            scene.add(scene.click(&link, millis, true)).await;
        }
    }
    let times = async |kind, until, limit| {
        let company = scene.company;
        let oldest = Listing::Oldest { company, kind, until: at(until), limit };
        let rows = scene.store.rows(oldest).await.expect("the store works");
        let time = |row: &Row| match row {
            Row::Message(message) => message.created_at.millis(),
            Row::LedgerLine(line) => line.created_at.millis(),
            Row::Click(click) => click.at.millis(),
            other => panic!("a row of another kind: {:?}", other.kind()),
        };
        let company_of = |row: &Row| assert_eq!(row.key().company(), Some(company));
        rows.iter().for_each(|row| company_of(row.value()));
        rows.iter().map(|row| time(row.value()) - at(0).millis()).collect::<Vec<_>>()
    };
    for kind in [RowKind::Message, RowKind::LedgerLine, RowKind::Click] {
        assert_eq!(times(kind, 30, 9).await, [10, 20, 30], "{kind:?}");
        assert_eq!(times(kind, 20, 9).await, [10, 20], "{kind:?}");
        assert_eq!(times(kind, 30, 1).await, [10], "{kind:?}");
        assert!(times(kind, 9, 9).await.is_empty(), "{kind:?}");
    }
    assert!(times(RowKind::Contact, 30, 9).await.is_empty());
}

/// R213.
pub async fn organizations_that_no_contact_has_are_unused(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let (used, unused) = (scene.organization(CNPJ), scene.organization("11444777000161"));
    let mut contact = scene.contact();
    contact.organization_id = Some(used.id);
    let rows: Vec<Row> = vec![used.into(), unused.clone().into(), contact.clone().into()];
    scene.add_all(rows).await;
    other.add(other.organization(CNPJ)).await;
    let found = async |limit| {
        let unused = Listing::Unused { company: scene.company, kind: RowKind::Organization, limit };
        let rows = scene.store.rows(unused).await.expect("the store works");
        rows.iter().map(|row| row.value().key()).collect::<Vec<_>>()
    };
    assert_eq!(found(9).await, [Row::from(unused).key()]);
    scene.apply(first(contact).delete()).await;
    assert_eq!((found(9).await.len(), found(1).await.len()), (2, 1));
}

/// R208, R209: nothing of it is left, and everything of another company.
pub async fn nothing_of_a_deleted_company_is_left(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    fill(&scene, "gone").await;
    fill(&other, "stays").await;
    let every: Vec<RowKind> =
        RowKind::ALL.iter().copied().filter(|kind| kind.is_of_company()).collect();
    assert_eq!(kinds_of(&scene, scene.company).await, every, "a kind is not filled");
    let files = MemoryFiles::new();
    let app = Kit::builder()
        .store(Arc::clone(&scene.store))
        .files(files)
        .ids(SeededIds::new(9))
        .start()
        .await;
    app.access().delete_company(scene.company).await.expect("it is there");
    assert_eq!(app.access().companies().await.expect("the store works").len(), 1);
    while app.jobs().run_one().await.expect("the store works") {}
    assert_eq!(kinds_of(&scene, scene.company).await, []);
    assert!(scene.journal_ids().await.is_empty());
    let company = scene.store.get::<recado_core::access::Company>(scene.company).await;
    assert_eq!(company.expect("the store works"), None);
    let filter = search("");
    assert_eq!(scene.total(&filter).await, 0);
    // The job that it had is done by the same loop, so it is not counted.
    let left: Vec<RowKind> = every.into_iter().filter(|kind| *kind != RowKind::Job).collect();
    let of_other = kinds_of(&other, other.company).await;
    assert!(left.iter().all(|kind| of_other.contains(kind)), "{of_other:?}");
    assert_eq!(other.journal_ids().await.len(), 1);
    // A company with the same id starts empty.
    scene.add(scene.company_row(scene.company)).await;
    assert_eq!(scene.total(&filter).await, 0);
}
