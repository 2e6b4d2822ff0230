//! Merges during campaigns and template dispatches: no person gets two messages (R116, D50, D66).

use recado_core::Error;
use recado_core::dispatches::RESERVATION;
use recado_core::ids::ContactId;
use serde_json::{Value, json};

use super::campaign_process::{Process, SECOND, pass, pass_drains, pass_until_it_ends};
use super::campaign_scene::Scene as Campaign;
use super::create_phone;
use super::dispatch_windows::{Desk, MILLISECOND, TEN_MINUTES, existing};
use super::dispatches::{PHONE as THEIRS, dispatch, utility};
use super::shop::{Shop, phone, refusal, uncertain, unreachable};

/// A campaign of one message a second to three contacts, in the order of their turns.
async fn slow_campaign() -> (Campaign, [ContactId; 3]) {
    let one_a_second = json!({ "messages_per_second": 1 });
    let campaign = Campaign::with(Shop::new().await, 3, one_a_second).await;
    let mut contacts = campaign.contacts.clone();
    contacts.sort();
    campaign.start().await;
    (campaign, contacts.try_into().unwrap())
}

async fn merge_in(shop: &Shop, id: ContactId, other: ContactId) {
    shop.other.contacts().merge(shop.kit().company.id, id, other).await.unwrap();
}

/// The status, error code and contact of each recipient.
async fn places(campaign: &Campaign) -> Value {
    let recipients = campaign.recipients().await;
    let shown = |known: &recado_core::campaigns::RecipientView| {
        json!([known.status.as_str(), known.error_code, known.contact_id])
    };
    recipients.iter().map(shown).collect()
}

/// R116.
#[tokio::test]
async fn a_merge_makes_nobody_get_a_running_campaign_twice() {
    for (keeps, goes) in [(0, 1), (1, 0)] {
        let (campaign, contacts) = slow_campaign().await;
        let process = Process::run(campaign.shop.app(), &campaign.shop.kit().clock);
        while campaign.shop.calls() == 0 {
            pass(&campaign, 1, SECOND / 10).await;
        }
        assert_eq!(campaign.shop.calls(), 1);
        merge_in(&campaign.shop, contacts[keeps], contacts[goes]).await;
        pass_until_it_ends(&campaign, SECOND / 10).await;
        process.stop().await;
        assert_eq!(campaign.status().await.0, "finished");
        let expected = json!([
            ["sent", null, contacts[keeps]],
            ["skipped", "CONTACT_DELETED", null],
            ["sent", null, contacts[2]],
        ]);
        assert_eq!(places(&campaign).await, expected, "{keeps} keeps");
        assert_eq!(campaign.shop.calls(), 2);
        campaign.check().await;
    }
}

#[tokio::test]
async fn a_merge_while_a_message_of_a_campaign_is_on_its_way_leaves_it_the_only_one() {
    let endings = [
        (None, "sent", Value::Null),
        (Some(refusal()), "failed", json!("RECIPIENT_UNREACHABLE")),
        (Some(unreachable()), "failed", json!("NETWORK")),
        (Some(uncertain()), "failed", json!("DELIVERY_UNCERTAIN")),
    ];
    for (failure, status, fault) in endings {
        for (keeps, goes) in [(0, 1), (1, 0)] {
            let (campaign, contacts) = slow_campaign().await;
            let provider = &campaign.shop.kit().provider;
            provider.otherwise(failure.clone());
            let gate = provider.hold();
            let meanwhile = async {
                gate.reached(1).await;
                merge_in(&campaign.shop, contacts[keeps], contacts[goes]).await;
                gate.open();
            };
            tokio::join!(async { campaign.shop.app().campaigns().drain().await }, meanwhile);
            provider.otherwise(None);
            pass_drains(&campaign).await;
            let found = places(&campaign).await;
            assert_eq!(found[0], json!([status, fault, contacts[keeps]]), "{keeps} keeps");
            assert_eq!(found[1], json!(["skipped", "CONTACT_DELETED", null]), "{keeps} keeps");
            assert_eq!((campaign.shop.calls(), found[2][0] == "waiting"), (2, false));
            assert_eq!(campaign.status().await.0, "finished");
            campaign.check().await;
        }
    }
}

