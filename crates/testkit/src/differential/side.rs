//! One store under test with its own core: runs commands and answers their results.

use std::sync::Arc;
use std::time::Duration;

use recado_core::access::{ApiKeyView, Caller, Company};
use recado_core::contacts::{ContactSummary, Created, ListQuery};
use recado_core::ids::*;
use recado_core::links::Visit;
use recado_core::query::Params;
use recado_core::store::Store;
use recado_core::{Clock as _, Error, Recado, Rejection};
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::command::{Command, Verb};
use super::rows::CompanyRows;
use super::world::World;
use super::{bodies, pools};
use crate::conformance::Harness;
use crate::kit::body;
use crate::transport::json_answer;
use crate::{Kit, MemoryFiles, ScriptedProvider, ScriptedTransport, SeededIds, TestClock};

/// One store with its own core.
pub(super) struct Side<'a> {
    pub(super) harness: &'a dyn Harness,
    pub(super) name: String,
    pub(super) app: Recado,
    pub(super) store: Arc<dyn Store>,
    pub(super) clock: TestClock,
    pub(super) provider: ScriptedProvider,
    transport: ScriptedTransport,
    pub(super) files: MemoryFiles,
    pub(super) companies: Vec<(Company, Caller)>,
    pub(super) rows: CompanyRows,
}

/// An answer as JSON.
pub(super) fn show<T: Serialize, E: Rejection>(outcome: Result<T, Error<E>>) -> Value {
    match outcome {
        Ok(answer) => json!({ "ok": answer }),
        Err(Error::Rejected(error)) => json!({
            "rejected": error.code().as_str(),
            "message": error.to_string(),
            "details": error.details(),
            "extra": error.extra(),
        }),
        Err(other) => json!({ "failed": format!("{other:?}") }),
    }
}

fn created(created: Created) -> Value {
    let mut shown = json!(ContactSummary::created(&created.contact));
    shown["organization_id"] = json!(created.contact.organization_id);
    shown["warnings"] = json!(created.warnings);
    shown
}

pub(super) fn nil(text: String) -> Uuid {
    Uuid::parse_str(&text).unwrap_or(Uuid::nil())
}

impl<'a> Side<'a> {
    pub(super) async fn start(name: &str, harness: &'a dyn Harness) -> Self {
        let (clock, files) = (TestClock::default(), MemoryFiles::new());
        let kit = Kit::builder()
            .store(harness.store().await)
            .ids(SeededIds::new(7))
            .clock(clock.clone())
            .files(files.clone())
            .build()
            .await;
        let other = kit.another_company("Outra").await;
        Self {
            harness,
            name: name.to_owned(),
            app: kit.app.clone(),
            store: kit.store.clone(),
            clock,
            transport: kit.transport,
            provider: kit.provider,
            files,
            companies: vec![(kit.company, kit.caller), other],
            rows: CompanyRows::start(harness.store().await).await,
        }
    }

    /// The company of a command, which is sometimes the second one.
    pub(super) fn company(&self, command: &Command) -> &(Company, Caller) {
        &self.companies[usize::from(command.once_in(63, 9))]
    }

