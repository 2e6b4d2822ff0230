//! Sending back what was read: 4.2, 4.4.4; D20, D23, D44a.

use std::time::Duration;

use recado_tests::{World, both_stores, digits, keys, mobile, text, unknown_id};
use serde_json::{Value, json};

/// A contact with something in every field that a form can show.
async fn rich(world: &World) -> String {
    let member = world.member("Bia").await;
    let field = world.field("plano").await;
    let inactive = world.field("velho").await;
    let tag = text(&world.make("C/tags", json!({"name": "vip", "color": "#ff0000"})).await["id"]);
    let id = world
        .import(json!({
            "phone": mobile(1), "name": " Ana  Lúcia ", "email": "ana@example.com",
            "birthday": "1990-02-28", "observation": "uma\r\nduas", "cpf": "529.982.247-25",
            "rg": "1", "genero": "f", "estado_civil": "s", "profissao": "p", "cargo": "c",
            "street": "Rua A", "street_number": "1", "address_complement": "x",
            "neighborhood": "b", "city": "c", "state": "SP", "postal_code": "01310-100",
            "country": "BR", "avatar_url": "https://example.com/a.png", "priority": "high",
            "crm_status": "customer", "is_archived": true, "is_pinned": true, "is_muted": true,
            "wa_profile_name": "aninha", "wa_push_name": "Ana L.", "is_simulated": true,
            "custom_fields": {&field: "ouro", &inactive: "prata"}, "tag_ids": [tag],
            "assigned_to_member_id": member,
        }))
        .await;
    let status = json!({"status": "inactive"});
    world.operator("PATCH", &format!("C/custom-fields/{inactive}"), status).await.expect(200);
    world.patch_contact(&id, json!({"cnpj": "19.131.243/0001-97"})).await.expect(200);
    let memory = json!({"summary": "quer comprar"});
    let path = format!("C/contacts/{id}/lead-memory");
    world.operator("POST", &path, memory).await;
    world.make("C/links", json!({"contact_id": id, "url": "https://example.com"})).await;
    let stage = json!({"name": "a", "color": "#123456"});
    let pipeline = world.make("C/pipelines", json!({"name": "p", "stages": [stage]})).await;
    let deal = json!({"contact_id": id, "title": "d", "stage_id": pipeline["stages"][0]["id"]});
    world.make("C/deals", deal).await;
    let qr = world.qr().await;
    world.receive(&qr, &digits(&mobile(1)), "oi").await;
    world.close(&id).await;
    id
}

/// What GET shows of a contact, each form with whatever it can include.
async fn forms(world: &World, id: &str) -> Vec<(String, Value)> {
    let some = world.key_with(&["contacts:read"]).await;
    let mut forms = Vec::new();
    for query in ["", "?include=profile"] {
        let path = format!("/api/v1/contacts/{id}{query}");
        forms.push((format!("detail {query}"), world.get(&path).await.expect(200)));
        let without = world.get_as(&some, &path).await.expect(200);
        forms.push((format!("detail {query} without the scope of memories"), without));
    }
    for query in ["", "&include=link_clicks", "&order_by=created_at&include=link_clicks"] {
        let answer = world.get(&format!("/api/v1/contacts?limit=100{query}")).await;
        let item = answer.items().into_iter().find(|item| item["id"] == id);
        forms.push((format!("item {query}"), item.expect("it is listed")));
    }
    forms
}

#[both_stores]
async fn every_body_of_get_can_be_sent_back_whole_and_changes_nothing(world: World) {
    let person = rich(&world).await;
    let plain = world.create_id(json!({"phone": mobile(2)})).await;
    let qr = world.qr().await;
    let groups = json!([{"code": "1@g.us", "subject": " Obra\r\nnova "}]);
    world.put_groups(&qr, groups).await.expect(200);
    let group = text(&world.group_contact("1@g.us").await["id"]);
    let hidden = world.import(json!({"identifier": "123@lid"})).await;
    world.create(json!({"phone": mobile(3), "email": "casa@example.com"})).await;
    let shares = json!({"phone": mobile(4), "email": "casa@example.com", "name": "Bia"});
    let shares = world.create_id(shares).await;
    for id in [person, plain, group, hidden, shares] {
        let before = (world.full(&id).await, forms(&world, &id).await);
        world.advance(Duration::from_secs(60));
        for (form, body) in &before.1 {
            let answer = world.patch_contact(&id, body.clone()).await;
            assert_eq!(answer.status, 200, "{form}: {}", answer.show());
            assert!(answer.json().get("warnings").is_none(), "{form}: {}", answer.show());
            assert_eq!(world.full(&id).await, before.0, "{form} changed nothing");
        }
        assert_eq!(forms(&world, &id).await, before.1);
    }
}

