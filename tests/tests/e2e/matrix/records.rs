//! A company with a record of every kind. All its texts hold a word that is nobody else's.

use std::collections::BTreeMap;

use recado_tests::{OPERATOR, Request, Tenant, World, digits, mobile, text, wamid, with};
use serde_json::{Value, json};

/// A picture that a browser can show.
pub(super) const PICTURE: &[u8] = include_bytes!("parcel.png");

/// The ids of a company's records by their kind, and its keys.
#[derive(Clone, Debug)]
pub(super) struct Records {
    pub(super) tenant: Tenant,
    /// The word in all its texts.
    pub(super) word: &'static str,
    ids: BTreeMap<&'static str, String>,
}

impl Records {
    /// The id of the company's record of a kind. A route about a new kind needs one here.
    pub(super) fn id(&self, kind: &str) -> String {
        let id = self.ids.get(kind);
        id.unwrap_or_else(|| panic!("the matrix has no record of the kind {kind}")).clone()
    }

    /// All ids, except one.
    pub(super) fn ids_but(&self, one: &str) -> impl Iterator<Item = &String> {
        self.ids.values().filter(move |id| *id != one)
    }

    /// Makes a company with a record of every kind.
    pub(super) async fn of(world: &World, word: &'static str) -> Self {
        let tenant = world.tenant(word).await;
        let mut maker = Maker { world, tenant: &tenant, ids: BTreeMap::new() };
        maker.people(word).await;
        maker.channels(word).await;
        maker.rest(word).await;
        let ids = maker.ids;
        Self { tenant, word, ids }
    }
}

struct Maker<'a> {
    world: &'a World,
    tenant: &'a Tenant,
    ids: BTreeMap<&'static str, String>,
}

