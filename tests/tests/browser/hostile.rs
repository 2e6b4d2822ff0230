//! What strangers and colleagues write is text on every page, and runs nowhere: R419.

use recado_core::access::OperatorRole;
use recado_tests::{OPERATOR, Request, digits, mobile, on_sqlite, text, wamid, with};
use serde_json::{Value, json};

use crate::every_page::pages;
use crate::harness::Browser;
use crate::office::{Office, sign_in, site};

/// Texts that run where they are taken for markup, for an attribute or for an address.
const HOSTILE: [&str; 6] = [
    "<script>window.pwned = 1</script>",
    "<img src=x onerror='window.pwned = 1'>",
    "\"><svg onload=\"window.pwned = 1\">",
    "' autofocus onfocus='window.pwned = 1",
    "javascript:window.pwned=1",
    "</textarea></title></style><script>window.pwned=1</script>{{1}}",
];

/// All of them in one text.
fn all() -> String {
    HOSTILE.join(" ")
}

impl Office {
    /// A call to the operator API that may refuse what is hostile.
    async fn try_to(&self, method: &str, path: &str, body: Value) -> bool {
        let path = path.replace("CONTACT", &self.ours.id("Contact"));
        let answer = self.world.operator_for(&self.ours.tenant, method, &path, body).await;
        assert!(answer.status < 500, "{}", answer.show());
        answer.status < 300
    }

    /// Writes hostile texts into everything that takes them.
    async fn poison(&self) {
        let all = all();
        let name = &all[..100.min(all.len())];
        let at = |kind: &str, path: &str| format!("{path}/{}", self.ours.id(kind));
        let contact = json!({"name": name, "observation": all, "city": name, "profissao": name});
        let path = format!("/api/v1/contacts/{}", self.ours.id("Contact"));
        let patched = self.world.patch_as(&self.ours.tenant.key, &path, contact).await;
        assert!(patched.status < 500, "{}", patched.show());
        let renamed = json!({"name": name});
        let patched = self.world.patch_as(&self.ours.tenant.key, &path, renamed).await;
        patched.expect(200);
        for (kind, path, body) in [
            ("Tag", "C/tags", json!({"name": name})),
            ("List", "C/lists", json!({"name": name})),
            ("Member", "C/members", json!({"display_name": name})),
            ("Connection", "C/connections", json!({"name": name})),
            ("CloseReason", "C/close-reasons", json!({"name": name})),
            ("Deal", "C/deals", json!({"title": name})),
            ("Pipeline", "C/pipelines", json!({"name": name})),
            ("CustomField", "C/custom-fields", json!({"label": name})),
            ("Template", "C/templates", json!({"body": all})),
            ("Campaign", "C/campaigns", json!({"name": name})),
        ] {
            self.try_to("PATCH", &at(kind, path), body).await;
        }
        let template = json!({"name": "hostile", "category": "UTILITY", "status": "APPROVED",
            "body": all, "header": name, "footer": "<b onclick=x>"});
        self.try_to("POST", "C/templates", template).await;
        self.try_to("POST", "C/tags", json!({"name": HOSTILE[2], "color": "#112233"})).await;
        let memory = json!({"summary": all, "key_facts": HOSTILE});
        self.try_to("POST", "C/contacts/CONTACT/lead-memory", memory).await;
        self.message(json!({"content": all, "push_name": name})).await;
        for words in HOSTILE {
            self.message(json!({"content": words, "push_name": words})).await;
        }
        let place = json!({"latitude": -23.5, "longitude": -46.6, "name": name, "address": all});
        self.message(json!({"type": "location", "location": place})).await;
        for (file, bytes) in [
            ("x.html", "<!doctype html><script>window.pwned = 1</script>"),
            ("x.svg", "<svg xmlns='http://www.w3.org/2000/svg' onload='window.pwned=1'/>"),
            ("%22%3E%3Csvg%20onload%3Dpwned%3D1%3E.png", "GIF89a<script>pwned=1</script>"),
        ] {
            let (company, contact) = (&self.ours.tenant.id, self.ours.id("Contact"));
            let path = format!(
                "/operator/v1/companies/{company}/contacts/{contact}/documents?filename={file}"
            );
            let request = Request::new("POST", path).bearer(OPERATOR).body(bytes);
            let answer = self.world.send(request).await;
            assert!(answer.status < 500, "{}", answer.show());
        }
    }

    async fn message(&self, more: Value) {
        let event = json!({"kind": "message", "provider_message_id": wamid(), "type": "text",
            "timestamp": self.world.time(), "from": digits(&mobile(1)), "content": "oi"});
        let path = format!("C/connections/{}/events", self.ours.id("Connection"));
        self.try_to("POST", &path, json!({"events": [with(event, more)]})).await;
    }
}

/// R419.
#[on_sqlite]
async fn nothing_that_is_shown_runs(office: Office) {
    office.poison().await;
    let browser = Browser::at(site(&office.world)).await;
    sign_in(&browser, &office.member(OperatorRole::Owner).await).await;
    browser.broken().await;
    let mut wrong = Vec::new();
    for path in pages(&office).await {
        browser.goto(&path).await;
        browser.find("main h1").await;
        // What was parsed as a tag would be one of these.
        let script = "return [window.pwned ?? null, document.querySelectorAll(\
            '[onerror],[onload],[onfocus],[onclick],script:not([src]),\
            a[href^=\"javascript:\" i]').length]";
        let found = browser.js(script, json!([])).await;
        if found != json!([null, 0]) {
            wrong.push(format!("{path}: {found}"));
        }
        wrong.extend(browser.broken().await.into_iter().map(|one| format!("{path}: {one}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// R419. A file of a stranger is never a page of ours, whatever it says it is.
#[on_sqlite]
async fn a_file_is_never_served_as_a_page(office: Office) {
    office.poison().await;
    let mut visitor = office.visitor(&office.member(OperatorRole::Owner).await).await;
    let contact = office.ours.id("Contact");
    let path = format!("C/contacts/{contact}/documents");
    let tenant = &office.ours.tenant;
    let all = office.world.operator_for(tenant, "GET", &path, Value::Null).await.expect(200);
    let all = all.as_array().expect("a list").clone();
    assert!(all.len() > 2, "{all:?}");
    let mut tried = 0;
    for document in all {
        let named = text(&document["id"]);
        let routes = crate::routes::read().filter(|route| route.path().contains("/documents/{"));
        for route in routes {
            let path = crate::routes::path(route, &office.ours);
            let path = path.replace(&office.ours.id("Document"), &named);
            let answer = visitor.get(&path).await;
            assert_eq!(answer.status, 200, "{}", answer.show());
            let kind = answer.header("content-type");
            let is_page = ["html", "svg", "xml", "javascript"].iter().any(|one| kind.contains(one));
            let saved = answer.header("content-disposition").starts_with("attachment");
            assert!(!is_page || saved, "{}", answer.show());
            assert_eq!(answer.header("x-content-type-options"), "nosniff");
            tried += 1;
        }
    }
    let has_route = crate::routes::read().any(|route| route.path().contains("/documents/{"));
    assert!(tried > 2 || !has_route, "no file was read");
}
