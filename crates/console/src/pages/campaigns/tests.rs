use http::StatusCode;
use recado_core::access::OperatorRole;
use recado_core::conversations::ActionName;
use recado_core::ids::{CompanyId, ContactId};
use recado_testkit::kit::body;
use serde_json::json;

use crate::harness::Site;

/// A template, a list with one contact, and the contact.
struct Stock {
    template: String,
    list: String,
    contact: ContactId,
}

async fn stock(site: &Site, company: CompanyId) -> Stock {
    let app = &site.kit.app;
    let new = json!({"name": "news", "category": "MARKETING", "status": "APPROVED",
        "body": "Hi {{1}} & co"});
    let template = app.templates().create(company, &body(new)).await.expect("a template");
    let list = app.lists().create(company, &body(json!({"name": "<i>Friends"}))).await;
    let list = list.expect("a list").id;
    let new = json!({"phone": "+5511987654321", "name": "<b>Ana"});
    let known = app.access().company(company).await.expect("the company");
    let contact = app.contacts().import(&known, &body(new)).await.expect("a contact").0;
    let named = body(json!({"contact_ids": [contact]}));
    app.lists().add_contacts(company, list, &named).await.expect("it is added");
    Stock { template: template.template.id.to_string(), list: list.to_string(), contact }
}

async fn campaign(site: &Site, company: CompanyId) -> (String, Stock) {
    let stock = stock(site, company).await;
    let new = json!({"name": "<script>May", "template_id": stock.template, "list_id": stock.list,
        "variables": {"1": "{contact.name|friend}"}});
    let made = site.kit.app.campaigns().create(company, &body(new)).await.expect("a campaign");
    (format!("/console/campaigns/{}", made.campaign.id), stock)
}

#[tokio::test]
async fn a_campaign_is_made_and_changed_with_the_errors_of_its_fields() {
    let site = Site::new().await;
    let stock = stock(&site, site.kit.company.id).await;
    let owner = site.owner().await;
    let new = "/console/campaigns/new";
    owner.get(new).await.has("news (").has("&lt;i&gt;Friends");
    let fields = [
        ("template_id", stock.template.as_str()),
        ("list_id", &stock.list),
        ("variables", "1 = {contact.name|friend}"),
        ("scheduled_at", "2099-05-01T09:00"),
    ];
    let refused = [&fields[..], &[("name", ""), ("send_between", "{")]].concat();
    let refused = owner.post(new, &refused).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    refused.has("id=\"field-name-error\"").has("id=\"field-send_between-error\"");
    let made = owner.post(new, &[&fields[..], &[("name", "May")]].concat()).await;
    assert_eq!(made.status, StatusCode::SEE_OTHER, "{}", made.html);
    let path = made.location().to_owned();
    owner.get(&path).await.has("May").has("2099-05-01 09:00").has("Schedule");
    owner.get(&format!("{path}/edit")).await.has("value=\"2099-05-01T09:00\"");
    let changed = [&fields[..3], &[("name", "June"), ("scheduled_at", "")]].concat();
    assert_eq!(owner.post(&format!("{path}/edit"), &changed).await.location(), path);
    owner.get(&path).await.has("June").lacks("2099-05-01");
}

/// R429.
#[tokio::test]
async fn a_campaign_runs_and_its_counts_renew_themselves() {
    let site = Site::new().await;
    let (path, _) = campaign(&site, site.kit.company.id).await;
    let owner = site.owner().await;
    owner.get(&path).await.has("&lt;script&gt;May").lacks("<script>May").lacks("every 2s");
    assert_eq!(owner.post(&format!("{path}/start"), &[]).await.location(), path);
    owner.get(&path).await.has("every 2s").has("0 of 1 done");
    owner.get(&format!("{path}/recipients")).await.has("+5511987654321");
    owner.get(&format!("{path}/recipients?status=failed")).await.has("No recipients here.");
    owner.post(&format!("{path}/pause"), &[]).await;
    owner.get(&path).await.has("Paused").lacks("every 2s");
    let deleted = owner.post(&format!("{path}/delete"), &[]).await;
    assert_eq!(deleted.location(), "/console/campaigns");
}

/// R429.
#[tokio::test]
async fn those_that_were_skipped_are_counted_by_reason() {
    let site = Site::new().await;
    let (path, stock) = campaign(&site, site.kit.company.id).await;
    let company = site.kit.company.id;
    let blocked = site.kit.app.conversations();
    let blocked = blocked.act(company, stock.contact, ActionName::Block, &body(json!({}))).await;
    blocked.expect("it is blocked");
    let owner = site.owner().await;
    owner.post(&format!("{path}/start"), &[]).await;
    site.kit.app.campaigns().drain().await;
    let page = owner.get(&format!("{path}/recipients?status=skipped")).await;
    page.has("<h2>Reasons</h2>").has("<summary>blocked: 1</summary>").has("+5511987654321");
    let (_, reason) = page.html.split_once("<summary>").expect("a reason");
    let (reason, _) = reason.split_once("</details>").expect("its end");
    let of_contact = format!("href=\"/console/contacts/{}\"", stock.contact);
    assert!(reason.contains(&of_contact) && reason.contains("&lt;b&gt;Ana"), "{reason}");
}

