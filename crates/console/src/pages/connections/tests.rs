use std::time::Duration;

use http::StatusCode;
use recado_core::access::OperatorRole;
use recado_core::connections::ConnectionStatus;
use recado_core::gateway::{Pairing, PairingCode};
use recado_core::ids::{CompanyId, ConnectionId};
use recado_testkit::kit::body;
use serde_json::json;

use crate::harness::Site;

const SECRET: &str = "a-key-that-nobody-sees";

/// A connection with a secret, by its path.
async fn connection(site: &Site, company: CompanyId, name: &str) -> String {
    let new = json!({"kind": "qr", "name": name, "identifier": "5511940028922", "gateway": "waha",
        "settings": {"base_url": "http://waha.example", "session": "shop", "api_key": SECRET,
            "webhook_hmac_key": SECRET}});
    let made = site.kit.app.connections().create(company, &body(new)).await;
    format!("/console/connections/{}", made.expect("a connection").id)
}

/// R428.
#[tokio::test]
async fn settings_are_shown_and_changed_without_showing_secrets() {
    let site = Site::new().await;
    let owner = site.owner().await;
    let path = connection(&site, site.kit.company.id, "<script>Shop").await;
    owner.get("/console/connections").await.has("&lt;script&gt;Shop").lacks("<script>Shop");
    owner.get(&path).await.has("http://waha.example").has("never shown").lacks(SECRET);
    let edit = format!("{path}/edit");
    owner.get(&edit).await.has("name=\"settings.api_key\"").lacks(SECRET);
    let refused = [
        ("name", ""),
        ("identifier", "1"),
        ("settings.base_url", "no"),
        ("settings.session", "other"),
        ("settings.api_key", "a-newer-secret"),
    ];
    let refused = owner.post(&edit, &refused).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    refused.has("id=\"field-settings.base_url-error\"").lacks("a-newer-secret").lacks(SECRET);
    let fields = [
        ("name", "Shop 2"),
        ("identifier", "5511940028922"),
        ("is_active", "on"),
        ("settings.base_url", "http://other.example"),
        ("settings.session", "shop"),
        ("settings.api_key", ""),
    ];
    let changed = owner.post(&edit, &fields).await;
    assert_eq!(changed.location(), path, "{}", changed.html);
    owner.get(&path).await.has("Shop 2").has("http://other.example").lacks(SECRET);
}

/// R428.
#[tokio::test]
async fn a_connection_is_made_by_the_fields_of_its_gateway_and_deleted() {
    let site = Site::new().await;
    let owner = site.owner().await;
    let new = "/console/connections/new";
    owner.get(new).await.lacks("settings.api_key");
    owner.get(&format!("{new}?gateway=waha")).await.has("type=\"password\"");
    let fields = [
        ("gateway", "waha"),
        ("kind", "qr"),
        ("name", "Shop"),
        ("identifier", "1"),
        ("is_active", "on"),
        ("settings.base_url", "http://waha.example"),
        ("settings.session", "s"),
        ("settings.api_key", SECRET),
    ];
    let refused = owner.post(new, &fields).await;
    refused.has("id=\"field-settings.webhook_hmac_key-error\"").lacks(SECRET);
    let whole = [&fields[..], &[("settings.webhook_hmac_key", SECRET)]].concat();
    let made = owner.post(new, &whole).await;
    let path = made.location().to_owned();
    owner.get(&path).await.has("Shop").lacks(SECRET);
    assert_eq!(owner.post(&format!("{path}/delete"), &[]).await.location(), "/console/connections");
}

/// R428.
#[tokio::test]
async fn only_managers_pair_and_check_and_only_owners_change() {
    let site = Site::new().await;
    let path = connection(&site, site.kit.company.id, "Shop").await;
    let viewer = site.as_role(OperatorRole::Viewer).await;
    viewer.get(&path).await.lacks("/pairing").lacks("/edit").lacks("/delete").lacks("/check");
    for act in ["pairing", "unknown", "edit"] {
        let answer = viewer.get(&format!("{path}/{act}")).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{act}");
    }
    let manager = site.as_role(OperatorRole::Manager).await;
    manager.get(&format!("{path}/unknown")).await.has("Everything was understood.");
    manager.get(&format!("{path}/groups")).await.has("No groups are known.");
    assert_eq!(manager.post(&format!("{path}/check"), &[]).await.status, StatusCode::OK);
    manager.post(&format!("{path}/unknown"), &[]).await.has("Understood now: 0");
    let refused = manager.post(&format!("{path}/delete"), &[]).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
}

