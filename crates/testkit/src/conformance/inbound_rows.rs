//! Inbound endpoints and the tokens of templates, which authorize callers (4.9, 4.10).

use std::collections::BTreeMap;

use recado_core::Timestamp;
use recado_core::access::{Company, Plan};
use recado_core::ids::CompanyId;
use recado_core::inbound::{
    AuthMode, EndpointSecretHash, InboundEndpoint, MAX_KEYS, VariableMapping,
};
use recado_core::store::{Change, ChangeSet, Conflict, RecordsExt, Row, UniqueKey};
use recado_core::templates::{Template, TemplateTokenHash};

use super::Harness;
use super::campaign_scene::{at_once, slug};
use super::channel_rows::AWKWARD;
use super::scene::{Scene, assert_stale, assert_taken, at, conflict, first};

/// Mappings of every size, from none to the largest, with expressions that are often stored
/// wrongly.
fn mappings() -> Vec<VariableMapping> {
    let stored = |entries| VariableMapping::from_stored(entries);
    let awkward = AWKWARD.iter().enumerate();
    let awkward = awkward.map(|(n, text)| (format!("chave.{n}-Ç\"'"), format!("$['{text}']")));
    let most = (0..MAX_KEYS).map(|n| (format!("k{n:02}_{}", "x".repeat(96)), "$..*".repeat(250)));
    vec![stored(BTreeMap::new()), stored(awkward.collect()), stored(most.collect())]
}

/// All fields of an endpoint are read back, including the hash of its secret.
pub async fn every_field_of_an_inbound_endpoint_is_read_back(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let slugs = ["abc".to_owned(), "0--".to_owned(), "z".repeat(64)];
    let hashes = [[0; 32], [0xff; 32], scene.random()].map(EndpointSecretHash::from_bytes);
    for (n, mapping) in mappings().into_iter().enumerate() {
        let plain = scene.endpoint(&format!("plain-{n}"));
        scene.add(plain.clone()).await;
        let endpoint = InboundEndpoint {
            slug: slug(&slugs[n]),
            mapping,
            auth_mode: AuthMode::ALL[n % AuthMode::ALL.len()],
            secret_hash: hashes[n],
            is_active: n % 2 == 0,
            created_at: Timestamp::MIN,
            updated_at: Timestamp::MAX,
            ..scene.endpoint("abc")
        };
        scene.add(endpoint.clone()).await;
        let read = async |id| {
            let found =
                scene.store.get::<InboundEndpoint>((scene.company, id)).await.expect("works");
            found.expect("it is there")
        };
        assert_eq!(read(endpoint.id).await, first(endpoint.clone()));
        assert_eq!(read(endpoint.id).await.secret_hash, hashes[n]);
        let by_slug = scene.store.endpoint_by_slug(&endpoint.slug).await.expect("works");
        assert_eq!(by_slug.map(|(found, _)| found), Some(endpoint.clone()));
        let listed = scene.store.all::<InboundEndpoint>(scene.company).await.expect("works");
        assert!(listed.contains(&endpoint));
        // Each of them can be replaced by any other.
        let wanted = InboundEndpoint { id: plain.id, slug: slug(&format!("new-{n}")), ..endpoint };
        scene.apply(first(plain).update(wanted.clone())).await;
        let stored = read(wanted.id).await;
        assert_eq!((stored.value(), stored.version().number()), (&wanted, 2));
    }
}

/// Oldest first; of the same time, by id.
pub async fn inbound_endpoints_come_by_creation_then_id(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    assert_eq!(scene.store.all::<InboundEndpoint>(scene.company).await.expect("works"), []);
    let mut endpoints: Vec<InboundEndpoint> = [5, 3, 3, -2, 5, 0]
        .into_iter()
        .enumerate()
        .map(|(n, millis)| InboundEndpoint {
            created_at: at(millis),
            ..scene.endpoint(&format!("e{}-{n}", 9 - n))
        })
        .collect();
    scene.add_all(endpoints.iter().rev().cloned()).await;
    other.add(other.endpoint("theirs")).await;
    endpoints.sort_by_key(|endpoint| (endpoint.created_at, endpoint.id));
    assert_eq!(scene.store.all::<InboundEndpoint>(scene.company).await.expect("works"), endpoints);
}

