//! Groups and communities on Evolution: docs/gateways/evolution.md; D2, D34, D64.

use std::time::Duration;

use recado_testkit::gateways::EvolutionVersion;
use recado_tests::backend::Setup;
use recado_tests::{StoreKind, both_stores, digits, mobile, text, with};
use serde_json::{Value, json};

use crate::gateway_evolution::Evolution;

const SECOND: Duration = Duration::from_secs(1);
const CLUB: &str = "120363000000000001@g.us";
const COMMUNITY: &str = "120363000000000002@g.us";
const NEWS: &str = "120363000000000003@g.us";

fn group(code: &str, subject: &str, role: Value, more: Value) -> Value {
    let me = json!({"id": "777@lid", "phoneNumber": "551140028922@s.whatsapp.net", "admin": role});
    let plain = json!({"id": code, "subject": subject, "size": 2, "announce": false,
        "restrict": false, "isCommunity": false, "isCommunityAnnounce": false,
        "participants": [{"id": "9@lid", "admin": "superadmin"}, me]});
    with(plain, more)
}

/// Adds a plain group, and a community with its announcement group.
fn add_all(world: &Evolution, role: &Value) {
    world.fake.add_group(group(CLUB, "Clube", Value::Null, json!({})));
    world.fake.add_group(group(
        COMMUNITY,
        "Comunidade",
        role.clone(),
        json!({"isCommunity": true}),
    ));
    let news = json!({"isCommunityAnnounce": true, "announce": true, "linkedParent": COMMUNITY});
    world.fake.add_group(group(NEWS, "Avisos", role.clone(), news));
}

async fn codes(world: &Evolution) -> Vec<String> {
    let groups = world.about("groups").await;
    let mut codes: Vec<String> =
        groups.as_array().expect("a list").iter().map(|group| text(&group["code"])).collect();
    codes.sort();
    codes
}

fn last_chat(world: &Evolution) -> String {
    world.fake.accepted().pop().expect("it was sent").remote_jid
}

#[both_stores]
async fn groups_are_read_at_a_connect(kind: StoreKind) {
    let world = Evolution::with(kind, Setup::default(), json!({})).await;
    add_all(&world, &json!("admin"));
    world.jobs().await;
    assert_eq!(codes(&world).await, [CLUB, COMMUNITY, NEWS]);
    let groups = world.about("groups").await;
    let flags = |code: &str| {
        let groups = groups.as_array().expect("a list");
        let group = groups.iter().find(|group| group["code"] == code).expect("there");
        ["is_community", "is_announcement", "announce_only", "is_admin", "participates"]
            .map(|flag| group[flag].as_bool().expect("a flag"))
    };
    assert_eq!(flags(CLUB), [false, false, false, false, true]);
    assert!(flags(COMMUNITY)[0]);
    assert_eq!(flags(NEWS), [false, true, true, true, true]);
    assert_eq!(world.group_contact(CLUB).await["name"], "Clube");
    world.well_behaved();
}

#[both_stores]
async fn a_send_to_a_group_and_to_a_community_arrives_where_it_can_be_read(world: Evolution) {
    add_all(&world, &json!("superadmin"));
    world.asks("sync-groups").await.expect(200);
    let data = world.sent(CLUB, "bom dia").await;
    assert_eq!(data["group_jid"], CLUB);
    assert_eq!(last_chat(&world), CLUB);
    let data = world.sent(COMMUNITY, "avisos do dia").await;
    assert_eq!(last_chat(&world), NEWS, "sent to the community nobody would see it");
    assert_eq!(data["group_jid"], NEWS);
    world.well_behaved();
}

#[both_stores]
async fn only_admins_write_where_only_admins_may(world: Evolution) {
    add_all(&world, &Value::Null);
    world.asks("sync-groups").await.expect(200);
    for to in [NEWS, COMMUNITY] {
        world.send_text(to, "oi").await.expect_error(403, "GROUP_ANNOUNCE_ONLY");
        let given = world.send_through(&world.connection, to).await;
        given.expect_error(403, "GROUP_ANNOUNCE_ONLY");
    }
    assert!(world.fake.accepted().is_empty());
}

#[both_stores]
async fn changes_are_read_once_soon_after_the_first_event(world: Evolution) {
    world.jobs().await;
    add_all(&world, &json!("admin"));
    let before = world.fake.requests();
    world.takes(&world.fake.webhook("groups.upsert", json!([{"id": CLUB}]))).await;
    for participants in [json!(["9@lid"]), json!([{"id": "9@lid", "admin": null}])] {
        let change = json!({"id": CLUB, "author": "9@lid", "participants": participants,
            "action": "add"});
        world.takes(&world.fake.webhook("group-participants.update", change)).await;
    }
    world.later(SECOND * 2).await;
    assert_eq!(codes(&world).await, [CLUB], "what was told, and nothing was read");
    world.later(SECOND).await;
    assert_eq!(codes(&world).await, [CLUB, COMMUNITY, NEWS]);
    assert_eq!(world.fake.requests(), before + 1, "a crowd of events is one reading");
    world.well_behaved();
}

