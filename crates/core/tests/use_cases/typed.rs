//! Calling use cases with bodies that have types, as a program that embeds the core does.

use std::collections::BTreeMap;

use recado_core::access::{
    KeyDraft, KeyPatch, MemberDraft, MemberPatch, Plan, Role, Scope, Scopes,
};
use recado_core::campaigns::{CampaignDraft, CampaignPatch};
use recado_core::connections::{
    ConnectionChange, ConnectionKind, GatewayName, NewConnection, ShownStatus,
};
use recado_core::contacts::{
    ContactChange, ContactPatch, Email, ImportedContact, NewContact, Phone, Priority, Region,
};
use recado_core::conversations::{Act, Action, ReplyDraft, Transition};
use recado_core::custom_fields::{CustomFieldDraft, CustomFieldPatch, FieldStatus};
use recado_core::deals::{
    DealDraft, DealPatch, DealStatus, PipelineDraft, PipelinePatch, StageDraft,
};
use recado_core::gateway::{GatewayEvent, GatewayMessage};
use recado_core::groups::{Group, GroupCode};
use recado_core::ids::{ConnectionId, ContactId};
use recado_core::inbound::{EndpointDraft, EndpointPatch, EndpointSlug, VariableMapping};
use recado_core::input::Given;
use recado_core::leads::{BantUpdate, MemoryUpdate, WholeMemory};
use recado_core::links::LinkDraft;
use recado_core::lists::{AddContacts, ListDraft, ListPatch};
use recado_core::messages::{
    Direction, ImportedMessage, MessageStatus, MessageType, ProviderMessageId,
};
use recado_core::prosas::{Brl, DebitDraft, ProsaScope, Prosas, RefundDraft};
use recado_core::sending::{SendMessage, SendTemplate};
use recado_core::tags::{CloseReasonDraft, TagDraft, TagPatch};
use recado_core::templates::{TemplateCategory, TemplateDraft, TemplatePatch, TemplateStatus};
use recado_core::webhooks::{Topics, WebhookDraft, WebhookPatch, WebhookUrl};
use recado_core::{IntoBody, Timestamp};
use recado_testkit::Kit;
use recado_testkit::kit::body;
use serde_json::json;

use super::refused;

fn phone(text: &str) -> Phone {
    Phone::parse(text, &Region::br()).unwrap()
}

async fn connection(kit: &Kit) -> ConnectionId {
    let new = NewConnection::new(
        ConnectionKind::Qr,
        "Loja",
        "5511900000000",
        GatewayName::parse("simulated").unwrap(),
    );
    kit.app.connections().create(kit.company.id, new).await.unwrap().id
}

async fn contact(kit: &Kit) -> ContactId {
    let new = NewContact::new(phone("+5511987654321")).name("Ana");
    kit.app.contacts().create(&kit.caller, new).await.unwrap().contact.id
}

#[tokio::test]
async fn contacts_are_made_changed_and_imported() {
    let kit = Kit::new().await;
    let contacts = kit.app.contacts();
    let email = Email::parse("ana@example.com").unwrap();
    let new = NewContact::new(phone("+5511987654321")).name("Ana").email(email).city("Santos");
    let made = contacts.create(&kit.caller, new).await.unwrap().contact;
    assert_eq!((made.name.as_str(), made.address.city.as_deref()), ("Ana", Some("Santos")));
    assert_eq!(made.email.as_ref().map(Email::as_str), Some("ana@example.com"));
    let patch = ContactPatch::default().name("Bia").city(None::<String>);
    let changed = contacts.update(&kit.caller, made.id, patch).await.unwrap().contact;
    assert_eq!((changed.name.as_str(), changed.address.city), ("Bia", None));
    assert_eq!(changed.email, made.email, "what is not said stays");
    let change = ContactChange::default().priority(Priority::Urgent).is_pinned(true);
    contacts.patch_as_operator(kit.company.id, made.id, change).await.unwrap();
    let shown = contacts.get_for_operator(kit.company.id, made.id).await.unwrap();
    assert_eq!((shown.detail.summary.priority, shown.detail.is_pinned), (Priority::Urgent, true));
    let old = ImportedContact::default().phone(phone("+5511912345678")).is_archived(true);
    let (id, _) = contacts.import(&kit.company, old).await.unwrap();
    let shown = contacts.get_for_operator(kit.company.id, id).await.unwrap();
    assert!(shown.detail.summary.is_archived);
}