/// Every call looks up its endpoint by the slug. The company is the endpoint's.
pub async fn an_endpoint_is_found_by_its_slug_whatever_the_company(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let (ours, theirs) = (scene.endpoint("ours"), other.endpoint("theirs"));
    scene.add(ours.clone()).await;
    other.add(theirs.clone()).await;
    let find = async |name: &str| {
        let found = scene.store.endpoint_by_slug(&slug(name)).await.expect("works");
        found.map(|(endpoint, company)| (endpoint, company.id, company.plan))
    };
    assert_eq!(find("ours").await, Some((ours.clone(), scene.company, Plan::Enterprise)));
    assert_eq!(find("theirs").await, Some((theirs, other.company, Plan::Enterprise)));
    assert_eq!(find("our").await, None);
    assert_eq!(find("ours-").await, None);
    // Endpoint and company are read as they are now.
    let company = scene.company_row(scene.company);
    let starter = Company { plan: Plan::Starter, ..company.clone() };
    scene.apply(first(company).update(starter)).await;
    let off = InboundEndpoint { is_active: false, slug: slug("moved"), ..ours.clone() };
    scene.apply(first(ours).update(off.clone())).await;
    assert_eq!(find("ours").await, None);
    assert_eq!(find("moved").await, Some((off, scene.company, Plan::Starter)));
}

/// D46a: slugs are unique over all companies.
pub async fn a_taken_endpoint_slug_names_the_key(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let (held, spare) = (scene.endpoint("held"), other.endpoint("spare"));
    scene.add(held.clone()).await;
    other.add(spare.clone()).await;
    assert_taken(scene.try_add(scene.endpoint("held")).await, UniqueKey::EndpointSlug);
    assert_taken(other.try_add(other.endpoint("held")).await, UniqueKey::EndpointSlug);
    let wants = InboundEndpoint { slug: slug("held"), ..spare.clone() };
    let change = first(spare.clone()).update(wants.clone());
    assert_taken(other.try_apply(change.clone()).await, UniqueKey::EndpointSlug);
    let twice = InboundEndpoint { slug: slug("free"), ..held.clone() };
    assert_taken(scene.try_add(twice).await, UniqueKey::Id);
    // An update that keeps the slug has no conflict.
    let same = InboundEndpoint { is_active: false, ..held.clone() };
    scene.apply(first(held.clone()).update(same.clone())).await;
    let stored = scene.store.get::<InboundEndpoint>((scene.company, same.id)).await.expect("works");
    scene.apply(stored.expect("it is there").delete()).await;
    other.apply(change).await;
    let found = scene.store.endpoint_by_slug(&wants.slug).await.expect("works");
    assert_eq!(found.map(|(found, company)| (found, company.id)), Some((wants, other.company)));
}

/// Promise 2 with concurrent commits.
pub async fn of_many_endpoints_with_one_slug_one_is_made(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let companies = [scene.another_company().await, scene.another_company().await];
    for round in 0..5 {
        let name = format!("slug-{round}");
        let inserts = (0..8).map(|n| ChangeSet::new().insert(companies[n % 2].endpoint(&name)));
        let outcomes = at_once(harness, &scene, inserts.collect()).await;
        let (made, lost): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
        assert_eq!(made.len(), 1);
        lost.into_iter().for_each(|lost| assert_taken(lost, UniqueKey::EndpointSlug));
        assert!(scene.store.endpoint_by_slug(&slug(&name)).await.expect("works").is_some());
    }
}

