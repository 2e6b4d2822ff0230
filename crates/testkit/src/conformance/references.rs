//! Promise 5: every reference leads to an existing row.

use recado_core::contacts::Contact;
use recado_core::deals::Stage;
use recado_core::documents::Document;
use recado_core::ids::{CloseReasonId, MemberId, OrganizationId, PipelineId, StageId};
use recado_core::lists::ListMember;
use recado_core::store::{Change, ChangeSet, RecordsExt, Row};

use super::Harness;
use super::scene::{CNPJ, Scene, applied, at, first};

/// Every row except companies and secrets belongs to a company.
pub async fn a_row_needs_its_company(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let mut nowhere = scene.through(scene.store.clone());
    nowhere.company = recado_core::ids::CompanyId::new(scene.uuid());
    nowhere.refuses(Change::insert(nowhere.contact())).await;
    nowhere.refuses(Change::insert(nowhere.key())).await;
    nowhere.refuses(Change::insert(nowhere.member())).await;
    nowhere.refuses(Change::insert(nowhere.field("cidade"))).await;
    nowhere.refuses(Change::insert(nowhere.list())).await;
    nowhere.refuses(Change::insert(nowhere.tag())).await;
    nowhere.refuses(Change::insert(nowhere.close_reason())).await;
    nowhere.refuses(Change::insert(nowhere.pipeline())).await;
    nowhere.refuses(Change::insert(nowhere.organization(CNPJ))).await;
    nowhere.refuses(Change::insert(nowhere.job())).await;
}

/// Rows of the company of `scene` that refer to rows which are not stored there.
fn dangling(scene: &Scene, present: &Contact) -> Vec<Row> {
    let missing = scene.contact();
    let contact = |refer: &dyn Fn(&mut Contact)| {
        let mut contact = scene.contact();
        refer(&mut contact);
        Row::from(contact)
    };
    let organization = OrganizationId::new(scene.uuid());
    let stage = StageId::new(scene.uuid());
    let member = MemberId::new(scene.uuid());
    let reason = CloseReasonId::new(scene.uuid());
    let mut staged = scene.deal(present, None);
    staged.stage_id = Some(stage);
    staged.stage_entered_at = Some(at(0));
    let mut orphan = scene.stage(&scene.pipeline(), 0);
    orphan.pipeline = PipelineId::new(scene.uuid());
    vec![
        contact(&|c| c.organization_id = Some(organization)),
        contact(&|c| c.pipeline_stage_id = Some(stage)),
        contact(&|c| c.assigned_to_member_id = Some(member)),
        contact(&|c| c.last_close_reason_id = Some(reason)),
        orphan.into(),
        scene.deal(&missing, None).into(),
        staged.into(),
        scene.document(&missing).into(),
        scene.link(&missing).into(),
        scene.click(&scene.link(present), 0, true).into(),
        scene.joins(present, &scene.list()).into(),
        scene.tagged(present, &scene.tag()).into(),
    ]
}

/// Promise 5, inserts.
pub async fn a_row_needs_what_it_refers_to(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (present, list, tag) = (scene.contact(), scene.list(), scene.tag());
    scene.add(present.clone()).await;
    scene.add(list.clone()).await;
    scene.add(tag.clone()).await;
    let mut rows = dangling(&scene, &present);
    rows.push(scene.joins(&scene.contact(), &list).into());
    rows.push(scene.tagged(&scene.contact(), &tag).into());
    for row in rows {
        scene.refuses(Change::insert(row)).await;
    }
}