    /// Runs a command; answers its result as JSON. Every command advances the clock.
    pub(super) async fn run(&self, command: &Command, world: &World) -> Value {
        self.clock.advance(Duration::from_millis(1 + command.number(62) as u64 % 3));
        match command.verb {
            Verb::CreateContact
            | Verb::UpdateContact
            | Verb::ImportContact
            | Verb::PatchContact
            | Verb::DeleteContact
            | Verb::MergeContacts
            | Verb::ReadContact => self.contact(command, world).await,
            Verb::Page | Verb::Export => self.listing(command, world).await,
            Verb::RunJobs => self.jobs(command).await,
            Verb::Upkeep => {
                json!([self.app.upkeep().await.is_ok(), self.app.uploads().sweep().await.ok()])
            }
            Verb::RevokeKey => self.revoke(command).await,
            Verb::ReadRecords => json!(self.records(&self.company(command).0).await),
            Verb::CreatePipeline
            | Verb::DeletePipeline
            | Verb::CreateDeal
            | Verb::ChangeDeal
            | Verb::DeleteDeal => self.deal(command, world).await,
            Verb::CreateLink
            | Verb::Follow
            | Verb::DeleteLink
            | Verb::Attach
            | Verb::ReadDocuments => self.attachment(command, world).await,
            Verb::InsertRow
            | Verb::ChangeRow
            | Verb::DeleteRow
            | Verb::MoveRows
            | Verb::ReadRows
            | Verb::InsertReach
            | Verb::ChangeReach
            | Verb::DeleteReach
            | Verb::MoveReach
            | Verb::ReadReach
            | Verb::Claim => self.rows.run(command, world, self.clock.now()).await,
            Verb::CreateConnection
            | Verb::ChangeConnection
            | Verb::DeleteConnection
            | Verb::PutGroups
            | Verb::Receive
            | Verb::Send
            | Verb::Reply
            | Verb::ReplyTemplate
            | Verb::AiTurn
            | Verb::Act
            | Verb::ImportMessage
            | Verb::Debit
            | Verb::Refund
            | Verb::Infer
            | Verb::CreateTemplate
            | Verb::DeleteTemplate
            | Verb::ListMessages => self.messaging(command, world).await,
            Verb::CreateWebhook
            | Verb::ChangeWebhook
            | Verb::DeleteWebhook
            | Verb::RotateSecret
            | Verb::TestWebhook
            | Verb::ChangePlan
            | Verb::Attempt
            | Verb::Redeliver
            | Verb::ReadDelivery
            | Verb::Forget
            | Verb::Sweep
            | Verb::ReadQueues
            | Verb::ReadJournal
            | Verb::ListDeliveries => self.outbound(command, world).await,
            _ => self.small_record(command, world).await,
        }
    }

    async fn contact(&self, command: &Command, world: &World) -> Value {
        let (company, caller) = self.company(command);
        let id = ContactId::new(nil(world.id("contact", command, 0)));
        let contacts = self.app.contacts();
        match command.verb {
            Verb::CreateContact => {
                let mut new = bodies::draft(command, world);
                new["phone"] = match command.number(1) % 3 {
                    0 => json!(command.pick(2, pools::PHONES)),
                    _ => json!(format!("+5534998{:06}", command.number(3) % 300)),
                };
                show(contacts.create(caller, &body(new)).await.map(created))
            }
            Verb::UpdateContact => {
                let change = bodies::draft(command, world);
                show(contacts.update(caller, id, &body(change)).await.map(created))
            }
            Verb::ImportContact => {
                let new = bodies::import(command, world);
                let outcome = contacts.import(company, &body(new)).await;
                show(outcome.map(|(id, warnings)| json!({ "id": id, "warnings": warnings })))
            }
            Verb::PatchContact => {
                let mut change = json!({ "is_pinned": command.once_in(1, 2) });
                if command.once_in(2, 2) {
                    change["crm_status"] = json!(command.pick(3, pools::CRM));
                }
                if command.once_in(4, 2) {
                    change["tag_ids"] = json!(world.ids_of("tag", command, 5, 3));
                }
                show(contacts.patch_as_operator(company.id, id, &body(change)).await)
            }
            Verb::DeleteContact => {
                let outcome = show(contacts.delete(caller, id).await);
                json!([outcome, self.files.keys()])
            }
            Verb::MergeContacts => {
                let other = ContactId::new(nil(world.id("contact", command, 1)));
                show(contacts.merge(company.id, id, other).await)
            }
            _ => {
                let detail = contacts.get(caller, id, command.once_in(1, 2)).await;
                let operator = contacts.get_for_operator(company.id, id).await;
                json!([show(detail), show(operator)])
            }
        }
    }

