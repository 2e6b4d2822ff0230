//! Reads of all rows except contacts: by key, and listings by `created_at`, then `id`.

use std::collections::BTreeSet;

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::access::{AccessReads, ApiKey, Company, KeyHash};
use recado_core::audit::AuditEntry;
use recado_core::custom_fields::{CustomField, CustomFieldReads};
use recado_core::deals::{Deal, DealReads};
use recado_core::documents::{Document, DocumentReads};
use recado_core::for_each_listing;
use recado_core::ids::{CompanyId, ContactId, ListId, UploadId};
use recado_core::jobs::{Job, JobKind, JobReads};
use recado_core::links::{Link, LinkCodeHash, LinkReads};
use recado_core::lists::{List, ListCandidates, ListMember, ListReads};
use recado_core::messages::Message;
use recado_core::store::{
    Listing, ManyRows, OnDelete, Record, Records, Reference, Removable, Row, RowKey, RowKind,
    StoreError, Stored,
};
use recado_core::uploads::Upload;
use uuid::Uuid;

use super::{MemoryStore, State};

impl State {
    /// All records of a kind that fulfil a condition, sorted by `order`.
    pub(super) fn sorted<T: Record, K: Ord>(
        &self,
        wanted: impl Fn(&T) -> bool,
        order: impl Fn(&T) -> K,
    ) -> Vec<T> {
        let mut records: Vec<T> = self.rows.all::<T>().filter(|r| wanted(r)).cloned().collect();
        records.sort_by_key(order);
        records
    }

    fn members_of(&self, list: &List) -> u64 {
        let members = self.rows.all::<ListMember>();
        members.filter(|m| m.company == list.company && m.list == list.id).count() as u64
    }
}

impl State {
    /// The rows of a kind that refer to a contact.
    pub(super) fn referring_to(
        &self,
        company: CompanyId,
        kind: RowKind,
        contact: ContactId,
    ) -> Vec<Row> {
        let key = RowKey::Contact { company, id: contact };
        let rows = self.rows.entries(kind);
        let refers = |row: &Row| row.references().iter().any(|(_, to)| *to == key);
        rows.filter(|entry| refers(&entry.row)).map(|entry| entry.row.clone()).collect()
    }

    /// The rows of [`Listing::About`].
    fn about(
        &self,
        company: CompanyId,
        kind: RowKind,
        contact: ContactId,
        after: Uuid,
        limit: u32,
    ) -> Vec<Stored<Row>> {
        if kind == RowKind::Message {
            return Vec::new();
        }
        let mut found: Vec<(Option<Uuid>, Stored<Row>)> = self
            .referring_to(company, kind, contact)
            .into_iter()
            .filter_map(|row| {
                let version = self.rows.entry(&row.key())?.version;
                Some((id_of(&row), Stored::new(row, version)))
            })
            .filter(|(id, _)| id.is_none_or(|id| id > after))
            .collect();
        found.sort_by_key(|(id, _)| *id);
        found.into_iter().take(limit as usize).map(|(_, row)| row).collect()
    }
}