/// Promise 8: a row of another company counts as missing.
pub async fn a_row_of_another_company_is_no_reference(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let ours = scene.contact();
    let (pipeline, theirs) = (other.pipeline(), other.contact());
    let stage = other.stage(&pipeline, 0);
    let (organization, member) = (other.organization(CNPJ), other.member());
    let (reason, list, tag) = (other.close_reason(), other.list(), other.tag());
    scene.add(ours.clone()).await;
    let there: Vec<Row> = vec![
        pipeline.clone().into(),
        stage.clone().into(),
        theirs.clone().into(),
        organization.clone().into(),
        member.clone().into(),
        reason.clone().into(),
        list.clone().into(),
        tag.clone().into(),
    ];
    scene.add_all(there).await;

    let contact = |refer: &dyn Fn(&mut Contact)| {
        let mut contact = scene.contact();
        refer(&mut contact);
        Row::from(contact)
    };
    let rows = [
        contact(&|c| c.organization_id = Some(organization.id)),
        contact(&|c| c.pipeline_stage_id = Some(stage.id)),
        contact(&|c| c.assigned_to_member_id = Some(member.id)),
        contact(&|c| c.last_close_reason_id = Some(reason.id)),
        scene.stage(&pipeline, 1).into(),
        scene.deal(&theirs, None).into(),
        scene.deal(&ours, Some(&stage)).into(),
        scene.document(&theirs).into(),
        scene.link(&theirs).into(),
        scene.joins(&ours, &list).into(),
        scene.joins(&theirs, &list).into(),
        scene.tagged(&ours, &tag).into(),
    ];
    for row in rows {
        scene.refuses(Change::insert(row)).await;
    }
}

/// Promise 5, updates.
pub async fn an_update_cannot_begin_to_refer_to_nothing(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contact = scene.contact();
    scene.add(contact.clone()).await;
    let member = MemberId::new(scene.uuid());
    let assigned =
        first(contact.clone()).changed(at(1), |c| c.assigned_to_member_id = Some(member));
    scene.refuses(first(contact.clone()).update(assigned)).await;
    assert_eq!(scene.stored(contact.id).await, first(contact));
}

/// Changes are applied in order, so a change set may insert a row just before the row that refers
/// to it.
pub async fn a_change_set_may_bring_what_it_refers_to(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (organization, mut contact) = (scene.organization(CNPJ), scene.contact());
    contact.organization_id = Some(organization.id);
    let (list, pipeline) = (scene.list(), scene.pipeline());
    let stage = scene.stage(&pipeline, 0);
    let changes = ChangeSet::new()
        .insert(organization)
        .insert(contact.clone())
        .insert(list.clone())
        .insert(scene.joins(&contact, &list))
        .insert(pipeline)
        .insert(stage.clone())
        .insert(scene.deal(&contact, Some(&stage)));
    scene.store.commit(changes).await.expect("all is there when it is needed");
}

/// Promise 5, deletes.
pub async fn a_row_that_is_in_use_stays(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (pipeline, organization) = (scene.pipeline(), scene.organization(CNPJ));
    let (focus, of_deal) = (scene.stage(&pipeline, 0), scene.stage(&pipeline, 1));
    let (member, reason) = (scene.member(), scene.close_reason());
    let mut contact = scene.contact();
    contact.organization_id = Some(organization.id);
    contact.pipeline_stage_id = Some(focus.id);
    contact.assigned_to_member_id = Some(member.id);
    contact.last_close_reason_id = Some(reason.id);
    let rows: Vec<Row> = vec![
        pipeline.clone().into(),
        focus.clone().into(),
        of_deal.clone().into(),
        organization.clone().into(),
        member.clone().into(),
        reason.clone().into(),
        contact.clone().into(),
        scene.deal(&contact, Some(&of_deal)).into(),
    ];
    scene.add_all(rows).await;

    scene.refuses(first(pipeline.clone()).delete()).await;
    scene.refuses(first(focus.clone()).delete()).await;
    scene.refuses(first(of_deal.clone()).delete()).await;
    scene.refuses(first(organization.clone()).delete()).await;
    scene.refuses(first(member.clone()).delete()).await;
    scene.refuses(first(reason.clone()).delete()).await;

    // When no row refers to them, they can be deleted.
    let changes = ChangeSet::new()
        .with(first(contact).delete())
        .with(first(focus).delete())
        .with(first(of_deal).delete())
        .with(first(pipeline).delete())
        .with(first(organization).delete())
        .with(first(member).delete())
        .with(first(reason).delete());
    scene.store.commit(changes).await.expect("nothing refers to them any more");
}