/// Promises 3 and 4.
pub async fn a_stale_change_of_an_inbound_endpoint_changes_nothing(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let endpoint = scene.endpoint("loja");
    scene.add(endpoint.clone()).await;
    let read = first(endpoint.clone());
    let public = InboundEndpoint { auth_mode: AuthMode::Public, ..endpoint.clone() };
    scene.apply(read.update(public.clone())).await;
    assert_stale(scene.try_apply(read.update(endpoint.clone())).await);
    assert_stale(scene.try_apply(read.delete()).await);
    let relying = ChangeSet::new().insert(scene.list()).require(read.unchanged());
    let key = Row::from(endpoint.clone()).key();
    assert_eq!(conflict(scene.store.commit(relying).await), Conflict::Stale(key));
    let now =
        scene.store.get::<InboundEndpoint>((scene.company, endpoint.id)).await.expect("works");
    let now = now.expect("it is there");
    assert_eq!((now.value(), now.version().number()), (&public, 2));
    let relying = ChangeSet::new().insert(scene.list()).require(now.unchanged());
    scene.store.commit(relying).await.expect("it is as it was read");
    scene.apply(now.delete()).await;
    assert_stale(scene.try_apply(now.update(public)).await);
    let now =
        scene.store.get::<InboundEndpoint>((scene.company, endpoint.id)).await.expect("works");
    assert_eq!(now, None);
}

/// Promise 8.
pub async fn an_inbound_endpoint_of_another_company_is_missing(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let endpoint = scene.endpoint("loja");
    scene.add(endpoint.clone()).await;
    let store = &other.store;
    assert_eq!(
        store.get::<InboundEndpoint>((other.company, endpoint.id)).await.expect("works"),
        None
    );
    assert_eq!(store.all::<InboundEndpoint>(other.company).await.expect("works"), []);
    let theirs = InboundEndpoint { company: other.company, ..endpoint.clone() };
    assert_stale(other.try_apply(first(theirs.clone()).update(theirs.clone())).await);
    assert_stale(other.try_apply(first(theirs).delete()).await);
    let kept = store.get::<InboundEndpoint>((scene.company, endpoint.id)).await.expect("works");
    assert_eq!(kept, Some(first(endpoint)));
}

/// Promise 5.
pub async fn an_inbound_endpoint_needs_its_company(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let nowhere =
        InboundEndpoint { company: CompanyId::new(scene.uuid()), ..scene.endpoint("loja") };
    scene.refuses(Change::insert(nowhere)).await;
    assert_eq!(scene.store.endpoint_by_slug(&slug("loja")).await.expect("works"), None);
}

/// 4.10, R222: the token alone determines the company.
pub async fn a_template_is_found_by_its_token_whatever_the_company(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let (ours, theirs) = (scene.template(None), other.template(None));
    scene.add(ours.clone()).await;
    other.add(theirs.clone()).await;
    let find = async |token| {
        let found = scene.store.template_by_token(&token).await.expect("works");
        found.map(|(template, company)| (template, company.id, company.plan))
    };
    assert_eq!(find(ours.token_hash).await, Some((ours.clone(), scene.company, Plan::Enterprise)));
    assert_eq!(find(theirs.token_hash).await, Some((theirs, other.company, Plan::Enterprise)));
    assert_eq!(find(TemplateTokenHash::from_bytes(scene.random())).await, None);
    // The template is read as it is now: after a change the old token is not found.
    let company = scene.company_row(scene.company);
    let starter = Company { plan: Plan::Starter, ..company.clone() };
    scene.apply(first(company).update(starter)).await;
    let token_hash = TemplateTokenHash::from_bytes(scene.random());
    let moved = Template { token_hash, ..ours.clone() };
    scene.apply(first(ours.clone()).update(moved.clone())).await;
    assert_eq!(find(ours.token_hash).await, None);
    assert_eq!(find(token_hash).await, Some((moved, scene.company, Plan::Starter)));
}
