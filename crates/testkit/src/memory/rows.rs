//! Where the model keeps its rows: one map for each kind of record, and a journal to undo with.

use std::collections::{BTreeMap, HashMap};

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
use recado_core::store::{Row, RowKey, Stored, Version};
use recado_core::tags::{CloseReason, Tag};
use recado_core::templates::Template;
use recado_core::webhooks::{Routes, Webhook};
use recado_core::workers::Worker;

/// A type of record that is kept as a row.
pub(super) trait Kept: Clone + 'static {
    /// Its kind.
    const KIND: Kind;

    /// The record of a row of this kind.
    fn of(row: &Row) -> Option<&Self>;
}

macro_rules! kinds {
    ($($kind:ident: $record:ty,)+) => {
        /// The kinds of record.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[expect(clippy::enum_variant_names, reason = "one record is a kind of something itself")]
        pub(super) enum Kind {
            $($kind,)+
        }

        impl Kind {
            /// The kind of record that a key names; `None` for what is no row.
            pub(super) fn of_key(key: &RowKey) -> Option<Self> {
                match key {
                    $(RowKey::$kind { .. } => Some(Self::$kind),)+
                    RowKey::ExportFrontier { .. } => None,
                }
            }
        }

        $(impl Kept for $record {
            const KIND: Kind = Kind::$kind;

            fn of(row: &Row) -> Option<&Self> {
                match row {
                    Row::$kind(record) => Some(record),
                    _ => None,
                }
            }
        })+
    };
}

kinds! {
    Company: Company,
    ApiKey: ApiKey,
    Member: Member,
    Secret: Secret,
    Contact: Contact,
    ContactTag: ContactTag,
    CustomField: CustomField,
    List: List,
    ListMember: ListMember,
    Tag: Tag,
    CloseReason: CloseReason,
    Pipeline: Pipeline,
    Stage: Stage,
    Deal: Deal,
    Organization: Organization,
    Document: Document,
    Link: Link,
    Click: Click,
    Connection: Connection,
    Group: ConnectionGroup,
    Alias: Alias,
    Conversation: Conversation,
    Message: Message,
    MessageRef: MessageRef,
    LeadMemory: LeadMemory,
    LedgerLine: LedgerLine,
    RememberedCall: RememberedCall,
    Worker: Worker,
    UnknownKind: UnknownKind,
    Template: Template,
    Webhook: Webhook,
    Routes: Routes,
    Delivery: Delivery,
    Shard: Shard,
    InboundEndpoint: InboundEndpoint,
    DispatchWindow: DispatchWindow,
    Campaign: Campaign,
    Recipient: Recipient,
    Job: Job,
}

/// A row with its version.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) row: Row,
    pub(super) version: Version,
    /// Its place among all rows, in the order in which they were inserted.
    pub(super) place: u64,
}

/// All rows.
#[derive(Debug, Default)]
pub(super) struct Rows {
    kinds: BTreeMap<Kind, HashMap<RowKey, Entry>>,
    journal: Vec<(RowKey, Option<Entry>)>,
}

impl Rows {
    /// The row of a key.
    pub(super) fn entry(&self, key: &RowKey) -> Option<&Entry> {
        self.kinds.get(&Kind::of_key(key)?)?.get(key)
    }

    /// The record of a key.
    pub(super) fn get<T: Kept>(&self, key: &RowKey) -> Option<Stored<T>> {
        self.entry(key).and_then(stored)
    }

    /// All records of a kind, in no order.
    pub(super) fn all<T: Kept>(&self) -> impl Iterator<Item = &T> {
        self.entries(T::KIND).filter_map(|entry| T::of(&entry.row))
    }

    /// All records of a kind with their versions, in no order.
    pub(super) fn all_stored<T: Kept>(&self) -> impl Iterator<Item = Stored<T>> {
        self.entries(T::KIND).filter_map(stored)
    }

    /// All rows of a kind, in no order.
    pub(super) fn entries(&self, kind: Kind) -> impl Iterator<Item = &Entry> {
        self.kinds.get(&kind).into_iter().flat_map(HashMap::values)
    }

    /// All rows, in no order.
    pub(super) fn every_entry(&self) -> impl Iterator<Item = &Entry> {
        self.kinds.values().flat_map(HashMap::values)
    }

    /// Puts or removes a row, remembering what was there.
    pub(super) fn set(&mut self, key: RowKey, entry: Option<Entry>) {
        let before = self.replace(&key, entry);
        self.journal.push((key, before));
    }

    /// Makes everything since the last call of this or of [`Rows::undo`] permanent.
    pub(super) fn keep(&mut self) {
        self.journal.clear();
    }

    /// Takes everything back that was not made permanent.
    pub(super) fn undo(&mut self) {
        while let Some((key, before)) = self.journal.pop() {
            self.replace(&key, before);
        }
    }

    fn replace(&mut self, key: &RowKey, entry: Option<Entry>) -> Option<Entry> {
        let rows = self.kinds.entry(Kind::of_key(key)?).or_default();
        match entry {
            Some(entry) => rows.insert(key.clone(), entry),
            None => rows.remove(key),
        }
    }
}

fn stored<T: Kept>(entry: &Entry) -> Option<Stored<T>> {
    T::of(&entry.row).map(|record| Stored::new(record.clone(), entry.version))
}
