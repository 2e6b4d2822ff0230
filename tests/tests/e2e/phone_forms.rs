//! Numbers that the channel writes otherwise than the numbering plan, in Mexico and Argentina as in
//! Brazil, and people who have two contacts: 4.3, 4.4, 4.8, 4.9; D14, D15, D17, D23, D24, D62.

use recado_tests::{
    Campaigning, Intake, World, both_stores, digits, eight_digits, mobile, text, with,
};
use serde_json::{Value, json};

/// A number: as the plan has it, as the channel writes it, and how else it is written.
struct Number {
    plan: &'static str,
    channel: &'static str,
    others: &'static [&'static str],
}

const MEXICAN: Number = Number {
    plan: "+525512341234",
    channel: "5215512341234",
    others: &["+5215512341234", "+52 1 55 1234-1234", "+52 (55) 1234 1234"],
};
const ARGENTINE: Number = Number {
    plan: "+541123451234",
    channel: "5491123451234",
    others: &["+5491123451234", "+54 9 11 2345-1234", "+54 11 15 2345-1234", "+54 (11) 2345 1234"],
};
const NUMBERS: [Number; 2] = [MEXICAN, ARGENTINE];

async fn contact_of(world: &World, message: &str) -> String {
    text(&world.message(message).await["contact_id"])
}

/// All groups of contacts that are one person.
async fn duplicates(world: &World) -> Vec<Value> {
    let (mut groups, mut query) = (Vec::new(), String::new());
    loop {
        let path = format!("C/contacts/duplicates{query}");
        let answer = world.operator("GET", &path, Value::Null).await;
        answer.expect(200);
        groups.extend(answer.items());
        match &answer.json()["pagination"]["next_cursor"] {
            Value::Null => return groups,
            next => query = format!("?cursor={}", text(next)),
        }
    }
}

/// Two contacts of one person, which only an import makes: the second is known by an id of another
/// system.
async fn two(world: &World, plan: &str) -> (String, String) {
    let one = world.create_id(json!({"phone": plan, "name": "Ana"})).await;
    let other = world.import(json!({"phone": plan, "identifier": "crm-1"})).await;
    (one, other)
}

// D15

#[both_stores]
async fn a_mexican_who_asked_to_stop_is_written_to_under_no_form(world: World) {
    let qr = world.qr().await;
    for Number { plan, channel, others } in NUMBERS {
        let contact = contact_of(&world, &world.receive(&qr, channel, "parar").await).await;
        let shown = text(&world.detail(&contact).await["phone"]);
        for to in [&[plan, shown.as_str()], others].concat() {
            world.send_text(to, "oi").await.expect_error(403, "CONTACT_OPTED_OUT");
        }
    }
    assert_eq!(world.list_ids("limit=100").await.len(), 2);
    assert_eq!(world.events_of("contact.opted_out").await.len(), 2);
    let messages = world.all_messages().await;
    assert!(messages.iter().all(|one| one["direction"] == "inbound"), "{messages:?}");
}

#[both_stores]
async fn whom_the_channel_brought_is_one_contact_under_every_form_and_the_shown_phone_is_one(
    world: World,
) {
    let qr = world.qr().await;
    for Number { plan, channel, others } in NUMBERS {
        let contact = contact_of(&world, &world.receive(&qr, channel, "oi").await).await;
        let before = world.detail(&contact).await;
        assert_eq!(before["identifier"], channel);
        let shown = text(&before["phone"]);
        assert!(shown.starts_with('+'), "{shown}");
        for to in [&[plan, shown.as_str()], others].concat() {
            assert_eq!(world.sent(to, "olá").await["contact_id"], contact.as_str(), "{to}");
            let again = world.post_contact(json!({"phone": to})).await;
            again.expect_error(409, "CONTACT_EXISTS");
            assert_eq!(again.json()["contact_id"], contact.as_str(), "{to}");
        }
        // What is shown reads as itself.
        let other = world.tenant("Other").await;
        let made = world.create_as(&other, json!({"phone": shown})).await;
        assert_eq!(made["phone"], shown.as_str());
        let after = world.detail(&contact).await;
        for name in ["identifier", "phone"] {
            assert_eq!(after[name], before[name], "{name} stays");
        }
        assert_eq!(after["connections"][0]["identifier"], channel);
    }
    assert_eq!(world.list_ids("limit=100").await.len(), 2);
}

