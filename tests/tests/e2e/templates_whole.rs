//! Templates with headers, footers and buttons: X15; docs/operator-api.md.

use recado_core::transport::OutboundResponse;
use recado_tests::hooks_in::dispatching;
use recado_tests::{
    Campaigning, Clouded, Intake, Request, World, both_stores, mobile, path_of, text, with,
};
use serde_json::{Value, json};

/// A template that has one of everything.
fn whole() -> Value {
    json!({
        "name": "pedido", "category": "UTILITY", "body": "Olá {{nome}}", "status": "APPROVED",
        "components": {
            "header": {"type": "text", "text": "Pedido {{pedido}}"},
            "footer": "Loja",
            "buttons": [
                {"type": "quick_reply", "text": "Certo"},
                {"type": "url", "text": "Ver", "url": "https://loja.example/{{1}}"},
            ],
        },
    })
}

/// What it needs.
fn given() -> Value {
    json!({
        "variables": {"nome": "Ana"},
        "header": {"text": "77"},
        "buttons": [{"index": 1, "url_suffix": "p/77"}],
    })
}

/// Asserts that a message shows the template with what was given.
#[track_caller]
fn assert_shown(message: &Value) {
    assert_eq!((&message["type"], &message["content"]), (&json!("template"), &json!("Olá Ana")));
    let block = &message["interactive"];
    assert_eq!(block["header"]["text"], "Pedido 77", "{message}");
    assert_eq!((&block["body"], &block["footer"]), (&json!("Olá Ana"), &json!("Loja")));
    assert_eq!(block["buttons"][1]["title"], "Ver");
}

#[both_stores]
async fn a_template_is_kept_with_its_components_and_names_what_it_needs(world: World) {
    let made = world.make("C/templates", whole()).await;
    let one = format!("C/templates/{}", text(&made["id"]));
    let read = world.operator_get(&one).await;
    assert_eq!(read["components"]["header"], whole()["components"]["header"]);
    assert_eq!(read["components"]["footer"], "Loja");
    assert_eq!(read["components"]["buttons"][1], whole()["components"]["buttons"][1]);
    let needs = json!({"variables": ["nome"], "header": "text", "other": [],
        "buttons": [{"index": 1, "type": "url"}]});
    assert_eq!(read["needs"], needs);
    assert_eq!(read.get("is_complex"), None);
    let changed = json!({"body": "Oi {{1}}", "components": {"header": {"type": "image"}}});
    let changed = world.operator("PATCH", &one, changed).await.expect(200);
    let needs = json!({"variables": ["1"], "header": "image", "other": [], "buttons": []});
    assert_eq!(changed["needs"], needs);
    for (body, field) in [
        (json!({"body": "{{1}} {{nome}}"}), "body"),
        (json!({"components": {"header": {"type": "text", "text": "{{nome}}"}}}), "components"),
        (json!({"components": {"buttons": [{"type": "url", "text": "Ver"}]}}), "components"),
        (json!({"components": {"footer": "{{1}}"}}), "components"),
        (
            json!({"components": {"buttons": vec![json!({"type": "otp", "text": "x"}); 1_000]}}),
            "components",
        ),
        (
            json!({"components": {"buttons": [{"type": "url", "text": "x", "url": "https://x.{{1}}"}]}}),
            "components",
        ),
    ] {
        let refused = world.operator("PATCH", &one, body.clone()).await;
        assert_eq!(refused.expect_invalid(), [field], "{body}");
    }
    assert_eq!(world.operator_get(&one).await, changed);
}