/// R429.
#[tokio::test]
async fn outcomes_over_time_are_a_plot_with_a_table() {
    let site = Site::new().await;
    let (path, _) = campaign(&site, site.kit.company.id).await;
    site.kit.connection("official_cloud").await;
    let owner = site.owner().await;
    owner.get(&path).await.lacks("data-plot");
    owner.post(&format!("{path}/start"), &[]).await;
    owner.get(&path).await.has("data-plot").has("/plots");
    site.kit.clock.advance(std::time::Duration::from_mins(3));
    site.kit.app.campaigns().drain().await;
    let page = owner.get(&path).await;
    page.has("Outcomes over time");
    page.has("{&quot;label&quot;:&quot;Sent&quot;,&quot;values&quot;:[0.0,");
    let (_, table) = page.html.split_once("Outcomes over time</caption>").expect("a table");
    let (table, _) = table.split_once("</table>").expect("its end");
    assert!(table.contains("<td data-label=\"Sent\">1</td>"), "{table}");
}

/// R429. What a page shows changes by itself, and nothing is sent that it shows already.
#[tokio::test]
async fn a_page_is_told_what_changed_since_it_was_made() {
    let site = Site::new().await;
    let (path, _) = campaign(&site, site.kit.company.id).await;
    site.kit.connection("official_cloud").await;
    let mut owner = site.owner().await;
    owner.post(&format!("{path}/start"), &[]).await;
    let shown = owner.get(&path).await;
    shown.has("/pause\"").has("0 of 1 done");
    owner.headers.insert("hx-request", http::HeaderValue::from_static("true"));
    let asked = |shown: &crate::harness::Shown| {
        let (_, rest) = shown.html.split_once("hx-get=\"").expect("it renews itself");
        rest.split('"').next().expect("a path").replace("&amp;", "&")
    };
    let next = asked(&shown);
    let nothing = owner.get(&next).await;
    assert_eq!((nothing.status, nothing.html.as_str()), (StatusCode::NO_CONTENT, ""));
    // The plot has a new step each minute; what can be done is as it was.
    site.kit.clock.advance(std::time::Duration::from_mins(1));
    let plotted = owner.get(&next).await;
    plotted.has("id=\"campaign-progress\"").has("id=\"campaign-over-time\" hx-swap-oob=\"true\"");
    plotted.lacks("campaign-acts").lacks("campaign-facts").lacks("<h1>");
    let next = asked(&plotted);
    site.kit.app.campaigns().drain().await;
    let finished = owner.get(&next).await;
    finished.has("1 of 1 done").has("Finished").lacks("every 2s");
    for part in ["over-time", "acts", "facts"] {
        finished.has(&format!("id=\"campaign-{part}\" hx-swap-oob=\"true\""));
    }
    finished.has("/delete\"").lacks("/pause\"");
    // What no page of ours says is told everything.
    owner.get(&format!("{path}/progress?was=a")).await.has("campaign-acts");
}

/// R429.
#[tokio::test]
async fn a_preview_is_of_one_person_and_escaped() {
    let site = Site::new().await;
    let (path, stock) = campaign(&site, site.kit.company.id).await;
    let viewer = site.as_role(OperatorRole::Viewer).await;
    viewer.get(&format!("{path}/preview?search=Ana")).await.has("&lt;b&gt;Ana").lacks("<b>Ana");
    let page = viewer.get(&format!("{path}/preview?contact_id={}", stock.contact)).await;
    page.has("Hi &lt;b&gt;Ana &amp; co").lacks("<b>Ana");
    let start = viewer.post(&format!("{path}/start"), &[]).await;
    assert_eq!(start.status, StatusCode::FORBIDDEN);
    viewer.get(&path).await.lacks("/start").lacks("/edit").lacks("/delete");
}

#[tokio::test]
async fn a_campaign_of_another_company_is_not_found() {
    let site = Site::new().await;
    let (other, _) = site.kit.another_company("Other").await;
    let (path, _) = campaign(&site, other.id).await;
    let owner = site.owner().await;
    owner.get("/console/campaigns").await.has("There is no campaign yet.");
    for part in ["", "/progress", "/recipients", "/preview", "/edit"] {
        let answer = owner.get(&format!("{path}{part}")).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{part}");
    }
    for act in ["start", "pause", "take-back", "edit", "delete"] {
        let answer = owner.post(&format!("{path}/{act}"), &[]).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{act}");
    }
}
