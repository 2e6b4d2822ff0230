//! Conversations through the core: gateway events, sends, operators' actions, the ledger.

use recado_core::Clock as _;
use recado_core::audit::AuditRequest;
use recado_core::conversations::ActionName;
use recado_core::gateway::SendFailure;
use recado_core::ids::*;
use recado_core::inbox::parse_event;
use recado_core::messages::{DeliveryCode, MessagePage};
use recado_core::page::PageRequest;
use recado_core::prosas::LedgerFilter;
use recado_core::query::Params;
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::command::{Command, Verb};
use super::messaging_bodies as bodies;
use super::side::{Side, show};
use super::world::World;
use crate::kit::body;

fn listing<T: Serialize>(page: MessagePage<T>) -> Value {
    json!([page.items, page.pagination])
}

impl Side<'_> {
    /// Runs a command about conversations; answers its result as JSON.
    pub(super) async fn messaging(&self, command: &Command, world: &World) -> Value {
        let (company, caller) = self.company(command);
        let (app, now, company) = (&self.app, self.clock.now(), company.id);
        let id = |kind: &str| Uuid::parse_str(&world.id(kind, command, 0)).unwrap_or(Uuid::nil());
        let connection = ConnectionId::new(id("connection"));
        let contact = ContactId::new(id("contact"));
        self.provider.otherwise(match command.number(1) % 8 {
            0 => Some(SendFailure::refused(DeliveryCode::Payment, "pague")),
            1 => Some(SendFailure::uncertain("no answer")),
            _ => None,
        });
        match command.verb {
            Verb::CreateConnection => {
                show(app.connections().create(company, &body(bodies::connection(command))).await)
            }
            Verb::ChangeConnection => {
                let active = json!({ "is_active": !command.once_in(2, 4) });
                show(app.connections().change(company, connection, &body(active)).await)
            }
            Verb::DeleteConnection => show(app.connections().delete(company, connection).await),
            Verb::PutGroups => {
                show(app.groups().replace(company, connection, &bodies::groups(command)).await)
            }
            Verb::Receive => {
                let count = 1 + command.number(2) % 4;
                let suffix = &app.settings().group_suffix;
                let events = (0..count).map(|n| 64 + n * 32);
                let events = events.map(|n| match bodies::rare_event(command, n, now) {
                    Some(event) => Ok(event),
                    None => parse_event(&bodies::event(command, world, n, now), suffix),
                });
                let events = events.collect();
                show(app.inbox().receive(company, connection, events).await)
            }
            Verb::Send => {
                show(app.sending().send_text(caller, &body(bodies::text(command, world))).await)
            }
            Verb::Reply => {
                let reply = body(json!({ "message": "já vai" }));
                show(app.conversations().reply(company, contact, &reply).await)
            }
            Verb::ReplyTemplate => {
                let reply = body(json!({ "template": "promo", "variables": { "1": "Ana" } }));
                show(app.conversations().reply_template(company, contact, &reply).await)
            }
            Verb::AiTurn => {
                let turn = json!({ "messages": ["um", "dois"], "prosas": 3, "cost_brl": 0.3 });
                show(app.conversations().ai_turn(company, contact, &body(turn)).await)
            }
            Verb::Act => {
                let (name, given) = bodies::action(command, world, now);
                let name = ActionName::parse(name).expect("an action");
                show(app.conversations().act(company, contact, name, &body(given)).await)
            }
            Verb::ImportMessage => {
                let new = body(bodies::message(command, world, now));
                show(app.messages().import(company, &new).await)
            }
            Verb::Debit => {
                let debit = body(bodies::booking(command, world, false));
                show(app.prosas().debit(company, &debit).await)
            }
            Verb::Refund => {
                let refund = body(bodies::booking(command, world, true));
                show(app.prosas().refund(company, &refund).await)
            }
            Verb::Infer => {
                let inferred = body(bodies::inferred(command));
                show(app.leads().merge(company, contact, &inferred).await)
            }
            Verb::CreateTemplate => {
                let new = body(bodies::template(command, world));
                show(app.templates().create(company, &new).await)
            }
            Verb::DeleteTemplate => {
                show(app.templates().delete(company, TemplateId::new(id("template"))).await)
            }
            _ => {
                let params = Params::new(bodies::message_filters(command, world, now));
                let listed = app.messages().list(caller, &params).await;
                let of_contact = app.messages().list_of_contact(caller, contact, &params).await;
                json!([show(listed.map(listing)), show(of_contact.map(listing))])
            }
        }
    }

    /// The answers of all reads about the conversations of a company.
    pub(super) async fn all_messaging(&self, company: CompanyId, world: &World) -> Vec<Value> {
        let app = &self.app;
        let page = PageRequest { page: 1, limit: 100 };
        let params = Params::new(vec![("limit".to_owned(), "100".to_owned())]);
        let mut everything = vec![
            show(app.connections().all(company).await),
            show(app.templates().all(company).await),
            show(app.messages().list_of_company(company, &params).await.map(listing)),
            json!(format!(
                "{:?}",
                app.prosas().lines(company, &LedgerFilter::default(), page).await
            )),
        ];
        let known = |kind: &str| world.ids.get(kind).into_iter().flatten();
        for id in known("connection").filter_map(|id| ConnectionId::parse(id)) {
            everything.push(show(app.groups().all(company, id).await));
            everything.push(show(app.connections().unknown_events(company, id).await));
        }
        for id in known("contact").filter_map(|id| ContactId::parse(id)) {
            everything.push(show(app.leads().get(company, id).await));
        }
        let request = AuditRequest::parse(&params).unwrap_or_default();
        let log = app.audit().list(Some(company), &request).await;
        everything.push(json!(format!("{log:?}")));
        everything
    }
}