#[both_stores]
async fn a_send_gives_everything_and_what_lacks_is_named(world: World) {
    world.silent("official_cloud").await;
    world.make("C/templates", whole()).await;
    let to = json!({"to": mobile(1), "template": "pedido"});
    for (more, fields) in [
        (json!({}), vec!["buttons", "header", "variables"]),
        (with(given(), json!({"header": null})), vec!["header"]),
        (with(given(), json!({"buttons": []})), vec!["buttons"]),
        (with(given(), json!({"buttons": [{"index": 1, "code": "x"}]})), vec!["buttons"]),
        (
            with(given(), json!({"header": {"location": {"latitude": 1, "longitude": 1}}})),
            vec!["header"],
        ),
        (
            with(given(), json!({"header": {"text": "1", "url": "https://x.example"}})),
            vec!["header"],
        ),
        (with(given(), json!({"variables": {"nome": "[NOME]"}})), vec!["variables"]),
    ] {
        let answer = world.post("/api/v1/send/template", with(to.clone(), more.clone())).await;
        assert_eq!(answer.expect_invalid(), fields, "{more}");
    }
    assert!(world.all_messages().await.is_empty(), "nothing was stored");
    let sent = world.post("/api/v1/send/template", with(to.clone(), given())).await.expect(200);
    assert_shown(&world.message(&text(&sent["message_id"])).await);
    // By position, in the order in which the names appear.
    let by_position = with(given(), json!({"variables": {"1": "Ana"}}));
    let sent = world.post("/api/v1/send/template", with(to, by_position)).await.expect(200);
    assert_shown(&world.message(&text(&sent["message_id"])).await);
    let contact = text(&sent["contact_id"]);
    let reply = with(given(), json!({"template": "pedido"}));
    let replied = world.act(&contact, "reply-template", reply).await.expect(200);
    assert_shown(&replied["messages"][0]);
    let lacking = json!({"template": "pedido", "variables": {"nome": "Ana"}});
    let refused = world.act(&contact, "reply-template", lacking).await;
    assert_eq!(refused.expect_invalid(), ["buttons", "header"]);
}

#[both_stores]
async fn a_dispatch_gives_everything_in_its_body(world: Intake) {
    world.silent("official_cloud").await;
    let token = text(&world.make("C/templates", whole()).await["token"]);
    let lacking = json!({"phone_number": mobile(1), "variables": {"nome": "Ana"}});
    let refused = world.dispatch(&token, &lacking).await;
    refused.expect_hook_error(400, "INVALID_PAYLOAD");
    let message = text(&refused.json()["message"]);
    assert!(message.contains("header is needed: text"), "{message}");
    assert!(message.contains("button 1 (url)"), "{message}");
    assert!(world.all_messages().await.is_empty());
    let body = with(given(), json!({"phone_number": mobile(1)}));
    let done = world.dispatch(&token, &body).await.expect_ok();
    assert_shown(&world.message(&text(&done["message_id"])).await);
    world.dispatch(&token, &body).await.expect_duplicate();
    // R309: another header is another content.
    let other = with(body, json!({"header": {"text": "78"}}));
    world.dispatch(&token, &other).await.expect_ok();
    // By query the variables have numbers; there are no buttons.
    let plain = with(whole(), json!({"name": "simples", "components": null}));
    let token = text(&world.make("C/templates", plain).await["token"]);
    let query = format!("phone={}&v1=Ana", mobile(2).replace('+', "%2B"));
    let done = world.dispatch_query(&token, &query).await.expect_ok();
    assert_eq!(world.message(&text(&done["message_id"])).await["content"], "Olá Ana");
}

#[both_stores]
async fn a_campaign_gives_its_header_and_buttons_to_everybody(world: Campaigning) {
    let template = text(&world.make("C/templates", whole()).await["id"]);
    let contacts = world.contacts(3).await;
    let list = world.list_of(&contacts).await;
    let lacking = world.draft(&list, json!({"template_id": template, "variables": null}));
    let refused = world.operator("POST", "C/campaigns", lacking).await;
    assert_eq!(refused.expect_invalid(), ["buttons", "header", "variables"]);
    let more = with(given(), json!({"template_id": template}));
    let id = world.campaign(&list, more).await;
    let record = world.record(&id).await;
    assert_eq!((&record["header"], &record["buttons"]), (&given()["header"], &given()["buttons"]));
    assert_eq!(record["variables"], given()["variables"]);
    assert_eq!(world.start_and_run(&id).await["counts"]["sent"], 3);
    for message in world.all_messages().await {
        assert_shown(&message);
    }
}