#[tokio::test]
async fn of_two_places_in_a_campaign_that_both_wait_one_is_served() {
    let (campaign, contacts) = slow_campaign().await;
    merge_in(&campaign.shop, contacts[1], contacts[0]).await;
    pass_drains(&campaign).await;
    let expected = json!([
        ["skipped", "CONTACT_DELETED", null],
        ["sent", null, contacts[1]],
        ["sent", null, contacts[2]],
    ]);
    assert_eq!(places(&campaign).await, expected);
    campaign.check().await;
}

/// R116.
#[tokio::test]
async fn nothing_is_dispatched_again_before_the_later_window_of_both_ends() {
    let later = TEN_MINUTES - MILLISECOND;
    for keeps_later in [true, false] {
        for is_held in [true, false] {
            let desk = Desk::with(utility()).await;
            let (shop, own) = (&desk.shop, phone(7));
            let first = create_phone(shop.kit(), THEIRS).await;
            let second = create_phone(shop.kit(), &own).await;
            let (keeps, goes) = if keeps_later { (second, first) } else { (first, second) };
            desk.send("Ana").await.unwrap();
            shop.advance(later);
            let gate = is_held.then(|| shop.kit().provider.hold());
            let sent = dispatch(shop.app(), &desk.admitted, &own, "Ana");
            let meanwhile = async {
                let Some(gate) = &gate else { return };
                gate.reached(1).await;
                // It is not known yet whether its window opens.
                let company = shop.kit().company.id;
                let refused = shop.other.contacts().merge(company, keeps, goes).await;
                assert!(matches!(refused, Err(Error::Busy)), "{refused:?}");
                gate.open();
            };
            let (sent, ()) = tokio::join!(sent, meanwhile);
            let sent = sent.unwrap();
            merge_in(shop, keeps, goes).await;
            let to = if keeps_later { own.as_str() } else { THEIRS };
            for wait in [MILLISECOND, later - MILLISECOND] {
                shop.advance(wait);
                let again = dispatch(shop.app(), &desk.admitted, to, "Ana").await;
                assert_eq!(existing(again).map(|known| known.message_id), Some(sent.message_id));
            }
            shop.advance(MILLISECOND);
            dispatch(shop.app(), &desk.admitted, to, "Ana").await.unwrap();
            assert_eq!(shop.calls(), 3);
        }
    }
}

#[tokio::test]
async fn what_a_dead_process_reserved_takes_no_window_from_a_message_that_was_sent() {
    for keeps_sent in [true, false] {
        let desk = Desk::with(utility()).await;
        let (shop, own) = (&desk.shop, phone(7));
        let first = create_phone(shop.kit(), THEIRS).await;
        let second = create_phone(shop.kit(), &own).await;
        let (keeps, goes) = if keeps_sent { (first, second) } else { (second, first) };
        let sent = desk.send("Ana").await.unwrap();
        shop.advance(SECOND);
        let dead = shop.process(77).await;
        let gate = shop.kit().provider.hold();
        tokio::select! {
            biased;
            _ = dispatch(&dead, &desk.admitted, &own, "Ana") => panic!("it is held back"),
            () = gate.reached(2) => {}
        }
        drop((dead, gate));
        shop.advance(RESERVATION - MILLISECOND);
        let company = shop.kit().company.id;
        let merging = shop.other.contacts().merge(company, keeps, goes).await;
        assert!(matches!(merging, Err(Error::Busy)), "{merging:?}");
        shop.advance(MILLISECOND);
        merge_in(shop, keeps, goes).await;
        let to = if keeps_sent { THEIRS } else { own.as_str() };
        let again = dispatch(shop.app(), &desk.admitted, to, "Ana").await;
        assert_eq!(existing(again).map(|known| known.message_id), Some(sent.message_id));
    }
}