#[tokio::test]
async fn deals_pipelines_tags_and_close_reasons_are_made_and_changed() {
    let kit = Kit::new().await;
    let (company, contact) = (kit.company.id, contact(&kit).await);
    let stages = vec![StageDraft::new("Novo", "#fff")];
    let pipeline = PipelineDraft::new("Vendas", stages);
    let pipeline = kit.app.deals().create_pipeline(company, pipeline).await.unwrap();
    let renamed = PipelinePatch::default().name("Pós-venda");
    let renamed = kit.app.deals().change_pipeline(company, pipeline.id, renamed).await.unwrap();
    assert_eq!(renamed.name, "Pós-venda");
    let new = DealDraft::new(contact, "Plano").stage_id(pipeline.stages[0].id);
    let deal = kit.app.deals().create(company, new).await.unwrap();
    assert_eq!(deal.stage_id, Some(pipeline.stages[0].id));
    let patch = DealPatch::default().status(DealStatus::Won).stage_id(Given::Cleared);
    let deal = kit.app.deals().change(company, deal.id, patch).await.unwrap();
    assert_eq!((deal.status, deal.stage_id, deal.title.as_str()), (DealStatus::Won, None, "Plano"));
    let tag = kit.app.tags().create(company, TagDraft::new("Novo", "red")).await.unwrap();
    let patch = TagPatch::default().color("blue");
    let tag = kit.app.tags().change(company, tag.id, patch).await.unwrap();
    assert_eq!((tag.name.as_str(), tag.color.as_str()), ("Novo", "blue"));
    let reason = CloseReasonDraft::new("Resolvido");
    let reason = kit.app.tags().create_close_reason(company, reason).await.unwrap();
    assert_eq!(reason.name, "Resolvido");
}

#[tokio::test]
async fn companies_members_and_keys_are_made_and_changed() {
    let kit = Kit::new().await;
    let access = kit.app.access();
    let new = recado_core::access::CompanyDraft::new("Padaria").plan(Plan::Enterprise);
    let company = access.create_company(new).await.unwrap();
    let patch = recado_core::access::CompanyPatch::default().name("Padaria Sol");
    assert_eq!(access.change_company(company.id, patch).await.unwrap().name, "Padaria Sol");
    let member = access.create_member(company.id, MemberDraft::new("Rui")).await.unwrap();
    let patch = MemberPatch::default().role(Role::Admin);
    let member = access.change_member(company.id, member.id, patch).await.unwrap();
    assert_eq!((member.display_name.as_str(), member.role), ("Rui", Role::Admin));
    let new = KeyDraft::new("CRM", Scopes::of(&[Scope::ContactsRead])).rate_per_minute(5_u32);
    let key = access.create_key(company.id, new).await.unwrap().key;
    assert_eq!(key.rate_per_minute, 5);
    let patch = KeyPatch::default().name("ERP");
    assert_eq!(access.change_key(company.id, key.id, patch).await.unwrap().name, "ERP");
}

#[tokio::test]
async fn lists_custom_fields_links_and_lead_memories_are_written() {
    let kit = Kit::new().await;
    let (company, contact) = (kit.company.id, contact(&kit).await);
    let list = kit.app.lists().create(company, ListDraft::new("Clientes")).await.unwrap();
    let patch = ListPatch::default().is_active(false);
    assert!(!kit.app.lists().change(company, list.id, patch).await.unwrap().is_active);
    kit.app.lists().add_contacts(company, list.id, AddContacts::new([contact])).await.unwrap();
    let new = CustomFieldDraft::new("CEP", "cep");
    let field = kit.app.custom_fields().create(company, new).await.unwrap();
    let patch = CustomFieldPatch::default().status(FieldStatus::Inactive);
    let field = kit.app.custom_fields().change(company, field.id, patch).await.unwrap();
    assert_eq!((field.slug.as_str(), field.status), ("cep", FieldStatus::Inactive));
    let link = LinkDraft::new(contact, "https://example.com/a");
    assert_eq!(
        kit.app.links().create(company, link).await.unwrap().link.url,
        "https://example.com/a"
    );
    let bant = BantUpdate::default().budget("1000");
    let update = MemoryUpdate::default().summary("Quer um plano").bant(bant);
    let memory = kit.app.leads().merge(company, contact, update).await.unwrap();
    assert_eq!((memory.version, memory.inferred.bant.budget.as_str()), (1, "1000"));
    let whole = WholeMemory::default().summary("Antigo").version(40_u32);
    let memory = kit.app.leads().put(company, contact, whole).await.unwrap();
    assert_eq!((memory.version, memory.inferred.summary.as_str()), (40, "Antigo"));
}