/// All rows of a listing, in its order.
macro_rules! listed {
    (
        [$state:expr, $listing:expr]
        company { $($name:ident($record:ty) by $($order:ident),+;)+ }
        installation { $($global:ident($global_record:ty) by $($global_order:ident),+;)+ }
    ) => {
        match $listing {
            $(Listing::$name(company) => {
                any($state.sorted_stored(|r: &$record| r.company == company, |r| ($(r.$order),+)))
            })+
            $(Listing::$global => {
                any($state.sorted_stored(|_: &$global_record| true, |r| ($(r.$global_order),+,)))
            })+
            Listing::CompaniesWith { kind } => {
                let entries = $state.rows.entries(kind).filter(|_| kind.is_of_company());
                let having: BTreeSet<_> =
                    entries.filter_map(|entry| entry.row.key().company()).collect();
                any($state.sorted_stored(|c: &Company| having.contains(&c.id), |c| c.id))
            }
            Listing::Oldest { company, kind, until, limit } => {
                let mut old: Vec<_> = $state
                    .rows
                    .entries(kind)
                    .filter_map(|entry| Some((aged(&entry.row, company)?, entry)))
                    .filter(|((at, _), _)| *at <= until)
                    .collect();
                old.sort_by_key(|(place, _)| *place);
                let old = old.into_iter().take(limit as usize);
                old.map(|(_, entry)| Stored::new(entry.row.clone(), entry.version)).collect()
            }
            Listing::Unused { company, kind, limit } => $state
                .rows
                .entries(kind)
                .filter(|entry| entry.row.key().company() == Some(company))
                .filter(|entry| may_be_unused(&entry.row))
                .filter(|entry| $state.referring(&entry.row.key()).is_empty())
                .take(limit as usize)
                .map(|entry| Stored::new(entry.row.clone(), entry.version))
                .collect(),
            Listing::Carried { company, contact, limit } => {
                let carried: Vec<UploadId> = $state
                    .rows
                    .all::<Message>()
                    .filter(|message| (message.company, message.contact) == (company, contact))
                    .filter_map(|message| message.media.upload)
                    .collect();
                let found = $state.sorted_stored(
                    |upload: &Upload| upload.company == company && carried.contains(&upload.id),
                    |upload| upload.id,
                );
                any(found.into_iter().take(limit as usize).collect())
            }
            Listing::Audited { company, before, limit } => {
                let wanted = |entry: &AuditEntry| {
                    (entry.at, entry.id) < before
                        && company.is_none_or(|company| entry.company == Some(company))
                };
                let found = $state.sorted_stored(wanted, |entry| (entry.at, entry.id));
                any(found.into_iter().rev().take(limit as usize).collect())
            }
            Listing::AuditedBefore { until, limit } => {
                let wanted = |entry: &AuditEntry| entry.at <= until;
                let found = $state.sorted_stored(wanted, |entry| (entry.at, entry.id));
                any(found.into_iter().take(limit as usize).collect())
            }
            Listing::About { company, kind, contact, after, limit } => {
                $state.about(company, kind, contact, after, limit)
            }
            Listing::MessagesOf { company, contact, direction, is_history, after, limit } => {
                let found = $state.sorted_stored(
                    |message: &Message| {
                        (message.company, message.contact) == (company, contact)
                            && (message.direction, message.is_history) == (direction, is_history)
                            && (message.created_at, message.id) > after
                    },
                    |message| (message.created_at, message.id),
                );
                any(found.into_iter().take(limit as usize).collect())
            }
            Listing::LastMessages { company, contacts } => {
                let found = $state.sorted_stored(
                    |message: &Message| {
                        message.company == company && contacts.contains(&message.contact)
                    },
                    |message| (message.contact, message.created_at, message.id),
                );
                let last = found.chunk_by(|one, next| one.contact == next.contact);
                any(last.filter_map(|of_one| of_one.last().cloned()).collect())
            }
            Listing::Some { company, kind, limit } => $state
                .rows
                .entries(kind)
                .filter(|entry| kind.is_of_company() && entry.row.key().company() == Some(company))
                .take(limit as usize)
                .map(|entry| Stored::new(entry.row.clone(), entry.version))
                .collect(),
        }
    };
}

/// The id of a row in [`Listing::About`], if its kind has one.
fn id_of(row: &Row) -> Option<Uuid> {
    match row {
        Row::Deal(row) => Some(row.id.uuid()),
        Row::Document(row) => Some(row.id.uuid()),
        Row::Link(row) => Some(row.id.uuid()),
        Row::Click(row) => Some(row.id.uuid()),
        Row::LedgerLine(row) => Some(row.id.uuid()),
        Row::UnknownEvent(row) => Some(row.id.uuid()),
        _ => None,
    }
}

/// Whether a row can be in [`Listing::Unused`].
fn may_be_unused(row: &Row) -> bool {
    match row {
        Row::Organization(_) => true,
        Row::Upload(upload) => upload.expires_at.is_none(),
        _ => false,
    }
}

/// The place of a row in [`Listing::Oldest`], if it can be there.
fn aged(row: &Row, company: CompanyId) -> Option<(Timestamp, Uuid)> {
    let (of, at, id) = match row {
        Row::Message(message) => (message.company, message.created_at, message.id.uuid()),
        Row::LedgerLine(line) => (line.company, line.created_at, line.id.uuid()),
        Row::Click(click) => (click.company, click.at, click.id.uuid()),
        Row::Upload(upload) => (upload.company, upload.expires_at?, upload.id.uuid()),
        _ => return None,
    };
    (of == company).then_some((at, id))
}

fn any<T: Record>(records: Vec<Stored<T>>) -> Vec<Stored<Row>> {
    records.into_iter().map(|stored| stored.map(T::into)).collect()
}

#[async_trait]
impl Records for MemoryStore {
    async fn row(&self, key: &RowKey) -> Result<Option<Stored<Row>>, StoreError> {
        let state = self.state();
        let entry = state.rows.entry(key);
        Ok(entry.map(|entry| Stored::new(entry.row.clone(), entry.version)))
    }

    async fn rows(&self, listing: Listing) -> Result<Vec<Stored<Row>>, StoreError> {
        let state = self.state();
        Ok(for_each_listing!(listed [state, listing]))
    }

    async fn is_in_use(&self, company: CompanyId, record: Removable) -> Result<bool, StoreError> {
        let uses = |(reference, _): &(Reference, RowKey)| {
            matches!(reference.on_delete, OnDelete::Restrict | OnDelete::Keep)
        };
        Ok(self.state().referring(&record.key(company)).iter().any(uses))
    }

