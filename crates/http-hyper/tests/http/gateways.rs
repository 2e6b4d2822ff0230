//! The operator's requests to gateways: pairing codes, state, templates; and merging contacts.

use recado_core::connections::ConnectionStatus;
use recado_core::gateway::{GatewayStatus, Pairing, PairingCode, ProviderError, ProviderTemplate};
use recado_core::templates::{Components, TemplateCategory, TemplateNeeds, TemplateStatus};
use recado_http_hyper::QrPainter;
use serde_json::{Value, json};

use crate::hooks::refusal;
use crate::provider_webhooks::calling;
use crate::site::{Reply, Setup, Site, TOKEN};

/// The bytes of a picture that are checked.
const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\nx";

fn code(png: Option<&[u8]>) -> Result<Pairing, ProviderError> {
    let png = png.map(<[u8]>::to_vec);
    Ok(Pairing::Code(PairingCode { text: "2@abc,def==".to_owned(), png }))
}

/// Asks for the code with this `Accept`.
async fn qr(site: &Site, connection: &str, accept: &str) -> Reply {
    let path = format!("/operator/v1/companies/{}{connection}/qr", site.kit.company.id);
    let headers = format!("Authorization: Bearer {TOKEN}\r\n{accept}");
    site.send("GET", &path, &headers, b"").await
}

#[tokio::test]
async fn a_pairing_code_is_given_in_the_form_that_is_asked_for() {
    let site = Site::new().await;
    let (connection, _) = calling(&site).await;
    site.kit.provider.set_pairing(code(Some(PICTURE)));
    for accept in ["", "Accept: */*\r\n", "Accept: text/html,*/*;q=0.8\r\n", "Accept: x/y\r\n"] {
        let reply = qr(&site, &connection, accept).await;
        assert_eq!(reply.data(), json!({"text": "2@abc,def==", "png": "iVBORw0KGgp4"}), "{accept}");
        assert_eq!(reply.header("cache-control"), Some("no-store"));
    }
    let picture = qr(&site, &connection, "Accept: image/png\r\n").await;
    assert_eq!((picture.status, picture.body.as_slice()), (200, PICTURE));
    let text = qr(&site, &connection, "Accept: text/plain\r\n").await;
    assert_eq!((text.status, text.body.as_slice()), (200, &b"2@abc,def=="[..]));
    for (reply, content_type) in [(picture, "image/png"), (text, "text/plain; charset=utf-8")] {
        assert_eq!(reply.header("content-type"), Some(content_type));
        assert_eq!(reply.header("cache-control"), Some("no-store"));
    }
}

#[tokio::test]
async fn a_picture_that_the_gateway_does_not_make_is_null_or_refused() {
    let site = Site::new().await;
    let (connection, _) = calling(&site).await;
    // Bytes that are not a PNG count as no picture.
    for none in [code(None), code(Some(b"\x89PNG")), code(Some(b"<svg/>")), code(Some(b""))] {
        site.kit.provider.set_pairing(none);
        assert_eq!(qr(&site, &connection, "").await.data()["png"], Value::Null);
        let reply = qr(&site, &connection, "Accept: image/png\r\n").await;
        assert_eq!(reply.refusal(), refusal(422, "VALIDATION_ERROR"));
    }
    let reply = qr(&site, &connection, "Accept: image/png, application/json;q=0.5\r\n").await;
    assert_eq!(reply.data()["text"], "2@abc,def==");
}

#[tokio::test]
async fn a_picture_that_the_gateway_does_not_make_is_drawn_where_somebody_can() {
    let draw = |text: &str| (text == "2@abc,def==").then(|| PICTURE.to_vec());
    let painter = Some(QrPainter::new(draw));
    let site = Setup { qr_painter: painter, ..Setup::new().await }.start().await;
    let (connection, _) = calling(&site).await;
    for none in [code(None), code(Some(b"<svg/>"))] {
        site.kit.provider.set_pairing(none);
        assert_eq!(qr(&site, &connection, "").await.data()["png"], "iVBORw0KGgp4");
        let reply = qr(&site, &connection, "Accept: image/png\r\n").await;
        assert_eq!((reply.status, reply.body.as_slice()), (200, PICTURE));
    }
    let own = b"\x89PNG\r\n\x1a\nown";
    site.kit.provider.set_pairing(code(Some(own)));
    let reply = qr(&site, &connection, "Accept: image/png\r\n").await;
    assert_eq!(reply.body, own, "the gateway's own picture comes first");
}

#[tokio::test]
async fn why_there_is_no_pairing_code_is_reported() {
    let site = Site::new().await;
    let (connection, _) = calling(&site).await;
    for (pairing, status, code, wait) in [
        (Ok(Pairing::Preparing), 503, "UNAVAILABLE", Some("2")),
        (Ok(Pairing::Paired), 409, "ALREADY_PAIRED", None),
        (Err(ProviderError::Unsupported), 422, "VALIDATION_ERROR", None),
        (Err(ProviderError::Failed("timed out".to_owned())), 502, "PROVIDER_ERROR", None),
    ] {
        site.kit.provider.set_pairing(pairing);
        let reply = qr(&site, &connection, "Accept: image/png\r\n").await;
        assert_eq!(reply.refusal(), refusal(status, code));
        assert_eq!(reply.header("retry-after"), wait, "{code}");
    }
    let shown = site.company("GET", &connection, "").await.data();
    assert_eq!(shown["status"], "connected", "a phone is paired");
    assert_eq!(qr(&site, "/connections/x", "").await.refusal(), refusal(404, "NOT_FOUND"));
}