#[both_stores]
async fn groups_are_read_every_hour_and_by_the_operator(world: Evolution) {
    world.jobs().await;
    world.fake.add_group(group(CLUB, "Clube", Value::Null, json!({})));
    world.later(SECOND * 3_000).await;
    assert_eq!(codes(&world).await, Vec::<String>::new());
    world.later(SECOND * 600).await;
    assert_eq!(codes(&world).await, [CLUB]);
    world.fake.add_group(group(NEWS, "Avisos", Value::Null, json!({})));
    world.asks("sync-groups").await.expect(200);
    assert_eq!(codes(&world).await, [CLUB, NEWS]);
    world.gateway.stop().await;
    world.asks("sync-groups").await.expect_error(502, "PROVIDER_ERROR");
    assert_eq!(codes(&world).await, [CLUB, NEWS]);
}

#[both_stores]
async fn a_group_that_the_gateway_has_not_is_refused(world: Evolution) {
    let known = json!([{"code": CLUB, "subject": "Clube"}]);
    assert_eq!(world.put_groups(&world.connection, known).await.status, 200);
    let answer = world.send_text(CLUB, "oi").await;
    let details = answer.expect_error(502, "PROVIDER_ERROR");
    assert_eq!(details["error_type"], "provider", "{}", answer.show());
    assert_eq!(details["delivery_error"], "GROUP");
    world.jobs().await;
    world.asks("sync-groups").await.expect(200);
    world.send_text(CLUB, "oi").await.expect_error(422, "CONNECTION_REQUIRED");
    world.well_behaved();
}

#[both_stores]
async fn members_write_in_a_group_and_nobody_opts_out_there(kind: StoreKind) {
    for version in [EvolutionVersion::V2_3_6, EvolutionVersion::V2_3_7, EvolutionVersion::V2_4] {
        let reported = json!({"status": "connected"});
        let world = Evolution::with(kind, Setup::default(), reported).await;
        world.fake.version(version);
        world.fake.add_lid(&digits(&mobile(2)), "55@lid");
        add_all(&world, &Value::Null);
        world.asks("sync-groups").await.expect(200);
        let contact = world.group_contact(CLUB).await;
        for (n, words) in [(1, "bom dia"), (2, "sair")] {
            let record = world.fake.incoming_in_group(CLUB, &digits(&mobile(n)), words);
            let message = world.brings(&record).await;
            assert_eq!(message["contact_id"], contact["id"], "{version:?}");
        }
        assert_eq!(world.full(&text(&contact["id"])).await["opted_out_at"], Value::Null);
        assert!(world.events_of("contact.opted_out").await.is_empty());
        assert_eq!(world.list_ids("is_group=false").await, Vec::<String>::new());
        assert_eq!(world.events_of("message.received").await.len(), 2);
        world.sent(CLUB, "bom dia a todos").await;
        assert_eq!(last_chat(&world), CLUB);
        world.well_behaved();
    }
}

#[both_stores]
async fn another_suffix_is_ours_alone(kind: StoreKind) {
    let setup = Setup { group_suffix: Some("grupo"), ..Setup::default() };
    let world = Evolution::with(kind, setup, json!({"status": "connected"})).await;
    add_all(&world, &json!("admin"));
    world.asks("sync-groups").await.expect(200);
    let ours = |code: &str| code.replace("@g.us", "@grupo");
    assert_eq!(codes(&world).await, [ours(CLUB), ours(COMMUNITY), ours(NEWS)]);
    let data = world.sent(&ours(CLUB), "oi").await;
    assert_eq!(data["group_jid"], ours(CLUB));
    assert_eq!(last_chat(&world), CLUB);
    world.sent(&ours(COMMUNITY), "oi").await;
    assert_eq!(last_chat(&world), NEWS);
    let record = world.fake.incoming_in_group(CLUB, &digits(&mobile(1)), "bom dia");
    let message = world.brings(&record).await;
    assert_eq!(message["contact_id"], world.group_contact(&ours(CLUB)).await["id"]);
    assert_eq!(world.list_ids("is_group=true").await.len(), 2);
    world.send_text(CLUB, "oi").await.expect_error(400, "INVALID_PHONE");
    world.well_behaved();
}