#[both_stores]
async fn every_key_of_every_form_is_ignored_unless_it_is_writable_and_any_other_is_422(
    world: World,
) {
    let id = rich(&world).await;
    let full = world.full(&id).await;
    let writable = [
        "name",
        "email",
        "birthday",
        "observation",
        "city",
        "state",
        "postal_code",
        "cpf",
        "rg",
        "genero",
        "estado_civil",
        "profissao",
        "custom_fields",
        "phone",
        "identifier",
    ];
    let mut shown: Vec<String> =
        forms(&world, &id).await.iter().flat_map(|(_, form)| keys(form)).collect();
    shown.push("shared_email".to_owned());
    shown.sort();
    shown.dedup();
    for key in shown.iter().filter(|key| !writable.contains(&key.as_str())) {
        for value in [Value::Null, json!(5), json!({"anything": []})] {
            world.patch_contact(&id, json!({key.as_str(): value})).await.expect(200);
        }
    }
    assert_eq!(world.full(&id).await, full);
    for (n, other) in
        (10..).zip(["external_ai_enabled", "ai_paused_until", "opted_out_at", "lists", "nmae"])
    {
        let answer = world.patch_contact(&id, json!({other: null, "name": "x"})).await;
        assert_eq!(answer.expect_invalid(), [other]);
        let answer = world.post_contact(json!({"phone": mobile(n), other: null})).await;
        assert_eq!(answer.expect_invalid(), [other]);
    }
    // A new contact is given no more than a form that was read: what nobody can write is ignored as
    // far as the detail form shows it, and what a caller may believe to be stored is named.
    let mut new = world.detail(&id).await;
    new["phone"] = json!(mobile(9));
    new["email"] = Value::Null;
    let made = world.create(new).await;
    assert_eq!((&made["name"], &made["crm_status"]), (&json!("Ana  Lúcia"), &json!("lead")));
    let answer = world.post_contact(json!({"phone": mobile(8), "street": "Rua A"})).await;
    assert_eq!(answer.expect_invalid(), ["street"]);
}

#[both_stores]
async fn custom_fields_by_slug_are_accepted_only_as_they_are_stored(world: World) {
    let id = rich(&world).await;
    let before = world.listed(&id).await;
    assert_eq!(before["custom_fields"], json!({"plano": "ouro", "velho": "prata"}));
    let whole = json!({"custom_fields": before["custom_fields"], "city": "Recife"});
    world.patch_contact(&id, whole).await.expect(200);
    assert_eq!(world.listed(&id).await["city"], "Recife");
    for wrong in [
        json!({"plano": "prata"}),
        json!({"plano": ""}),
        json!({"plano": null}),
        json!({"plano": 5}),
        json!({"nada": "ouro"}),
        json!({"": "ouro"}),
    ] {
        let body = json!({"custom_fields": wrong, "city": "Olinda"});
        let answer = world.patch_contact(&id, body).await;
        assert_eq!(answer.expect_invalid(), ["custom_fields"], "{wrong}");
        assert_eq!(answer.json()["details"]["custom_fields"], json!(keys(&wrong)), "{wrong}");
    }
    let answer =
        world.post_contact(json!({"phone": mobile(5), "custom_fields": {"plano": "ouro"}})).await;
    assert_eq!(answer.expect_invalid(), ["custom_fields"]);
    let nobody = unknown_id();
    let stored = json!({"custom_fields": {"plano": "ouro"}});
    world.patch_contact(&nobody, stored).await.expect_error(404, "NOT_FOUND");
    assert_eq!(world.listed(&id).await["city"], "Recife");
}