/// Promise 6: documents are never deleted by cascade, so they prevent the deletion of their
/// contact.
pub async fn a_contact_with_a_document_stays(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contact = scene.contact();
    let document = scene.document(&contact);
    scene.add(contact.clone()).await;
    scene.add(document.clone()).await;
    scene.refuses(first(contact.clone()).delete()).await;
    assert!(scene.has_contact(contact.id).await);
    let both =
        ChangeSet::new().with(first(document).delete()).with(first(contact.clone()).delete());
    scene.store.commit(both).await.expect("the document goes first");
    assert!(!scene.has_contact(contact.id).await);
}

/// A pipeline can be deleted with its stages in one change set, stages first.
pub async fn stages_go_before_their_pipeline(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let pipeline = scene.pipeline();
    let stages = [scene.stage(&pipeline, 0), scene.stage(&pipeline, 1)];
    scene.add(pipeline.clone()).await;
    scene.add_all(stages.clone()).await;
    scene.refuses(first(pipeline.clone()).delete()).await;
    let ids = stages.each_ref().map(|stage| stage.id);
    let changes = stages
        .into_iter()
        .fold(ChangeSet::new(), |changes, stage| changes.with(first(stage).delete()))
        .with(first(pipeline).delete());
    scene.store.commit(changes).await.expect("nothing refers to the pipeline any more");
    for id in ids {
        let left = scene.store.get::<Stage>((scene.company, id)).await.expect("the store works");
        assert_eq!(left, None);
    }
}

/// Promises 5 and 6 with concurrent commits.
pub async fn a_membership_is_never_left_without_its_list(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contact = scene.contact();
    scene.add(contact.clone()).await;
    for _ in 0..40 {
        let list = scene.list();
        scene.add(list.clone()).await;
        let joins = ChangeSet::new().insert(scene.joins(&contact, &list));
        let goes = ChangeSet::new().with(first(list.clone()).delete());
        let (one, other) = (scene.store.clone(), scene.store.clone());
        let joined = tokio::spawn(async move { applied(one.commit(joins).await) });
        let gone = tokio::spawn(async move { applied(other.commit(goes).await) });
        joined.await.expect("no panic");
        if gone.await.expect("no panic") {
            let key = (scene.company, list.id, contact.id);
            let left = scene.store.get::<ListMember>(key).await.expect("the store works");
            assert_eq!(left, None, "a membership was left behind");
            scene.add(list.clone()).await;
            let again = scene.store.list(scene.company, list.id).await.expect("the store works");
            assert_eq!(again.map(|(_, count)| count), Some(0), "a membership was left behind");
        }
        let stored = scene.store.list(scene.company, list.id).await.expect("the store works");
        scene.apply(stored.expect("the list is there").0.delete()).await;
    }
}

/// Promise 5 with concurrent commits: whichever commit is first, no document is left without a
/// contact.
pub async fn a_document_is_never_left_without_its_contact(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    for _ in 0..40 {
        let contact = scene.contact();
        scene.add(contact.clone()).await;
        let document = scene.document(&contact);
        let attach = ChangeSet::new().insert(document.clone());
        let delete = ChangeSet::new().with(first(contact.clone()).delete());
        let (one, other) = (scene.store.clone(), scene.store.clone());
        let attached = tokio::spawn(async move { applied(one.commit(attach).await) });
        let deleted = tokio::spawn(async move { applied(other.commit(delete).await) });
        let attached = attached.await.expect("no panic");
        let deleted = deleted.await.expect("no panic");
        assert!(!(attached && deleted), "a document was attached to a contact that was deleted");
        let document = scene.store.get::<Document>((scene.company, document.id)).await;
        assert_eq!(document.expect("the store works").is_some(), attached);
        assert_eq!(scene.has_contact(contact.id).await, !deleted);
    }
}