#[both_stores]
async fn whom_a_caller_brought_is_one_contact_under_every_form_of_the_channel(world: World) {
    let qr = world.qr().await;
    for Number { plan, channel, others } in NUMBERS {
        let made = world.create(json!({"phone": plan})).await;
        let contact = text(&made["id"]);
        let names = (made["phone"].clone(), made["identifier"].clone());
        let with_plus = format!("+{channel}");
        for from in [channel, &digits(plan), &with_plus] {
            let message = world.receive(&qr, from, "oi").await;
            assert_eq!(contact_of(&world, &message).await, contact, "{from}");
            let echo = world.stored(&qr, world.echo(from, "olá")).await;
            assert_eq!(contact_of(&world, &echo).await, contact, "{from}");
            let old = with(world.inbound(from, "antes"), json!({"history": true}));
            assert_eq!(contact_of(&world, &world.stored(&qr, old).await).await, contact);
        }
        for to in others {
            assert_eq!(world.sent(to, "olá").await["contact_id"], contact.as_str(), "{to}");
        }
        let detail = world.detail(&contact).await;
        assert_eq!((detail["phone"].clone(), detail["identifier"].clone()), names);
        // The newest form that the channel wrote is what it is called there.
        world.receive(&qr, channel, "oi").await;
        let detail = world.detail(&contact).await;
        assert_eq!(detail["connections"][0]["identifier"], channel);
    }
    assert_eq!(world.list_ids("limit=100").await.len(), 2);
    assert!(duplicates(&world).await.is_empty());
}

#[both_stores]
async fn webhooks_and_imports_find_whom_they_mean_under_every_form(intake: Intake) {
    let qr = intake.qr().await;
    let endpoint = intake.endpoint("formas-do-numero", json!({"phone_number": "$.phone"})).await;
    for Number { plan, channel, others } in NUMBERS {
        let contact = contact_of(&intake, &intake.receive(&qr, channel, "oi").await).await;
        for phone in [&[plan], others].concat() {
            let answer = intake.hand_in(&endpoint, &json!({"phone": phone})).await;
            assert_eq!(answer.status, 200, "{}", answer.show());
            let answer = answer.json();
            assert_eq!(answer["contact_id"], contact.as_str(), "{phone}");
            assert_eq!(answer["action"], "updated", "{phone}");
        }
        for taken in [json!({"phone": plan}), json!({"identifier": digits(plan)})] {
            let answer = intake.operator("POST", "C/contacts", taken.clone()).await;
            answer.expect_error(409, "CONTACT_EXISTS");
            assert_eq!(answer.json()["contact_id"], contact.as_str(), "{taken}");
        }
    }
}

#[both_stores]
async fn an_identifier_that_is_taken_in_another_form_is_409_in_an_import(world: World) {
    let one = world.create_id(json!({"phone": mobile(1)})).await;
    let body = json!({"identifier": eight_digits(&mobile(1))});
    let answer = world.operator("POST", "C/contacts", body.clone()).await;
    answer.expect_error(409, "CONTACT_EXISTS");
    assert_eq!(answer.json()["contact_id"], one.as_str());
    // On another channel it is somebody else's.
    world.import(with(body, json!({"source_platform": "telegram"}))).await;
}

// D24

#[both_stores]
async fn a_search_for_digits_finds_every_form_of_a_number(world: World) {
    world.create_id(json!({"phone": "+12025550123"})).await;
    for Number { plan, channel, others } in NUMBERS {
        let contact = world.create_id(json!({"phone": plan})).await;
        let partly = &channel[2..8];
        for search in [&[plan, channel, partly], &others[..2]].concat() {
            let search = search.replace('+', "%2B").replace(' ', "%20");
            let found = world.list_ids(&format!("search={search}")).await;
            assert_eq!(found, [contact.clone()], "{search}");
        }
    }
}

// 4.4.5, D23

#[both_stores]
async fn the_current_identifier_is_accepted_reformatted_where_the_channel_writes_it_otherwise(
    world: World,
) {
    let qr = world.qr().await;
    let short = eight_digits(&mobile(1));
    let brazilian = [mobile(1), digits(&mobile(1)), short.clone(), format!("+{short}")];
    let mut people = vec![(short, brazilian.to_vec())];
    for Number { plan, channel, others } in NUMBERS {
        let forms = [&[plan, channel], others].concat();
        people.push((channel.to_owned(), forms.into_iter().map(str::to_owned).collect()));
    }
    for (from, forms) in people {
        let contact = contact_of(&world, &world.receive(&qr, &from, "oi").await).await;
        let before = world.detail(&contact).await;
        for form in forms {
            for field in ["identifier", "phone"] {
                let body = json!({field: form, "observation": form});
                world.patch_contact(&contact, body).await.expect(200);
            }
        }
        for other in ["+5511999990000", "5511999990000", "+5215512341235", "+541123451235", "x"] {
            for field in ["identifier", "phone"] {
                let answer = world.patch_contact(&contact, json!({field: other})).await;
                assert_eq!(answer.expect_invalid(), [field], "{other}");
            }
        }
        let after = world.detail(&contact).await;
        assert_eq!(
            (&after["phone"], &after["identifier"]),
            (&before["phone"], &before["identifier"])
        );
    }
}

