//! Groups and communities on WAHA: docs/gateways/waha.md; D2, D34, D64.

use std::time::Duration;

use recado_testkit::gateways::{WahaEngine, WahaGroup};
use recado_tests::backend::Setup;
use recado_tests::{StoreKind, both_stores, mobile, text};
use serde_json::{Value, json};

use crate::gateway_waha::{Waha, chat};

const SECOND: Duration = Duration::from_secs(1);
const CLUB: &str = "120363000000000001@g.us";
const COMMUNITY: &str = "120363000000000002@g.us";
const NEWS: &str = "120363000000000003@g.us";

/// A plain group, and a community with its announcement group. The session is their administrator.
fn all() -> Vec<WahaGroup> {
    vec![
        WahaGroup::new(CLUB, "Clube"),
        WahaGroup { is_community: true, ..WahaGroup::new(COMMUNITY, "Comunidade") },
        WahaGroup {
            is_announcement: true,
            community: Some(COMMUNITY.to_owned()),
            announce_only: true,
            is_admin: true,
            ..WahaGroup::new(NEWS, "Avisos")
        },
    ]
}

async fn codes(waha: &Waha) -> Vec<String> {
    let groups = waha.about("groups").await;
    let mut codes: Vec<String> =
        groups.as_array().expect("a list").iter().map(|group| text(&group["code"])).collect();
    codes.sort();
    codes
}

fn last_chat(waha: &Waha) -> String {
    waha.fake.accepted().pop().expect("it was sent").chat
}

#[both_stores]
async fn groups_are_read_at_a_connect_on_every_engine(kind: StoreKind) {
    for engine in WahaEngine::ALL {
        let waha = Waha::with(kind, engine, Setup::default(), json!({})).await;
        waha.fake.set_groups(all());
        waha.jobs().await;
        assert_eq!(waha.status().await, "connected");
        assert_eq!(codes(&waha).await, [CLUB, COMMUNITY, NEWS], "{engine:?}");
        let groups = waha.about("groups").await;
        let flags = |code: &str| {
            let groups = groups.as_array().expect("a list");
            let group = groups.iter().find(|group| group["code"] == code).expect("there");
            ["is_community", "is_announcement", "announce_only", "is_admin", "participates"]
                .map(|flag| group[flag].as_bool().expect("a flag"))
        };
        assert_eq!(flags(CLUB), [false, false, false, false, true], "{engine:?}");
        assert!(flags(COMMUNITY)[0], "{engine:?}");
        assert_eq!(flags(NEWS), [false, true, true, true, true], "{engine:?}");
        assert_eq!(waha.group_contact(CLUB).await["name"], "Clube");
        waha.well_behaved();
    }
}

#[both_stores]
async fn a_send_to_a_group_and_to_a_community_arrives_where_it_can_be_read(waha: Waha) {
    waha.fake.set_groups(all());
    let answer = waha.asks("sync-groups").await;
    assert_eq!(answer.status, 200, "{}", answer.show());
    let data = waha.sent(CLUB, "bom dia").await;
    assert_eq!(data["group_jid"], CLUB);
    assert_eq!(last_chat(&waha), CLUB);
    let data = waha.sent(COMMUNITY, "avisos do dia").await;
    assert_eq!(last_chat(&waha), NEWS, "a community cannot be posted to");
    assert_eq!(data["group_jid"], NEWS);
    assert_eq!(data["contact_id"], waha.group_contact(NEWS).await["id"]);
    waha.well_behaved();
}

#[both_stores]
async fn only_admins_write_where_only_admins_may(waha: Waha) {
    let mut groups = all();
    groups[2].is_admin = false;
    waha.fake.set_groups(groups);
    waha.asks("sync-groups").await.expect(200);
    for to in [NEWS, COMMUNITY] {
        waha.send_text(to, "oi").await.expect_error(403, "GROUP_ANNOUNCE_ONLY");
        waha.send_through(&waha.connection, to).await.expect_error(403, "GROUP_ANNOUNCE_ONLY");
    }
    assert!(waha.fake.accepted().is_empty());
    waha.fake.set_groups(all());
    waha.takes(&waha.fake.webhook_groups(NEWS)).await;
    waha.later(SECOND * 3).await;
    waha.sent(NEWS, "agora sim").await;
    waha.well_behaved();
}

#[both_stores]
async fn a_group_that_was_left_cannot_be_sent_to(waha: Waha) {
    waha.fake.set_groups(all());
    waha.asks("sync-groups").await.expect(200);
    waha.sent(CLUB, "oi").await;
    waha.fake.set_groups(all().into_iter().skip(1).collect());
    let leave = json!({"group": {"id": CLUB}, "timestamp": 1, "_data": {}});
    waha.takes(&waha.fake.webhook("group.v2.leave", &leave)).await;
    waha.later(SECOND * 3).await;
    waha.send_text(CLUB, "oi").await.expect_error(422, "CONNECTION_REQUIRED");
    assert_eq!(waha.fake.accepted().len(), 1);
    assert_eq!(waha.group_contact(CLUB).await["name"], "Clube", "its contact stays");
}