/// R428.
#[tokio::test]
async fn the_last_day_is_a_strip_with_its_changes_in_words() {
    let site = Site::new().await;
    let path = connection(&site, site.kit.company.id, "Shop").await;
    let id = path.rsplit('/').next().and_then(ConnectionId::parse).expect("an id");
    let tell = async |status| {
        let connections = site.kit.app.connections();
        connections.set_status(site.kit.company.id, id, status).await.expect("a connection");
    };
    let viewer = site.as_role(OperatorRole::Viewer).await;
    viewer.get(&path).await.has("Connected 0% of the time that is known, with no change.");
    site.kit.clock.advance(Duration::from_hours(6));
    tell(ConnectionStatus::Connected).await;
    site.kit.clock.advance(Duration::from_hours(12));
    tell(ConnectionStatus::Disconnected).await;
    site.kit.clock.advance(Duration::from_hours(6));
    let viewer = site.as_role(OperatorRole::Viewer).await;
    let words = "Connected 50% of the time that is known, with 2 changes.";
    let drawn = "<rect class=\"connected\" x=\"360\" y=\"0\" width=\"720\" height=\"24\">";
    for page in ["/console/connections", &path] {
        let shown = viewer.get(page).await;
        shown.has(&format!("aria-label=\"{words}\"")).has(drawn).lacks("style=");
        shown.has("<rect class=\"disconnected\" x=\"0\" y=\"16\" width=\"360\" height=\"8\">");
    }
    let html = viewer.get(&path).await.html;
    let (_, table) = html.split_once("Changes of the state").expect("a list");
    assert_eq!(table.matches("<time").count(), 3, "{table}");
    assert!(table.find(">Disconnected") < table.find(">Connected"), "the newest first: {table}");
}

/// R428.
#[tokio::test]
async fn pairing_is_a_page_and_a_piece_that_renews_itself() {
    let site = Site::new().await;
    let path = connection(&site, site.kit.company.id, "Shop").await;
    let mut manager = site.as_role(OperatorRole::Manager).await;
    let pairing = format!("{path}/pairing");
    let none = manager.get(&pairing).await;
    none.has("<h1>").has("pairs no phones").lacks("every 2s").lacks(SECRET);
    site.kit.provider.set_pairing(Ok(Pairing::Preparing));
    manager.get(&pairing).await.has("getting a code ready").has("every 2s");
    site.kit.provider.set_pairing(Ok(Pairing::Code(PairingCode::new("2@code"))));
    manager.get(&pairing).await.has("<svg").has("every 2s");
    manager.headers.insert("hx-request", http::HeaderValue::from_static("true"));
    manager.get(&pairing).await.has("id=\"pairing\"").has("<svg").lacks("<h1>");
    site.kit.provider.set_pairing(Ok(Pairing::Paired));
    manager.get(&pairing).await.has("A phone is paired.").lacks("every 2s");
    manager.headers.clear();
    manager.get(&path).await.has("Connected");
}

#[tokio::test]
async fn a_connection_of_another_company_is_not_found() {
    let site = Site::new().await;
    let (other, _) = site.kit.another_company("Other").await;
    let path = connection(&site, other.id, "Foreign").await;
    let owner = site.owner().await;
    owner.get("/console/connections").await.lacks("Foreign");
    for part in ["", "/pairing", "/groups", "/unknown", "/edit"] {
        let answer = owner.get(&format!("{path}{part}")).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{part}");
    }
    for act in ["check", "unknown", "groups", "edit", "delete"] {
        let answer = owner.post(&format!("{path}/{act}"), &[]).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{act}");
    }
}
