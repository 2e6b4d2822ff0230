//! Where rows are: the table of a kind of row, and the values of a key in it.

use recado_core::access::{ApiKey, Company, Member, Secret};
use recado_core::campaigns::{Campaign, Recipient};
use recado_core::connections::Connection;
use recado_core::contacts::{Alias, Contact, ContactTag};
use recado_core::conversations::Conversation;
use recado_core::custom_fields::CustomField;
use recado_core::deals::{Deal, Pipeline, Stage};
use recado_core::deliveries::{Delivery, Shard};
use recado_core::dispatches::DispatchWindow;
use recado_core::documents::Document;
use recado_core::gateway::UnknownKind;
use recado_core::groups::ConnectionGroup;
use recado_core::idempotency::RememberedCall;
use recado_core::inbound::InboundEndpoint;
use recado_core::jobs::Job;
use recado_core::leads::LeadMemory;
use recado_core::links::{Click, Link};
use recado_core::lists::{List, ListMember};
use recado_core::messages::{Message, MessageRef};
use recado_core::organizations::Organization;
use recado_core::prosas::LedgerLine;
use recado_core::store::{RowKey, Version};
use recado_core::tags::{CloseReason, Tag};
use recado_core::templates::Template;
use recado_core::webhooks::{Routes, Webhook};
use recado_core::workers::Worker;
use uuid::Uuid;

use crate::table::{Param, Sql, Table, params, signed};

/// A value of a key.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    /// An id.
    Id(Uuid),
    /// A number.
    Number(i64),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Anything else.
    Text(String),
}

impl Part {
    fn param(&self) -> Param {
        match self {
            Self::Id(id) => Box::new(*id),
            Self::Number(number) => Box::new(*number),
            Self::Bytes(bytes) => Box::new(bytes.clone()),
            Self::Text(text) => Box::new(text.clone()),
        }
    }
}

/// The statements of a table and the values of a key in it.
pub(crate) struct Place {
    pub(crate) table: &'static str,
    pub(crate) sql: &'static Sql,
    versioned: bool,
    pub(crate) key: Vec<Part>,
}

/// A place by the ids of its key.
macro_rules! ids {
    ($table:ty: $($id:expr),+) => {
        Place::of::<$table>(vec![$(Part::Id($id.uuid())),+])
    };
}

fn text(value: &str) -> Part {
    Part::Text(value.to_owned())
}

impl Place {
    fn of<T: Table>(key: Vec<Part>) -> Self {
        Self { table: T::NAME, sql: T::sql(), versioned: T::VERSIONED, key }
    }

    fn and(mut self, part: Part) -> Self {
        self.key.push(part);
        self
    }

    /// Where the row of a key is.
    pub(crate) fn find(key: &RowKey) -> Self {
        match key {
            RowKey::Company { company } => ids!(Company: company),
            RowKey::Secret { name } => Self::of::<Secret>(vec![text(name.as_str())]),
            RowKey::ApiKey { company, id } => ids!(ApiKey: company, id),
            RowKey::Member { company, id } => ids!(Member: company, id),
            RowKey::Contact { company, id } => ids!(Contact: company, id),
            RowKey::ContactTag { company, contact, tag } => {
                ids!(ContactTag: company, contact, tag)
            }
            RowKey::CustomField { company, id } => ids!(CustomField: company, id),
            RowKey::List { company, id } => ids!(List: company, id),
            RowKey::ListMember { company, list, contact } => {
                ids!(ListMember: company, list, contact)
            }
            RowKey::Tag { company, id } => ids!(Tag: company, id),
            RowKey::CloseReason { company, id } => ids!(CloseReason: company, id),
            RowKey::Pipeline { company, id } => ids!(Pipeline: company, id),
            RowKey::Stage { company, id } => ids!(Stage: company, id),
            RowKey::Deal { company, id } => ids!(Deal: company, id),
            RowKey::Organization { company, id } => ids!(Organization: company, id),
            RowKey::Document { company, id } => ids!(Document: company, id),
            RowKey::Link { company, id } => ids!(Link: company, id),
            RowKey::Click { company, id } => ids!(Click: company, id),
            RowKey::Job { company, id } => ids!(Job: company, id),
            RowKey::Connection { company, id } => ids!(Connection: company, id),
            RowKey::Group { company, connection, code } => {
                ids!(ConnectionGroup: company, connection).and(text(code.as_str()))
            }
            RowKey::Alias { company, platform, key } => {
                ids!(Alias: company).and(text(platform.as_str())).and(text(key.as_str()))
            }
            RowKey::Conversation { company, contact, connection } => {
                ids!(Conversation: company, contact, connection)
            }
            RowKey::Message { company, id } => ids!(Message: company, id),
            RowKey::MessageRef { company, connection, provider_id } => {
                ids!(MessageRef: company, connection).and(text(provider_id.as_str()))
            }
            RowKey::LeadMemory { company, contact } => ids!(LeadMemory: company, contact),
            RowKey::LedgerLine { company, id } => ids!(LedgerLine: company, id),
            RowKey::RememberedCall { company, key } => {
                ids!(RememberedCall: company).and(text(&key.operation)).and(text(&key.key))
            }
            RowKey::Worker { id } => ids!(Worker: id),
            RowKey::UnknownKind { company, connection, kind } => {
                ids!(UnknownKind: company, connection).and(text(kind))
            }
            RowKey::Template { company, id } => ids!(Template: company, id),
            RowKey::Webhook { company, id } => ids!(Webhook: company, id),
            RowKey::Routes { company } => ids!(Routes: company),
            RowKey::Delivery { company, id } => ids!(Delivery: company, id),
            RowKey::Shard { number } => {
                Self::of::<Shard>(vec![Part::Number(i64::from(number.number()))])
            }
            RowKey::InboundEndpoint { company, id } => ids!(InboundEndpoint: company, id),
            RowKey::DispatchWindow { company, contact, key } => {
                ids!(DispatchWindow: company, contact).and(Part::Bytes(key.as_bytes().to_vec()))
            }
            RowKey::Campaign { company, id } => ids!(Campaign: company, id),
            RowKey::Recipient { company, campaign, number } => {
                ids!(Recipient: company, campaign).and(Part::Number(i64::from(number.0)))
            }
        }
    }

    /// The values of the key.
    pub(crate) fn params(&self) -> Vec<Param> {
        self.key.iter().map(Part::param).collect()
    }

    /// The values of the key, and the version.
    pub(crate) fn params_at(&self, version: Version) -> Vec<Param> {
        let mut params = self.params();
        if self.versioned {
            params.extend(params![signed(version.number())]);
        }
        params
    }
}