/// X16, R354: fields of the contact are filled in in the header and the buttons, too.
#[both_stores]
async fn a_campaign_fills_in_header_and_buttons_for_each_person(world: Campaigning) {
    let template = text(&world.make("C/templates", whole()).await["id"]);
    world.field("pedido").await;
    let contact = async |n: u32, name: &str, fields: Value| {
        world.import(json!({"phone": mobile(n), "name": name, "custom_fields": fields})).await
    };
    let field = text(&world.operator_get("C/custom-fields").await[0]["id"]);
    let ana = contact(1, "Ana Lima", json!({(&field): "77"})).await;
    let rui = contact(2, "Rui", json!({(&field): "7/8"})).await;
    let eva = contact(3, "Eva", json!({})).await;
    let list = world.list_of(&[ana.clone(), rui.clone(), eva.clone()]).await;
    let personal = json!({
        "template_id": template,
        "variables": {"nome": "{contact.first_name}"},
        "header": {"text": "{contact.custom.pedido}"},
        "buttons": [{"index": 1, "url_suffix": "p/{contact.custom.pedido}"}],
    });
    for (change, field) in [
        (json!({"header": {"text": "{contact.nome}"}}), "header"),
        (json!({"buttons": [{"index": 1, "url_suffix": "{contact.custom.x}"}]}), "buttons"),
        (json!({"header": {"url": "https://{contact.name}/a"}}), "header"),
        (json!({"header": {"text": "{contact.name"}}), "header"),
        (json!({"buttons": [{"index": 1, "url_suffix": "{contact.name|[NOME]}"}]}), "buttons"),
    ] {
        let draft = world.draft(&list, with(personal.clone(), change.clone()));
        let refused = world.operator("POST", "C/campaigns", draft).await;
        assert_eq!(refused.expect_invalid(), [field], "{change}");
    }
    let id = world.campaign(&list, personal.clone()).await;
    let preview = async |contact: &str| {
        world.operator_get(&format!("C/campaigns/{id}/preview?contact_id={contact}")).await
    };
    let expected = json!({
        "text": "Olá Ana", "variables": {"nome": "Ana"}, "header": {"text": "77"},
        "buttons": [{"index": 1, "url_suffix": "p/77"}], "skipped": null,
    });
    assert_eq!(preview(&ana).await, expected);
    let shown = preview(&rui).await;
    assert_eq!(shown["buttons"], json!([{"index": 1, "url_suffix": "p/7%2F8"}]));
    let shown = preview(&eva).await;
    assert_eq!((&shown["text"], &shown["skipped"]), (&Value::Null, &json!("EMPTY_VARIABLE")));
    assert_eq!(world.start_and_run(&id).await["counts"]["sent"], 2);
    let message = text(&world.recipient(&id, &ana).await["message_id"]);
    assert_shown(&world.message(&message).await);
    let message = text(&world.recipient(&id, &rui).await["message_id"]);
    let block = &world.message(&message).await["interactive"];
    assert_eq!(block["header"]["text"], "Pedido 7/8");
    assert_eq!(world.recipient(&id, &eva).await["error_code"], "EMPTY_VARIABLE");
    assert_eq!(world.record(&id).await["header"], personal["header"], "as they were given");
    // D49: everywhere else they are tags that nobody filled in.
    for (change, field) in [
        (json!({"header": personal["header"]}), "header"),
        (json!({"buttons": personal["buttons"]}), "buttons"),
    ] {
        let body = with(given(), json!({"to": mobile(1), "template": "pedido"}));
        let answer = world.post("/api/v1/send/template", with(body, change.clone())).await;
        assert_eq!(answer.expect_invalid(), [field], "{change}");
    }
}