    async fn count_about(
        &self,
        company: CompanyId,
        kind: RowKind,
        contact: ContactId,
    ) -> Result<u64, StoreError> {
        Ok(self.state().referring_to(company, kind, contact).len() as u64)
    }

    async fn has_many(
        &self,
        company: CompanyId,
        contact: ContactId,
        than: u32,
    ) -> Result<ManyRows, StoreError> {
        Ok(self.state().has_many(company, contact, than as usize))
    }
}

#[async_trait]
impl AccessReads for MemoryStore {
    async fn key_by_hash(&self, hash: &KeyHash) -> Result<Option<(ApiKey, Company)>, StoreError> {
        let state = self.state();
        let Some(key) = state.rows.all::<ApiKey>().find(|key| key.hash == *hash).cloned() else {
            return Ok(None);
        };
        let company = state.rows.get::<Company>(&RowKey::Company { company: key.company });
        Ok(company.map(|company| (key, company.into_value())))
    }
}

#[async_trait]
impl CustomFieldReads for MemoryStore {
    async fn custom_field_by_slug(
        &self,
        company: CompanyId,
        slug: &str,
    ) -> Result<Option<Stored<CustomField>>, StoreError> {
        let state = self.state();
        let mut fields = state.rows.all_stored::<CustomField>();
        Ok(fields.find(|field| field.company == company && field.slug == slug))
    }
}

#[async_trait]
impl DealReads for MemoryStore {
    async fn deals(
        &self,
        company: CompanyId,
        contact: Option<ContactId>,
    ) -> Result<Vec<Deal>, StoreError> {
        let wanted = |deal: &Deal| {
            deal.company == company && contact.is_none_or(|contact| deal.contact_id == contact)
        };
        Ok(self.state().sorted(wanted, |r| (r.created_at, r.id)))
    }
}

#[async_trait]
impl DocumentReads for MemoryStore {
    async fn documents(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Vec<Stored<Document>>, StoreError> {
        let state = self.state();
        let mut documents: Vec<Stored<Document>> = state
            .rows
            .all_stored::<Document>()
            .filter(|document| document.company == company && document.contact_id == contact)
            .collect();
        documents.sort_by_key(|document| (document.created_at, document.id));
        Ok(documents)
    }
}

#[async_trait]
impl JobReads for MemoryStore {
    async fn job_like(
        &self,
        company: CompanyId,
        kind: &JobKind,
    ) -> Result<Option<Stored<Job>>, StoreError> {
        let state = self.state();
        let about = |kind: &JobKind| (kind.name(), kind.subject());
        Ok(state
            .rows
            .all_stored::<Job>()
            .find(|job| job.company == company && about(&job.kind) == about(kind)))
    }
}

#[async_trait]
impl LinkReads for MemoryStore {
    async fn link_by_code(&self, code: &LinkCodeHash) -> Result<Option<Stored<Link>>, StoreError> {
        Ok(self.state().rows.all_stored::<Link>().find(|link| link.code_hash == *code))
    }
}

#[async_trait]
impl ListReads for MemoryStore {
    async fn list(
        &self,
        company: CompanyId,
        id: ListId,
    ) -> Result<Option<(Stored<List>, u64)>, StoreError> {
        let state = self.state();
        let list = state.rows.get::<List>(&RowKey::List { company, id });
        Ok(list.map(|list| {
            let members = state.members_of(&list);
            (list, members)
        }))
    }

    async fn lists(&self, company: CompanyId) -> Result<Vec<(List, u64)>, StoreError> {
        let state = self.state();
        let lists = state.sorted(|r: &List| r.company == company, |r| (r.created_at, r.id));
        Ok(lists
            .into_iter()
            .map(|list| {
                let members = state.members_of(&list);
                (list, members)
            })
            .collect())
    }

    async fn list_candidates(
        &self,
        company: CompanyId,
        list: ListId,
        contacts: &[ContactId],
        first: u32,
    ) -> Result<ListCandidates, StoreError> {
        let state = self.state();
        let there = |key: RowKey| state.rows.entry(&key).is_some();
        let exists = |id: &&ContactId| there(RowKey::Contact { company, id: **id });
        let is_member =
            |id: &&ContactId| there(RowKey::ListMember { company, list, contact: **id });
        let all = state.rows.all::<ListMember>();
        let of_list = all.filter(|member| member.company == company && member.list == list);
        let mut by_id: Vec<_> = of_list.map(|member| member.contact).collect();
        by_id.sort_unstable();
        by_id.truncate(first as usize);
        Ok(ListCandidates {
            existing: contacts.iter().filter(exists).copied().collect(),
            members: contacts.iter().filter(is_member).copied().collect(),
            first: by_id,
        })
    }
}