// Doubles.

/// R161.
#[both_stores]
async fn contacts_that_are_one_person_are_listed_and_merged_and_the_opt_out_stays(world: World) {
    let qr = world.qr().await;
    let (one, other) = two(&world, MEXICAN.plan).await;
    world.create_id(json!({"phone": ARGENTINE.plan})).await;
    let groups = duplicates(&world).await;
    assert_eq!(groups.len(), 1, "{groups:?}");
    assert_eq!(groups[0]["phone"], MEXICAN.plan);
    assert_eq!(groups[0]["source_platform"], "whatsapp");
    assert_eq!(groups[0]["contacts_count"], 2);
    let listed = groups[0]["contacts"].as_array().cloned().unwrap_or_default();
    let ids: Vec<String> = listed.iter().map(|contact| text(&contact["id"])).collect();
    assert_eq!(ids, [one.clone(), other.clone()], "the oldest first");
    assert_eq!(listed[1]["identifier"], "crm-1");

    world.send_text(MEXICAN.plan, "oi").await.expect_error(409, "AMBIGUOUS_CONTACT");
    world.act(&other, "opt-out", json!({"source": "backfill", "opted_out_at": world.time()})).await;
    assert_ne!(duplicates(&world).await[0]["contacts"][1]["opted_out_at"], Value::Null);
    let merge = json!({"other_contact_id": other});
    world.act(&one, "merge", merge).await.expect(200);
    assert!(duplicates(&world).await.is_empty());
    world.send_text(MEXICAN.plan, "oi").await.expect_error(403, "CONTACT_OPTED_OUT");
    let message = world.receive(&qr, MEXICAN.channel, "oi").await;
    assert_eq!(contact_of(&world, &message).await, one);
}

#[both_stores]
async fn the_list_of_doubles_is_the_operators_and_of_one_company(world: World) {
    two(&world, MEXICAN.plan).await;
    let path = format!("/operator/v1/companies/{}/contacts/duplicates", world.us.id);
    assert_eq!(world.get(&path).await.status, 401);
    let them = world.tenant("Rival").await;
    world.create_as(&them, json!({"phone": MEXICAN.plan})).await;
    let answer = world.operator_for(&them, "GET", "C/contacts/duplicates", Value::Null).await;
    answer.expect(200);
    assert!(answer.items().is_empty());
    let pagination = &answer.json()["pagination"];
    assert_eq!(*pagination, json!({"examined": 1, "next_cursor": null}));
    for cursor in ["x", ""] {
        let path = format!("C/contacts/duplicates?cursor={cursor}");
        let answer = world.operator("GET", &path, Value::Null).await;
        answer.expect_error(400, "INVALID_PARAMETER");
    }
    // Other parts of that place are contacts.
    let answer = world.operator("GET", "C/contacts/duplicate", Value::Null).await;
    answer.expect_error(404, "NOT_FOUND");
}

/// R161.
#[both_stores]
async fn a_campaign_passes_over_whose_other_contact_asked_to_stop(world: Campaigning) {
    let (one, other) = two(&world, MEXICAN.plan).await;
    let list = world.list_of(&[one.clone()]).await;
    let stop = json!({"source": "backfill", "opted_out_at": world.time()});
    world.act(&other, "opt-out", stop).await.expect(200);
    let campaign = world.campaign(&list, json!({})).await;
    world.start(&campaign).await;
    assert_eq!(world.run(&campaign).await["status"], "finished");
    let recipient = world.recipient(&campaign, &one).await;
    assert_eq!(recipient["status"], "skipped", "{recipient}");
    assert!(world.messages_of(&one).await.is_empty());
}

#[both_stores]
async fn a_dispatch_is_403_for_whose_other_contact_asked_to_stop(intake: Intake) {
    intake.cloud().await;
    let (_, other) = two(&intake, &mobile(1)).await;
    let template = intake.template("aviso", "UTILITY", "Olá").await;
    let stop = json!({"source": "backfill", "opted_out_at": intake.time()});
    intake.act(&other, "opt-out", stop).await.expect(200);
    let call = json!({"phone_number": mobile(1)});
    let answer = intake.dispatch(&text(&template["token"]), &call).await;
    assert_eq!((answer.status, &answer.json()["code"]), (403, &json!("CONTACT_OPTED_OUT")));
    assert!(intake.all_messages().await.is_empty());
    intake.act(&other, "opt-in", Value::Null).await.expect(200);
    let answer = intake.dispatch(&text(&template["token"]), &call).await;
    assert_eq!(answer.status, 200, "{}", answer.show());
}