#[tokio::test]
async fn a_checked_connection_shows_what_its_gateway_reported() {
    let site = Site::new().await;
    let (connection, _) = calling(&site).await;
    let check = format!("{connection}/check");
    let detail = json!({"engine": "NOWEB"});
    site.kit.provider.set_status(Ok(GatewayStatus {
        status: ConnectionStatus::Connected,
        detail: Some(detail.clone()),
    }));
    let reported = site.company("POST", &check, "").await.data();
    assert_eq!((&reported["answered"], &reported["detail"]), (&json!(true), &detail));
    assert_eq!(reported["connection"]["status"], "connected");
    site.kit.provider.set_status(Err(ProviderError::Failed("timed out".to_owned())));
    let reported = site.company("POST", &check, "").await.data();
    assert_eq!((&reported["answered"], &reported["detail"]), (&json!(false), &Value::Null));
    assert_eq!(reported["connection"]["status"], "connected", "as it was");
    let missing = site.company("POST", "/connections/x/check", "").await;
    assert_eq!(missing.refusal(), refusal(404, "NOT_FOUND"));
}

#[tokio::test]
async fn templates_are_read_from_the_gateway() {
    let site = Site::new().await;
    let body = json!({"kind": "official_cloud", "name": "Loja", "identifier": "551140028922",
        "gateway": "cloud_api", "settings": {"phone_number_id": "1", "access_token": "t",
            "app_secret": "s", "verify_token": "v", "business_account_id": "2"}});
    let made = site.company("POST", "/connections", &body.to_string()).await.data();
    let sync = format!("/connections/{}/sync-templates", made["id"].as_str().expect("an id"));
    site.kit.provider.set_templates(Ok(vec![ProviderTemplate {
        provider_id: Some("77".to_owned()),
        name: "boas_vindas".to_owned(),
        language: "pt_BR".to_owned(),
        category: TemplateCategory::Utility,
        status: TemplateStatus::Approved,
        body: "Olá {{1}}".to_owned(),
        components: Components::default(),
        needs: TemplateNeeds::default(),
    }]));
    let synced = site.company("POST", &sync, "").await.data();
    assert_eq!(synced[0]["name"], "boas_vindas");
    assert_eq!(synced[0]["connection_id"], made["id"]);
    assert_eq!(site.company("GET", "/templates", "").await.data(), synced);
    site.kit.provider.set_templates(Err(ProviderError::Failed("timed out".to_owned())));
    let failed = site.company("POST", &sync, "").await;
    assert_eq!(failed.refusal(), refusal(502, "PROVIDER_ERROR"));
    let (phone, _) = calling(&site).await;
    let unsupported = site.company("POST", &format!("{phone}/sync-templates"), "").await;
    assert_eq!(unsupported.refusal(), refusal(422, "VALIDATION_ERROR"));
    let missing = site.company("POST", "/connections/x/sync-templates", "").await;
    assert_eq!(missing.refusal(), refusal(404, "NOT_FOUND"));
}

#[tokio::test]
async fn two_contacts_become_one_and_the_answer_is_what_get_gives() {
    let site = Site::new().await;
    let make = async |body: &str| {
        let made = site.company("POST", "/contacts", body).await.data();
        made["id"].as_str().expect("an id").to_owned()
    };
    let ana = make(r#"{"phone":"+5511987654321"}"#).await;
    let lid = make(r#"{"identifier":"123456@lid","observation":"VIP"}"#).await;
    let (one, merge) = (format!("/contacts/{ana}"), format!("/contacts/{ana}/merge"));
    let body = |other: &str| json!({"other_contact_id": other}).to_string();

    for (sent, status, code) in [
        (body(&ana), 422, "VALIDATION_ERROR"),
        (body("x"), 422, "VALIDATION_ERROR"),
        ("{}".to_owned(), 422, "VALIDATION_ERROR"),
        (body("00000000-0000-4000-8000-00000000dead"), 404, "NOT_FOUND"),
    ] {
        let reply = site.company("POST", &merge, &sent).await;
        assert_eq!(reply.refusal(), refusal(status, code), "{sent}");
    }
    let missing = site.company("POST", "/contacts/x/merge", &body(&lid)).await;
    assert_eq!(missing.refusal(), refusal(404, "NOT_FOUND"));

    let merged = site.company("POST", &merge, &body(&lid)).await.data();
    assert_eq!((&merged["id"], &merged["observation"]), (&json!(ana), &json!("VIP")));
    assert_eq!(merged, site.company("GET", &one, "").await.data());
    let gone = site.company("GET", &format!("/contacts/{lid}"), "").await;
    assert_eq!(gone.refusal(), refusal(404, "NOT_FOUND"));
}