    async fn listing(&self, command: &Command, world: &World) -> Value {
        let (_, caller) = self.company(command);
        let mut params = match &world.export {
            Some((params, cursor)) if command.verb == Verb::Export && !command.once_in(0, 4) => {
                let mut params = params.clone();
                params.retain(|(name, _)| name != "cursor");
                params.push(("cursor".to_owned(), cursor.clone()));
                params
            }
            _ => bodies::filters(command, world),
        };
        let by_creation = command.verb == Verb::Export;
        if by_creation && !params.iter().any(|(name, _)| name == "order_by") {
            params.push(("order_by".to_owned(), "created_at".to_owned()));
        }
        if !by_creation && command.once_in(28, 2) {
            params.push(("page".to_owned(), (1 + command.number(29) % 4).to_string()));
        }
        let query = match ListQuery::parse(&Params::new(params.clone())) {
            Ok(query) => query,
            Err(error) => return show::<(), _>(Err(Error::Rejected(error))),
        };
        match query {
            ListQuery::Pages { filter, page, clicks } => {
                let page = self.app.contacts().page(caller, &filter, page, clicks).await;
                show(page.map(|page| json!({ "items": page.items, "total": page.total })))
            }
            ListQuery::Export(query) => {
                let part = self.app.contacts().export(caller, &query).await;
                show(part.map(|part| {
                    json!({
                        "items": part.items,
                        "total": part.total,
                        "next_cursor": part.next_cursor,
                        "params": params,
                    })
                }))
            }
        }
    }

    async fn small_record(&self, command: &Command, world: &World) -> Value {
        let company = self.company(command).0.id;
        let (app, name) = (&self.app, command.pick(1, pools::NAMES));
        let id = |kind: &str| nil(world.id(kind, command, 0));
        match command.verb {
            Verb::CreateList => show(app.lists().create(company, &named(name)).await),
            Verb::ChangeList => {
                let change = body(json!({ "is_active": command.once_in(2, 2) }));
                show(app.lists().change(company, ListId::new(id("list")), &change).await)
            }
            Verb::DeleteList => show(app.lists().delete(company, ListId::new(id("list"))).await),
            Verb::AddToList => {
                let contacts = world.ids_of("contact", command, 2, 5);
                let contacts = body(json!({ "contact_ids": contacts }));
                let (lists, list) = (app.lists(), ListId::new(id("list")));
                match command.number(7) % 5 {
                    0 => show(lists.remove_contacts(company, list, &contacts).await),
                    1 => show(lists.replace_contacts(company, list, &contacts).await),
                    _ => show(lists.add_contacts(company, list, &contacts).await),
                }
            }
            Verb::CreateTag => {
                let new = body(json!({ "name": name, "color": "#ff0000" }));
                show(app.tags().create(company, &new).await)
            }
            Verb::ChangeTag => {
                show(app.tags().change(company, TagId::new(id("tag")), &named(name)).await)
            }
            Verb::DeleteTag => show(app.tags().delete(company, TagId::new(id("tag"))).await),
            Verb::CreateReason => show(app.tags().create_close_reason(company, &named(name)).await),
            Verb::DeleteReason => {
                let id = CloseReasonId::new(id("reason"));
                show(app.tags().delete_close_reason(company, id).await)
            }
            Verb::CreateMember => {
                let new = body(json!({ "display_name": name }));
                show(app.access().create_member(company, &new).await)
            }
            Verb::DeleteMember => {
                show(app.access().delete_member(company, MemberId::new(id("member"))).await)
            }
            Verb::CreateField => {
                let slug = command.pick(2, pools::SLUGS);
                let new = body(json!({ "label": name, "slug": slug }));
                show(app.custom_fields().create(company, &new).await)
            }
            Verb::ChangeField => {
                let status = command.pick(2, &["active", "inactive", "pending"]);
                let change = body(json!({ "status": status }));
                let id = CustomFieldId::new(id("field"));
                show(app.custom_fields().change(company, id, &change).await)
            }
            _ => {
                let id = CustomFieldId::new(id("field"));
                show(app.custom_fields().delete(company, id).await)
            }
        }
    }