#[both_stores]
async fn the_official_api_gets_each_component(world: Clouded) {
    let listed = json!({
        "id": "9200703526", "name": "pedido", "language": "pt_BR", "status": "APPROVED",
        "category": "UTILITY", "parameter_format": "NAMED", "components": [
            {"type": "HEADER", "format": "TEXT", "text": "Pedido {{pedido}}"},
            {"type": "BODY", "text": "Olá {{nome}}"},
            {"type": "FOOTER", "text": "Loja"},
            {"type": "BUTTONS", "buttons": [
                {"type": "QUICK_REPLY", "text": "Certo"},
                {"type": "URL", "text": "Ver", "url": "https://loja.example/{{1}}"}]}],
    });
    let place = json!({
        "id": "9200703527", "name": "chegamos", "language": "pt_BR", "status": "APPROVED",
        "category": "UTILITY", "parameter_format": "POSITIONAL", "components": [
            {"type": "HEADER", "format": "LOCATION"}, {"type": "BODY", "text": "Chegamos"}],
    });
    world.fake.set_templates(vec![listed, place], 100);
    let path = format!("C/connections/{}/sync-templates", world.connection);
    let read = world.operator("POST", &path, json!({})).await.expect(200);
    let read = read.as_array().expect("a list").iter().find(|one| one["name"] == "pedido");
    let read = read.expect("it was read").clone();
    assert_eq!(read["components"]["header"], whole()["components"]["header"]);
    assert_eq!(read["needs"]["variables"], json!(["nome"]));
    let payload = json!({"index": 0, "payload": "certo-77"});
    let buttons = json!([payload, {"index": 1, "url_suffix": "p/77"}]);
    let body = with(given(), json!({"to": mobile(1), "template": "pedido", "buttons": buttons}));
    let sent = world.post("/api/v1/send/template", body).await.expect(200);
    let message = world.message(&text(&sent["message_id"])).await;
    assert_shown(&message);
    assert_eq!(message["interactive"]["buttons"][0]["id"], "certo-77");
    let accepted = world.fake.accepted().pop().expect("a send");
    assert_eq!(
        accepted.body["template"]["components"],
        json!([
            {"type": "header", "parameters": [
                {"type": "text", "text": "77", "parameter_name": "pedido"}]},
            {"type": "body", "parameters": [
                {"type": "text", "text": "Ana", "parameter_name": "nome"}]},
            {"type": "button", "sub_type": "quick_reply", "index": "0", "parameters": [
                {"type": "payload", "payload": "certo-77"}]},
            {"type": "button", "sub_type": "url", "index": "1", "parameters": [
                {"type": "text", "text": "p/77"}]},
        ])
    );
    let header = json!({"location": {"latitude": -23.55, "longitude": -46.63, "name": "Loja"}});
    let body = json!({"to": mobile(1), "template": "chegamos", "header": header});
    let sent = world.post("/api/v1/send/template", body).await.expect(200);
    let message = world.message(&text(&sent["message_id"])).await;
    assert_eq!(message["location"]["name"], "Loja");
    let accepted = world.fake.accepted().pop().expect("a send");
    assert_eq!(
        accepted.body["template"]["components"][0]["parameters"][0]["location"],
        json!({"latitude": "-23.55", "longitude": "-46.63", "name": "Loja"})
    );
    // D69: a dispatch names what lacks.
    let features = json!({"features": {"template_dispatch": true}});
    world.operator("PATCH", &format!("/companies/{}", world.us.id), features).await.expect(200);
    let rotate = format!("C/templates/{}/rotate-token", text(&read["id"]));
    let token = text(&world.operator("POST", &rotate, json!({})).await.expect(200)["token"]);
    let call = Request::new("POST", dispatching(&token)).json(&json!({"phone_number": mobile(2)}));
    let refused = world.send(call).await;
    refused.expect_hook_error(400, "INVALID_PAYLOAD");
    let message = text(&refused.json()["message"]);
    assert!(message.contains("the names nome"), "{message}");
    world.well_behaved();
}

/// A template whose header is a document.
fn invoice() -> Value {
    json!({
        "name": "nota", "category": "UTILITY", "body": "Olá {{1}}", "status": "APPROVED",
        "components": {"header": {"type": "document"}},
    })
}

const PDF: &[u8] = b"%PDF-1.7 a document";

/// The bytes behind the link of a message.
async fn file_of(world: &World, message: &str) -> Vec<u8> {
    let shown = world.message(message).await;
    assert_eq!(shown["media_filename"], "nota.pdf", "{shown}");
    let answer = world.send(Request::new("GET", path_of(&shown["media_url"]))).await;
    assert_eq!(answer.status, 200, "{}", answer.show());
    answer.body.to_vec()
}

#[both_stores]
async fn a_file_in_the_header_is_an_upload_or_fetched_and_read_back(world: Intake) {
    world.silent("official_cloud").await;
    let token = text(&world.make("C/templates", invoice()).await["token"]);
    let kept = Request::new("POST", "/api/v1/media?filename=nota.pdf");
    let kept = world.send(kept.bearer(&world.us.key).body(PDF)).await;
    let id = text(&kept.expect(201)["id"]);
    let to = json!({"to": mobile(1), "template": "nota", "variables": {"1": "Ana"}});
    let by_upload = with(to.clone(), json!({"header": {"media_id": id}}));
    let sent = world.post("/api/v1/send/template", by_upload).await.expect(200);
    assert_eq!(file_of(&world, &text(&sent["message_id"])).await, PDF);
    let url = "https://files.example/nota.pdf";
    world.server.transport.then(Ok(OutboundResponse::new(200, PDF)));
    let by_url = with(to.clone(), json!({"header": {"url": url}}));
    let sent = world.post("/api/v1/send/template", by_url).await.expect(200);
    assert_eq!(file_of(&world, &text(&sent["message_id"])).await, PDF);
    // A dispatch by query.
    world.server.transport.then(Ok(OutboundResponse::new(200, PDF)));
    let query = format!("phone={}&v1=Bia&header_url={url}", mobile(2).replace('+', "%2B"));
    let done = world.dispatch_query(&token, &query).await.expect_ok();
    assert_eq!(file_of(&world, &text(&done["message_id"])).await, PDF);
    // What is no such file is refused before anything is stored.
    let stored = world.all_messages().await.len();
    let unknown = with(to, json!({"header": {"media_id": recado_tests::unknown_id()}}));
    let refused = world.post("/api/v1/send/template", unknown).await;
    refused.expect_error(404, "MEDIA_NOT_FOUND");
    world.server.transport.then(Ok(OutboundResponse::new(200, &b"plain text"[..])));
    let image =
        with(invoice(), json!({"name": "foto", "components": {"header": {"type": "image"}}}));
    let token = text(&world.make("C/templates", image).await["token"]);
    let body =
        json!({"phone_number": mobile(3), "variables": {"1": "Ana"}, "header": {"url": url}});
    world.dispatch(&token, &body).await.expect_hook_error(400, "INVALID_PAYLOAD");
    assert_eq!(world.all_messages().await.len(), stored);
}