// The shared e-mail: D20.

/// Who has the e-mail, and a contact that shares it.
async fn sharing(world: &World) -> (String, String) {
    let holder = world.create_id(json!({"phone": mobile(1), "email": "casa@example.com"})).await;
    let shares = world.create_id(json!({"phone": mobile(2), "email": "casa@example.com"})).await;
    (holder, shares)
}

async fn emails(world: &World, id: &str) -> (Value, Value) {
    let full = world.full(id).await;
    (full["email"].clone(), full["shared_email"].clone())
}

#[both_stores]
async fn a_null_email_for_a_contact_that_has_none_changes_nothing(world: World) {
    let (_, shares) = sharing(&world).await;
    let shared = (Value::Null, json!("casa@example.com"));
    let before = world.full(&shares).await;
    assert_eq!(emails(&world, &shares).await, shared);
    world.advance(Duration::from_secs(1));
    let detail = world.detail(&shares).await;
    assert_eq!(detail["email"], Value::Null);
    world.patch_contact(&shares, detail).await.expect(200);
    for none in [Value::Null, json!(""), json!("  ")] {
        world.patch_contact(&shares, json!({"email": none})).await.expect(200);
    }
    assert_eq!(world.full(&shares).await, before, "not even updated_at");
    world.patch_contact(&shares, json!({"email": null, "name": "Bia"})).await.expect(200);
    assert_eq!(emails(&world, &shares).await, shared);
}

#[both_stores]
async fn storing_an_email_or_clearing_a_stored_one_empties_the_shared_one(world: World) {
    let (holder, shares) = sharing(&world).await;
    world.patch_contact(&shares, json!({"email": "bia@example.com"})).await.expect(200);
    assert_eq!(emails(&world, &shares).await, (json!("bia@example.com"), Value::Null));
    let taken = world.patch_contact(&shares, json!({"email": "casa@example.com"})).await;
    assert_eq!(taken.json()["warnings"][0]["code"], "EMAIL_BELONGS_TO_ANOTHER_CONTACT");
    let both = (json!("bia@example.com"), json!("casa@example.com"));
    assert_eq!(emails(&world, &shares).await, both);
    // The own address is stored already: the body of GET changes nothing.
    let detail = world.detail(&shares).await;
    world.patch_contact(&shares, detail).await.expect(200);
    assert_eq!(emails(&world, &shares).await, both);
    world.patch_contact(&shares, json!({"email": ""})).await.expect(200);
    assert_eq!(emails(&world, &shares).await, (Value::Null, Value::Null));
    assert_eq!(emails(&world, &holder).await, (json!("casa@example.com"), Value::Null));
    world.patch_contact(&holder, json!({"email": null})).await.expect(200);
    assert_eq!(emails(&world, &holder).await, (Value::Null, Value::Null));
    assert_eq!(emails(&world, &shares).await, (Value::Null, Value::Null), "nobody is promoted");
}

#[both_stores]
async fn the_operator_clears_the_shared_email_by_naming_it(world: World) {
    let (_, shares) = sharing(&world).await;
    let path = format!("C/contacts/{shares}");
    let answer = world.operator("PATCH", &path, json!({"shared_email": "x@example.com"})).await;
    assert_eq!(answer.expect_invalid(), ["shared_email"]);
    world.operator("PATCH", &path, json!({"is_pinned": true})).await.expect(200);
    assert_eq!(emails(&world, &shares).await.1, "casa@example.com");
    world.advance(Duration::from_secs(1));
    for _ in 0..2 {
        let cleared = world.operator("PATCH", &path, json!({"shared_email": null})).await;
        assert_eq!(cleared.expect(200)["shared_email"], Value::Null);
    }
    assert_eq!(emails(&world, &shares).await, (Value::Null, Value::Null));
    world.patch_contact(&shares, json!({"email": "casa@example.com"})).await.expect(200);
    world.operator("PATCH", &path, json!({"shared_email": ""})).await.expect(200);
    assert_eq!(emails(&world, &shares).await, (Value::Null, Value::Null));
}