#[tokio::test]
async fn connections_groups_and_templates_are_written() {
    let kit = Kit::new().await;
    let (company, id) = (kit.company.id, connection(&kit).await);
    let change = ConnectionChange::default().name("Centro");
    let changed = kit.app.connections().change(company, id, change).await.unwrap();
    assert_eq!((changed.name.as_str(), changed.status), ("Centro", ShownStatus::Connected));
    let code = GroupCode::parse("1@g.us", "g.us").unwrap();
    let group = Group { subject: Some("Obra".to_owned()), ..Group::seen(code.clone()) };
    let groups = kit.app.groups().set(company, id, &[group]).await.unwrap();
    assert_eq!((groups[0].code.as_str(), groups[0].subject.as_deref()), ("1@g.us", Some("Obra")));
    let nameless = kit.app.groups().set(company, id, &[Group::seen(code)]).await;
    assert_eq!(refused(nameless).1["fields"], json!(["groups[0].subject"]));
    let new = TemplateDraft::new("oi", TemplateCategory::Utility, "Oi {{1}}").language("en");
    let template = kit.app.templates().create(company, new).await.unwrap().template;
    assert_eq!((template.language.as_str(), template.status), ("en", TemplateStatus::Pending));
    let patch = TemplatePatch::default().status(TemplateStatus::Approved).connection(id);
    let template = kit.app.templates().change(company, template.id, patch).await.unwrap();
    assert_eq!((template.status, template.connection_id), (TemplateStatus::Approved, Some(id)));
}

#[tokio::test]
async fn messages_are_sent_received_answered_and_imported() {
    let kit = Kit::new().await;
    let (company, id) = (kit.company.id, connection(&kit).await);
    let contact = contact(&kit).await;
    let to = "+5511987654321";
    kit.app.sending().send_text(&kit.caller, SendMessage::new("Oi").to(to)).await.unwrap();
    let template = TemplateDraft::new("oi", TemplateCategory::Utility, "Oi {{1}}")
        .status(TemplateStatus::Approved);
    kit.app.templates().create(company, template).await.unwrap();
    let send = SendTemplate::new("oi").to(to).variables(BTreeMap::from([(1, "Ana".to_owned())]));
    kit.app.sending().send_template(&kit.caller, send).await.unwrap();
    let wamid = |id: &str| ProviderMessageId::parse(id).unwrap();
    let told = GatewayMessage::text(wamid("m1"), "5511987654321", "Bom dia");
    let told = vec![Ok(GatewayEvent::Message(told))];
    kit.app.inbox().receive(company, id, told).await.unwrap();
    let reply = ReplyDraft::default().message("Bom dia!".to_owned());
    kit.app.conversations().reply(company, contact, reply).await.unwrap();
    let close = Action::Move(Transition::Close { reason: None, member: None });
    kit.app.conversations().perform(company, contact, close).await.unwrap();
    let block = Action::Move(Transition::Act(Act::Blocked));
    kit.app.conversations().perform(company, contact, block).await.unwrap();
    let old = ImportedMessage::default()
        .direction(Direction::Inbound)
        .contact(contact)
        .connection(id)
        .content("Antiga")
        .provider_id(wamid("m0"));
    let imported = kit.app.messages().import(company, old).await.unwrap().message;
    assert_eq!(
        (imported.content.as_deref(), imported.status, imported.message_type),
        (Some("Antiga"), MessageStatus::Received, MessageType::Text)
    );
}

#[tokio::test]
async fn webhooks_endpoints_campaigns_and_ledger_lines_are_written() {
    let kit = Kit::new().await;
    let company = kit.company.id;
    let url = WebhookUrl::parse("https://example.com/hook").unwrap();
    let webhook = WebhookDraft::new(url, Topics::All).is_active(false);
    let webhook = kit.app.webhooks().create(company, webhook).await.unwrap().webhook;
    let patch = WebhookPatch::default().state(true);
    kit.app.webhooks().change(company, webhook.id, patch).await.unwrap();
    let slug = EndpointSlug::parse("entrada").unwrap();
    let mapping = VariableMapping::from_stored([("phone".to_owned(), "$.p".to_owned())].into());
    let new = EndpointDraft::new(slug, mapping);
    let endpoint = kit.app.inbound().create(company, new).await.unwrap();
    let patch = EndpointPatch::default().is_active(false);
    kit.app.inbound().change(company, endpoint.endpoint.id, patch).await.unwrap();
    let list = kit.app.lists().create(company, ListDraft::new("Clientes")).await.unwrap();
    let template = TemplateDraft::new("oi", TemplateCategory::Utility, "Oi {{1}}");
    let template = kit.app.templates().create(company, template).await.unwrap().template;
    let new = CampaignDraft::new("Natal", template.id, list.id)
        .variables(BTreeMap::from([(1, "Ana".to_owned())]))
        .prosas(Prosas::from_units(1_500))
        .cost(Brl::from_units(250_000));
    let campaign = kit.app.campaigns().create(company, new).await.unwrap();
    let patch = CampaignPatch::default().name("Ano novo").messages_per_second(20_u32);
    kit.app.campaigns().change(company, campaign.campaign.id, patch).await.unwrap();
    let debit = DebitDraft::new(ProsaScope::Turn, Prosas::from_units(1), Brl::from_units(1));
    let debit = kit.app.prosas().debit(company, debit.description("turno")).await.unwrap();
    let refund = RefundDraft::new(debit.id, Prosas::from_units(1), Brl::from_units(1));
    kit.app.prosas().refund(company, refund).await.unwrap();
}