impl Maker<'_> {
    async fn post(&self, path: &str, body: Value) -> Value {
        self.world.make_for(self.tenant, path, body).await
    }

    async fn make(&mut self, kind: &'static str, path: &str, body: Value) -> Value {
        let made = self.post(path, body).await;
        self.ids.insert(kind, text(&made["id"]));
        made
    }

    async fn first(&self, path: &str) -> Value {
        let answer = self.world.operator_for(self.tenant, "GET", path, Value::Null).await;
        let all = answer.expect(200);
        all.as_array().and_then(|all| all.first()).expect(path).clone()
    }

    async fn people(&mut self, word: &str) {
        self.ids.insert("Company", self.tenant.id.clone());
        self.ids.insert("File", "reference.js".to_owned());
        let path = format!("/companies/{}", self.tenant.id);
        let features = json!({"features": {"inbound_contacts": true, "template_dispatch": true}});
        self.world.operator("PATCH", &path, features).await.expect(200);
        let hook = json!({"url": format!("https://{word}.example.com/"), "events": ["*"]});
        self.make("Webhook", "C/webhooks", hook).await;
        self.make("Member", "C/members", json!({"display_name": word})).await;
        self.session(word).await;
        let field = json!({"label": word, "slug": word});
        self.make("CustomField", "C/custom-fields", field).await;
        self.make("List", "C/lists", json!({"name": word})).await;
        self.make("Tag", "C/tags", json!({"name": word, "color": "#112233"})).await;
        self.make("CloseReason", "C/close-reasons", json!({"name": word})).await;
        let key = json!({"name": word, "scopes": ["contacts:read"]});
        self.make("Key", "C/keys", key).await;
        let token = json!({"name": word, "role": "viewer", "company_id": self.tenant.id});
        self.make("OperatorToken", "/operator-tokens", token).await;
        let contact = json!({"phone": mobile(1), "name": word, "cnpj": "19131243000197",
            "email": format!("{word}@example.com"), "list_ids": [self.ids["List"]],
            "custom_fields": {&self.ids["CustomField"]: word}});
        for (kind, n, more) in
            [("Contact", 1, json!({})), ("OtherContact", 2, json!({"email": null}))]
        {
            let body = with(with(contact.clone(), json!({"phone": mobile(n)})), more);
            let made = self.world.create_as(self.tenant, body).await;
            self.ids.insert(kind, text(&made["id"]));
        }
        let organization = self.first("C/organizations").await;
        self.ids.insert("Organization", text(&organization["id"]));
        let contact = self.ids["Contact"].clone();
        let memory = json!({"summary": word, "key_facts": [word]});
        let path = format!("C/contacts/{contact}/lead-memory");
        self.world.operator_for(self.tenant, "POST", &path, memory).await;
        let tags = json!({"tag_ids": [self.ids["Tag"]]});
        let path = format!("C/contacts/{contact}");
        self.world.operator_for(self.tenant, "PATCH", &path, tags).await.expect(200);
        let path = format!(
            "/operator/v1/companies/{}/contacts/{contact}/documents?filename={word}.txt",
            self.tenant.id
        );
        let document = Request::new("POST", path).bearer(OPERATOR).body(word.to_owned());
        let document = self.world.send(document).await.expect(201);
        self.ids.insert("Document", text(&document["id"]));
        let picture = [PICTURE, word.as_bytes()].concat();
        let upload = Request::new("POST", format!("/api/v1/media?filename={word}.png"));
        let upload = upload.bearer(&self.tenant.key).body(picture);
        let upload = self.world.send(upload).await.expect(201);
        self.ids.insert("Media", text(&upload["id"]));
        self.ids.insert("Upload", text(&upload["id"]));
    }

    /// A login of the member, and a session.
    async fn session(&mut self, word: &str) {
        let email = format!("{word}@members.example.org");
        let path = format!("C/members/{}/login", self.ids["Member"]);
        let login = json!({"email": email, "role": "viewer"});
        let link = self.post(&path, login).await;
        let url = text(&link["url"]);
        let (_, token) = url.split_once('#').expect("a token");
        let (accounts, password) = (self.world.server.recado().accounts(), "nove sapos azuis");
        accounts.accept_link(token, password).await.expect("the link works");
        let session = accounts.sign_in(&email, password, None, None).await.expect("it works");
        self.ids.insert("Session", session.who.session.to_string());
        self.ids.insert("Actor", self.ids["Member"].clone());
    }

    async fn channels(&mut self, word: &str) {
        let connection = json!({"kind": "qr", "name": word, "identifier": "+551140000000",
            "gateway": "simulated", "settings": {"reports": false}});
        let made = self.make("Connection", "C/connections", connection).await;
        let connection = text(&made["id"]);
        let groups = json!([{"code": format!("{word}@g.us"), "subject": word}]);
        let path = format!("C/connections/{connection}/groups");
        self.world.operator_for(self.tenant, "PUT", &path, groups).await.expect(200);
        let event = with(
            self.world.inbound(&digits(&mobile(1)), word),
            json!({"provider_message_id": wamid(), "type": "image",
                "media": {"url": format!("https://{word}.example.com/a.jpg"),
                    "mimetype": "image/jpeg", "caption": word}}),
        );
        let path = format!("C/connections/{connection}/events");
        let body = json!({"events": [event]});
        self.world.operator_for(self.tenant, "POST", &path, body).await.expect(200);
        let message = self.world.get_as(&self.tenant.key, "/api/v1/messages").await.items();
        self.ids.insert("Message", text(&message[0]["id"]));
        let link = text(&message[0]["media_url"]);
        let signature = link.rsplit('/').next().expect("a signature").to_owned();
        self.ids.insert("Signature", signature);
        let template = json!({"name": word, "category": "UTILITY", "status": "APPROVED",
            "body": format!("{word} {{{{1}}}}")});
        let template = self.make("Template", "C/templates", template).await;
        self.ids.insert("Token", text(&template["token"]));
        let send = json!({"to": mobile(1), "message": word});
        let sent = self.world.post_as(&self.tenant.key, "/api/v1/send/message", send).await;
        self.ids.insert("OtherMessage", text(&sent.expect(200)["message_id"]));
        let picture = [PICTURE, word.as_bytes(), b"2"].concat();
        let upload = Request::new("POST", format!("/api/v1/media?filename={word}.png"));
        let upload = upload.bearer(&self.tenant.key).body(picture);
        let upload = self.world.send(upload).await.expect(201);
        let send = json!({"to": mobile(1), "type": "image", "media_id": upload["id"]});
        let sent = self.world.post_as(&self.tenant.key, "/api/v1/send/media", send).await;
        self.ids.insert("MessageWithFile", text(&sent.expect(200)["message_id"]));
    }

    async fn rest(&mut self, word: &str) {
        let stages = json!({"name": word, "stages": [{"name": word, "color": "#112233"}]});
        let pipeline = self.make("Pipeline", "C/pipelines", stages).await;
        self.ids.insert("Stage", text(&pipeline["stages"][0]["id"]));
        let contact = self.ids["Contact"].clone();
        let deal = json!({"contact_id": contact, "title": word, "stage_id": self.ids["Stage"]});
        self.make("Deal", "C/deals", deal).await;
        let url = format!("https://{word}.example.com/offer");
        let link = self.make("Link", "C/links", json!({"contact_id": contact, "url": url})).await;
        self.ids.insert("Code", text(&link["code"]));
        let endpoint = json!({"slug": word, "variable_mapping": {
            "phone_number": "$.phone", "first_name": "$.name"}});
        self.make("InboundEndpoint", "C/inbound-endpoints", endpoint).await;
        self.ids.insert("Slug", word.to_owned());
        let debit = json!({"scope": "turn", "prosas": 2, "cost_brl": 2, "description": word,
            "contact_id": contact});
        let debit = self.post("C/prosas/debits", debit).await;
        self.ids.insert("LedgerLine", text(&debit["consumption_id"]));
        let campaign = json!({"name": word, "template_id": self.ids["Template"],
            "list_id": self.ids["List"], "variables": {"1": word}});
        self.make("Campaign", "C/campaigns", campaign).await;
        let delivery = self.first("C/deliveries").await;
        self.ids.insert("Delivery", text(&delivery["id"]));
    }
}