    async fn deal(&self, command: &Command, world: &World) -> Value {
        let company = self.company(command).0.id;
        let deals = self.app.deals();
        let stage = match command.number(1) % 5 {
            0 => Value::Null,
            _ => json!(world.id("stage", command, 2)),
        };
        let status = command.pick(3, &["open", "won", "lost"]);
        let id = DealId::new(nil(world.id("deal", command, 0)));
        match command.verb {
            Verb::CreatePipeline => {
                let stages = (0..command.number(1) % 4)
                    .map(|n| json!({ "name": format!("Etapa {n}"), "color": "#1e90ff" }));
                let new = json!({ "name": "Vendas", "stages": stages.collect::<Vec<_>>() });
                show(deals.create_pipeline(company, &body(new)).await)
            }
            Verb::DeletePipeline => {
                let id = PipelineId::new(nil(world.id("pipeline", command, 0)));
                show(deals.delete_pipeline(company, id).await)
            }
            Verb::CreateDeal => {
                let contact = world.id("contact", command, 4);
                let new = json!({
                    "contact_id": contact,
                    "title": "Venda",
                    "stage_id": stage,
                    "status": status,
                });
                show(deals.create(company, &body(new)).await)
            }
            Verb::ChangeDeal => {
                let change = if command.once_in(5, 2) {
                    json!({ "stage_id": stage })
                } else {
                    json!({ "status": status })
                };
                show(deals.change(company, id, &body(change)).await)
            }
            _ => show(deals.delete(company, id).await),
        }
    }

    async fn attachment(&self, command: &Command, world: &World) -> Value {
        let company = self.company(command).0.id;
        let contact = ContactId::new(nil(world.id("contact", command, 0)));
        match command.verb {
            Verb::CreateLink => {
                let new = json!({ "contact_id": contact, "url": "https://example.com/a?b=c" });
                show(self.app.links().create(company, &body(new)).await)
            }
            Verb::Follow => {
                let code = world.codes.get(command.number(0) % (world.codes.len() + 1));
                let code = code.map_or("abcdefghijklmnopqrstuv", String::as_str);
                let agent = command.pick(1, pools::AGENTS);
                let visit = Visit { user_agent: Some(agent), ..Visit::default() };
                show(self.app.links().follow(code, visit).await)
            }
            Verb::DeleteLink => {
                let id = LinkId::new(nil(world.id("link", command, 0)));
                show(self.app.links().delete(company, id).await)
            }
            Verb::Attach => {
                let bytes = vec![command.number(1) as u8; command.number(2) % 10];
                show(self.app.documents().attach(company, contact, "a.pdf", bytes).await)
            }
            _ => {
                let listed = show(self.app.documents().list(company, contact).await);
                let id = DocumentId::new(nil(world.id("document", command, 1)));
                let read = self.app.documents().read(company, contact, id).await;
                json!([listed, show(read)])
            }
        }
    }

    /// Runs up to three jobs. The answers of the transport vary.
    async fn jobs(&self, command: &Command) -> Value {
        let found = json!({ "razao_social": "PADARIA LTDA", "nome_fantasia": "Padaria" });
        self.transport.otherwise(match command.number(0) % 3 {
            0 => json_answer(200, &found),
            1 => json_answer(404, &json!({})),
            _ => json_answer(503, &json!({})),
        });
        if command.once_in(1, 3) {
            self.clock.advance(Duration::from_secs(40));
        }
        let mut worked = Vec::new();
        for _ in 0..3 {
            worked.push(self.app.jobs().run_one().await.map_err(|error| error.to_string()));
        }
        json!([format!("{worked:?}"), self.transport.requests().len()])
    }

    /// Creates a key and revokes it.
    async fn revoke(&self, command: &Command) -> Value {
        let company = self.company(command).0.id;
        let new = body(json!({ "name": "CRM", "scopes": ["contacts:read"] }));
        let made = match self.app.access().create_key(company, &new).await {
            Ok(made) => made,
            Err(error) => return show::<(), _>(Err(error)),
        };
        let secret = made.secret.expose();
        let known = self.app.access().authenticate(secret).await.is_ok();
        let revoked = show(self.app.access().revoke_key(company, made.key.id).await);
        let still = self.app.access().authenticate(secret).await.is_ok();
        json!([ApiKeyView::from(&made.key), known, revoked, still])
    }
}

fn named(name: &str) -> serde_json::Map<String, Value> {
    body(json!({ "name": name }))
}
