//! Numbers that the channel writes otherwise than the numbering plan, in Mexico and Argentina as in
//! Brazil, and people who have two contacts: 4.3, 4.4, 4.8, 4.9; D14, D15, D17, D23, D24, D62.

use std::time::Duration;

use recado_tests::{
    Campaigning, Intake, World, both_stores, digits, eight_digits, mobile, text, unknown_id, with,
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
        let bare = forms.iter().map(|form| form.trim_start_matches('+').to_owned());
        let all = forms.iter().map(|form| (*form).to_owned()).chain(bare);
        // The prefix 15 of Argentine mobiles is part of no number of the channel.
        let all = all.filter(|form| form.starts_with('+') || !form.contains(" 15 "));
        people.push((channel.to_owned(), all.collect()));
    }
    let lisbon = ["+351912345678", "351912345678", "351 912 345 678", "351-912.345.678"];
    people.push(("351912345678".to_owned(), lisbon.map(str::to_owned).to_vec()));
    for (from, forms) in people {
        let contact = contact_of(&world, &world.receive(&qr, &from, "oi").await).await;
        let before = world.detail(&contact).await;
        for form in forms {
            for field in ["identifier", "phone"] {
                let body = json!({field: form, "observation": form});
                world.patch_contact(&contact, body).await.expect(200);
            }
        }
        for other in [
            "+5511999990000",
            "5511999990000",
            "+5215512341235",
            "52 1 55 1234 1235",
            "351 912 345 679",
            "+541123451235",
            "x",
        ] {
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

// 4.8: whom a send means.

/// D16.
#[both_stores]
async fn the_phone_that_a_contact_shows_can_be_written_to(world: World) {
    world.qr().await;
    for identifier in ["5215512341234", "351912345678", "5491123451234", "12025550123"] {
        world.send_text(identifier, "oi").await.expect_error(400, "INVALID_PHONE");
        let contact = world.import(json!({"identifier": identifier})).await;
        let shown = text(&world.detail(&contact).await["phone"]);
        assert_eq!(shown, identifier);
        assert_eq!(world.sent(&shown, "olá").await["contact_id"], contact.as_str());
        let both = json!({"to": shown, "contact_id": contact, "message": "olá"});
        world.post_send(both).await.expect(200);
        let here = world.detail(&contact).await["connections"][0]["identifier"].clone();
        assert_eq!(here, identifier, "what it is called on the channel");
    }
    // Neither digits of nobody nor those of another company's contact are a phone.
    let them = world.tenant("Rival").await;
    let theirs = json!({"identifier": "351912345679"});
    world.operator_for(&them, "POST", "C/contacts", theirs).await.expect(201);
    let unknown = json!({"to": "351912345679", "message": "oi", "connection_id": unknown_id()});
    world.post_send(unknown).await.expect_error(400, "INVALID_PHONE");
    assert_eq!(world.list_ids("limit=100").await.len(), 4);
}

/// R39.
#[both_stores]
async fn an_identifier_of_another_system_is_not_taken_for_the_number(world: World) {
    world.qr().await;
    let contact = world.import(json!({"phone": mobile(1), "identifier": "10023"})).await;
    assert_eq!(world.sent(&mobile(1), "oi").await["contact_id"], contact.as_str());
    let detail = world.detail(&contact).await;
    assert_eq!(detail["identifier"], "10023");
    assert_eq!(detail["connections"][0]["identifier"], digits(&mobile(1)).as_str());
}

/// D15.
#[both_stores]
async fn two_who_bring_a_number_in_two_forms_at_once_make_one_contact(world: World) {
    let qr = world.qr().await;
    for n in 0..12 {
        let forms = [("+5255123412", "52155123412"), ("+5411234512", "54911234512")];
        for (plan, channel) in
            forms.map(|(plan, it)| (format!("{plan}{n:02}"), format!("{it}{n:02}")))
        {
            let event = world.inbound(&channel, "oi");
            let (made, heard) = tokio::join!(
                world.post_contact(json!({"phone": plan})),
                world.gateway_one(&qr, event)
            );
            assert_eq!(heard["result"], "stored", "{heard}");
            let contact = match made.status {
                201 => text(&made.json()["data"]["contact"]["id"]),
                _ => {
                    made.expect_error(409, "CONTACT_EXISTS");
                    text(&made.json()["contact_id"])
                }
            };
            assert_eq!(contact_of(&world, &text(&heard["message_id"])).await, contact, "{plan}");
        }
    }
    assert_eq!(world.list_ids("limit=100").await.len(), 24);
    assert!(duplicates(&world).await.is_empty());
}

// Doubles.

/// D44, R161.
#[both_stores]
async fn who_accepts_messages_again_is_written_to_whichever_contact_had_the_block(world: World) {
    let cloud = world.cloud().await;
    let (one, other) = two(&world, MEXICAN.plan).await;
    let stop = json!({"source": "backfill", "opted_out_at": world.time()});
    world.act(&other, "opt-out", stop).await.expect(200);
    let to_one = json!({"contact_id": one, "message": "oi"});
    let details = world.post_send(to_one.clone()).await.expect_error(403, "CONTACT_OPTED_OUT");
    assert_eq!(details["contact_id"], other.as_str(), "who holds the block");
    assert_eq!(world.full(&one).await["opted_out_at"], Value::Null);
    world.advance(Duration::from_secs(1));
    let resume = json!({
        "kind": "preference", "from": MEXICAN.channel, "preference": "resume",
        "timestamp": world.time(),
    });
    assert_eq!(world.gateway_one(&cloud, resume).await["result"], "stored");
    assert_eq!(world.full(&other).await["opted_out_at"], Value::Null);
    assert_eq!(world.post_send(to_one).await.expect(200)["contact_id"], one.as_str());
}

/// R161.
#[both_stores]
async fn of_many_contacts_of_a_number_some_are_named_and_all_are_counted(world: World) {
    world.qr().await;
    for n in 0..25 {
        world.import(json!({"phone": mobile(1), "identifier": format!("crm-{n}")})).await;
    }
    let details = world.send_text(&mobile(1), "oi").await.expect_error(409, "AMBIGUOUS_CONTACT");
    assert_eq!(details["contact_ids"].as_array().map(Vec::len), Some(20));
    let groups = duplicates(&world).await;
    assert_eq!((groups.len(), &groups[0]["contacts_count"]), (1, &json!(25)));
    assert_eq!(groups[0]["contacts"].as_array().map(Vec::len), Some(20));
}

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