#[test]
fn a_typed_body_says_what_its_json_does_exactly() {
    macro_rules! same {
        ($($type:ty: $json:tt,)+) => {$(
            let json = body(json!($json));
            let read = <$type>::parse(&json).unwrap();
            assert_eq!(*read.clone().into_map(), json, stringify!($type));
            let again = <$type>::parse(read).unwrap();
            assert_eq!(*again.into_map(), json, stringify!($type));
        )+};
    }
    let id = "01939b5e-0000-7000-8000-000000000001";
    same! {
        DealPatch: { "title": "x", "stage_id": null },
        DealPatch: { "stage_id": id, "status": "won" },
        CampaignPatch: { "variables": { "1": "Ana", "12": "x" }, "prosas_per_message": 1.5 },
        KeyDraft: { "name": "x", "scopes": ["contacts:read"], "rate_per_minute": 7 },
        WebhookPatch: { "url": "https://example.com/a?b=c", "events": ["*"], "is_active": true },
        WholeMemory: {
            "key_facts": ["a"], "products_interested": [], "objections": [], "summary": "s",
            "sentiment": "", "intent": "", "consciousness_level": "", "last_topic": "",
            "bant": { "authority_raw": "dona", "need": null },
            "first_interaction_at": "2026-11-20T17:31:36.123Z", "version": 2,
        },
        DebitDraft: {
            "scope": "turn", "prosas": 1.5, "cost_brl": 0.25, "message_ids": [],
            "contact_id": id,
        },
        EndpointPatch: { "slug": "abc", "variable_mapping": { "phone": "$.p" } },
        TemplatePatch: { "connection_id": null, "category": "UTILITY", "body": "Oi {{1}}" },
    };
}

#[test]
fn a_typed_body_is_refused_for_the_same_as_its_json() {
    let (name, color) = ("n".repeat(201), "c".repeat(33));
    let json = body(json!({ "name": name, "color": color }));
    let of_json = TagDraft::parse(&json).unwrap_err();
    assert_eq!(of_json.fields().collect::<Vec<_>>(), ["name", "color"]);
    assert_eq!(TagDraft::parse(TagDraft::new(name, color)).unwrap_err(), of_json);
    let blank = body(json!({ "name": " ", "color": "" }));
    let of_json = TagDraft::parse(&blank).unwrap_err();
    assert_eq!(TagDraft::parse(TagDraft::new(" ", "")).unwrap_err(), of_json);
    let many = vec!["x".to_owned(); 21];
    let of_json = WholeMemory::parse(&body(json!({ "key_facts": many }))).unwrap_err();
    assert_eq!(WholeMemory::parse(WholeMemory::default().key_facts(many)).unwrap_err(), of_json);
    let early =
        DealDraft::new(ContactId::parse("01939b5e-0000-7000-8000-000000000001").unwrap(), "x")
            .stage_entered_at(Timestamp::from_millis(0));
    let problems = DealDraft::parse(early).unwrap_err();
    assert_eq!(problems.fields().collect::<Vec<_>>(), ["stage_entered_at"]);
}

#[tokio::test]
async fn a_typed_contact_without_a_phone_or_with_too_many_lists_is_refused_as_json_is() {
    let kit = Kit::new().await;
    let nameless = kit.app.contacts().create(&kit.caller, NewContact::default()).await;
    let json = kit.app.contacts().create(&kit.caller, &body(json!({}))).await;
    assert_eq!(refused(nameless), refused(json));
    let long = NewContact::new(phone("+5511987654321")).name("n".repeat(201));
    assert_eq!(
        refused(kit.app.contacts().create(&kit.caller, long).await).1["fields"],
        json!(["name"])
    );
}