/// R119.
#[both_stores]
async fn changes_are_read_once_soon_after_the_first_event(waha: Waha) {
    waha.jobs().await;
    waha.fake.set_groups(all());
    let readings = || {
        let asked = waha.fake.requests();
        asked.iter().filter(|request| request.path.ends_with("/groups")).count()
    };
    let before = readings();
    for event in ["group.v2.join", "group.v2.update", "group.v2.participants"] {
        let payload = json!({"group": {"id": CLUB}, "type": "promote", "participants": [],
            "timestamp": 1, "_data": {}});
        waha.takes(&waha.fake.webhook(event, &payload)).await;
    }
    waha.later(SECOND * 2).await;
    assert_eq!(codes(&waha).await, Vec::<String>::new());
    waha.later(SECOND).await;
    assert_eq!(codes(&waha).await, [CLUB, COMMUNITY, NEWS]);
    assert_eq!(readings(), before + 1, "a crowd of events is one reading");
    waha.well_behaved();
}

#[both_stores]
async fn groups_are_read_every_hour(waha: Waha) {
    waha.jobs().await;
    waha.fake.set_groups(all());
    waha.later(SECOND * 3_000).await;
    assert_eq!(codes(&waha).await, Vec::<String>::new());
    waha.later(SECOND * 600).await;
    assert_eq!(codes(&waha).await, [CLUB, COMMUNITY, NEWS]);
    let mut renamed = all();
    renamed[0].subject = "Clube Novo".to_owned();
    waha.fake.set_groups(renamed);
    waha.later(SECOND * 3_600).await;
    assert_eq!(waha.group_contact(CLUB).await["name"], "Clube Novo");
}

#[both_stores]
async fn many_groups_are_read_page_by_page(waha: Waha) {
    let many = (0..450).map(|n| WahaGroup::new(&format!("1203{n:06}@g.us"), &format!("G{n}")));
    waha.fake.set_groups(many.collect());
    waha.asks("sync-groups").await.expect(200);
    assert_eq!(codes(&waha).await.len(), 450);
    waha.well_behaved();
}

#[both_stores]
async fn a_gateway_that_gives_no_groups_changes_none(waha: Waha) {
    waha.fake.set_groups(all());
    waha.asks("sync-groups").await.expect(200);
    waha.gateway.stop().await;
    waha.asks("sync-groups").await.expect_error(502, "PROVIDER_ERROR");
    waha.gateway.resume().await;
    waha.fake.set_status("FAILED");
    waha.asks("sync-groups").await.expect_error(502, "PROVIDER_ERROR");
    assert_eq!(codes(&waha).await, [CLUB, COMMUNITY, NEWS]);
}

#[both_stores]
async fn members_write_in_a_group_and_nobody_opts_out_there(kind: StoreKind) {
    for engine in WahaEngine::ALL {
        let waha = Waha::on(kind, engine).await;
        waha.fake.set_groups(all());
        waha.asks("sync-groups").await.expect(200);
        let contact = waha.group_contact(CLUB).await;
        for (member, words) in [(chat(&mobile(1)), "bom dia"), ("55@lid".to_owned(), "sair")] {
            let reported = waha.fake.receive_in_group(CLUB, &member, "Ana", words);
            let message = waha.brings(&reported).await;
            assert_eq!(message["contact_id"], contact["id"], "{engine:?}");
            assert_eq!(message["content"], words);
        }
        assert_eq!(waha.full(&text(&contact["id"])).await["opted_out_at"], Value::Null);
        assert!(waha.events_of("contact.opted_out").await.is_empty());
        assert_eq!(waha.list_ids("is_group=false").await, Vec::<String>::new());
        assert_eq!(waha.events_of("message.received").await.len(), 2);
        waha.sent(CLUB, "bom dia a todos").await;
        assert_eq!(last_chat(&waha), CLUB);
        waha.well_behaved();
    }
}

#[both_stores]
async fn what_is_typed_in_a_group_is_an_echo_there(waha: Waha) {
    waha.fake.set_groups(all());
    waha.asks("sync-groups").await.expect(200);
    let message = waha.brings(&waha.fake.type_on_phone(CLUB, "oi gente")).await;
    assert_eq!(message["contact_id"], waha.group_contact(CLUB).await["id"]);
    assert_eq!(message["sender_type"], "agent");
}

#[both_stores]
async fn another_suffix_is_ours_alone(kind: StoreKind) {
    let setup = Setup { group_suffix: Some("grupo"), ..Setup::default() };
    let reported = json!({"status": "connected"});
    let waha = Waha::with(kind, WahaEngine::Gows, setup, reported).await;
    waha.fake.set_groups(all());
    waha.asks("sync-groups").await.expect(200);
    let ours = |code: &str| code.replace("@g.us", "@grupo");
    assert_eq!(codes(&waha).await, [ours(CLUB), ours(COMMUNITY), ours(NEWS)]);
    let data = waha.sent(&ours(CLUB), "oi").await;
    assert_eq!(data["group_jid"], ours(CLUB));
    assert_eq!(last_chat(&waha), CLUB);
    waha.sent(&ours(COMMUNITY), "oi").await;
    assert_eq!(last_chat(&waha), NEWS);
    let reported = waha.fake.receive_in_group(CLUB, &chat(&mobile(1)), "Ana", "bom dia");
    let message = waha.brings(&reported).await;
    let contact = waha.group_contact(&ours(CLUB)).await;
    assert_eq!(message["contact_id"], contact["id"]);
    waha.brings(&waha.fake.type_on_phone(CLUB, "oi gente")).await;
    assert_eq!(waha.list_ids("is_group=true").await.len(), 2);
    waha.send_text(CLUB, "oi").await.expect_error(400, "INVALID_PHONE");
    waha.well_behaved();
}