/// X11, X15, R377.
#[both_stores]
async fn one_upload_serves_a_whole_campaign_and_an_unknown_one_is_refused(world: Campaigning) {
    let template = text(&world.make("C/templates", invoice()).await["id"]);
    let list = world.list_of(&world.contacts(3).await).await;
    let theirs = world.tenant("Other").await;
    let keep = async |key: &str| {
        let kept = Request::new("POST", "/api/v1/media?filename=nota.pdf");
        text(&world.send(kept.bearer(key).body(PDF)).await.expect(201)["id"])
    };
    let values = json!({"template_id": template, "variables": {"1": "Ana"}});
    let with_upload = |id: &str| with(values.clone(), json!({"header": {"media_id": id}}));
    for nobodys in [recado_tests::unknown_id(), keep(&theirs.key).await] {
        let draft = world.draft(&list, with_upload(&nobodys));
        let refused = world.operator("POST", "C/campaigns", draft).await;
        assert_eq!(refused.expect_invalid(), ["header"]);
    }
    let upload = keep(&world.us.key).await;
    let id = world.campaign(&list, with_upload(&upload)).await;
    let unknown = json!({"header": {"media_id": recado_tests::unknown_id()}});
    assert_eq!(world.change(&id, unknown).await.expect_invalid(), ["header"]);
    assert_eq!(world.start_and_run(&id).await["counts"]["sent"], 3);
    let messages = world.all_messages().await;
    assert_eq!(messages.len(), 3);
    for message in messages {
        assert_eq!(file_of(&world, &text(&message["id"])).await, PDF);
    }
    // What it names already may be gone.
    world.delete(&format!("/api/v1/media/{upload}")).await;
    world.change(&id, json!({"name": "Outra"})).await.expect(200);
}

#[both_stores]
async fn the_official_api_gets_the_file_of_a_header_by_its_id(world: Clouded) {
    let listed = json!({
        "id": "9200703528", "name": "nota", "language": "pt_BR", "status": "APPROVED",
        "category": "UTILITY", "parameter_format": "POSITIONAL", "components": [
            {"type": "HEADER", "format": "DOCUMENT"}, {"type": "BODY", "text": "Olá {{1}}"}],
    });
    world.fake.set_templates(vec![listed], 100);
    let path = format!("C/connections/{}/sync-templates", world.connection);
    world.operator("POST", &path, json!({})).await.expect(200);
    let kept = Request::new("POST", "/api/v1/media?filename=nota.pdf");
    let kept = world.send(kept.bearer(&world.us.key).body(PDF)).await;
    let id = text(&kept.expect(201)["id"]);
    let body = json!({"to": mobile(1), "template": "nota", "variables": {"1": "Ana"},
        "header": {"media_id": id}});
    let sent = world.post("/api/v1/send/template", body).await.expect(200);
    assert_eq!(file_of(&world, &text(&sent["message_id"])).await, PDF);
    let accepted = world.fake.accepted().pop().expect("a send");
    let header = &accepted.body["template"]["components"][0]["parameters"][0];
    assert_eq!(
        (&header["type"], &header["document"]["filename"]),
        (&json!("document"), &json!("nota.pdf"))
    );
    assert!(header["document"]["id"].is_string(), "{header}");
    world.well_behaved();
}
