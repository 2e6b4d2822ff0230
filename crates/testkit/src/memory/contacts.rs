//! Reads of contacts.

use std::cmp::Reverse;

use async_trait::async_trait;
use recado_core::access::Member;
use recado_core::contacts::{
    Contact, ContactFilter, ContactReads, ContactRecord, ContactSet, ContactSlice, ContactTag,
    DraftFacts, DraftQuery, ExportPosition, Identifier, ListBrief, OrganizationKey, Platform,
    Related,
};
use recado_core::custom_fields::CustomField;
use recado_core::ids::{CompanyId, ContactId};
use recado_core::leads::LeadMemory;
use recado_core::links::{Link, LinkClicks};
use recado_core::lists::{List, ListMember};
use recado_core::organizations::Organization;
use recado_core::page::PageRequest;
use recado_core::store::{RowKey, StoreError, Stored};
use recado_core::tags::Tag;

use super::{MemoryStore, State};

impl State {
    /// All contacts of a company that pass a filter, in no order.
    fn passing(&self, company: CompanyId, filter: &ContactFilter) -> Vec<Stored<Contact>> {
        let passes = |contact: &Contact| {
            contact.company == company
                && contact.facets().pass(filter)
                && filter.since(contact.updated_at, contact.last_message_at)
                && filter.sets().into_iter().all(|set| self.is_in(contact, set))
                && filter
                    .search
                    .as_ref()
                    .is_none_or(|search| search.matches(&contact.search_text()))
        };
        self.rows.all_stored::<Contact>().filter(|contact| passes(contact)).collect()
    }

    fn is_in(&self, contact: &Contact, set: ContactSet) -> bool {
        let (company, id) = (contact.company, contact.id);
        let row = match set {
            ContactSet::List(list) => RowKey::ListMember { company, list, contact: id },
            ContactSet::Tag(tag) => RowKey::ContactTag { company, contact: id, tag },
            ContactSet::Member(member) => return contact.assigned_to_member_id == Some(member),
            ContactSet::OptedOut(of) => return company == of && contact.opted_out_at.is_some(),
            ContactSet::Connection(id) => return contact.last_connection_id == Some(id),
        };
        self.rows.entry(&row).is_some()
    }

    /// A contact as both listings show it.
    fn record(&self, contact: Stored<Contact>, clicks: bool) -> ContactRecord {
        let (company, id) = (contact.company, contact.id);
        let organization = contact
            .organization_id
            .and_then(|id| self.rows.get::<Organization>(&RowKey::Organization { company, id }));
        let stage =
            contact.pipeline_stage_id.and_then(|id| self.rows.get(&RowKey::Stage { company, id }));
        let related = Related {
            assigned_to: None,
            organization: organization.map(Stored::into_value),
            stage: stage.map(Stored::into_value),
            tags: self.tags_of(company, id),
            clicks: clicks.then(|| self.human_clicks(company, id)),
            lists: Vec::new(),
            conversations: Vec::new(),
            lead_memory: None,
        };
        ContactRecord { contact, related }
    }

    fn tags_of(&self, company: CompanyId, contact: ContactId) -> Vec<Tag> {
        let given = self.rows.all::<ContactTag>();
        let given = given.filter(|tag| tag.company == company && tag.contact == contact);
        let mut tags: Vec<Tag> = given
            .filter_map(|tag| self.rows.get::<Tag>(&RowKey::Tag { company, id: tag.tag }))
            .map(Stored::into_value)
            .collect();
        tags.sort_by_key(|tag| (tag.created_at, tag.id));
        tags
    }

    fn lists_of(&self, company: CompanyId, contact: ContactId) -> Vec<ListBrief> {
        let joined = self.rows.all::<ListMember>();
        let joined = joined.filter(|member| member.company == company && member.contact == contact);
        let mut lists: Vec<List> = joined
            .filter_map(|member| self.rows.get::<List>(&RowKey::List { company, id: member.list }))
            .map(Stored::into_value)
            .collect();
        lists.sort_by_key(|list| (list.created_at, list.id));
        lists.into_iter().map(|list| ListBrief { id: list.id, name: list.name }).collect()
    }

    fn human_clicks(&self, company: CompanyId, contact: ContactId) -> LinkClicks {
        let links = self.rows.all::<Link>();
        let links = links.filter(|link| link.company == company && link.contact == contact);
        links.fold(LinkClicks::default(), |sum, link| LinkClicks {
            total: sum.total + link.clicks.total,
            last_at: sum.last_at.max(link.clicks.last_at),
        })
    }

    fn fields_of(&self, company: CompanyId) -> Vec<CustomField> {
        let mut fields: Vec<CustomField> = self
            .rows
            .all::<CustomField>()
            .filter(|field| field.company == company)
            .cloned()
            .collect();
        fields.sort_by_key(|field| (field.created_at, field.id));
        fields
    }

    fn slice(
        &self,
        company: CompanyId,
        contacts: Vec<Stored<Contact>>,
        total: usize,
        clicks: bool,
    ) -> ContactSlice {
        ContactSlice {
            records: contacts.into_iter().map(|contact| self.record(contact, clicks)).collect(),
            total: total as u64,
            more: false,
            fields: self.fields_of(company),
        }
    }

    fn draft_facts(&self, company: CompanyId, query: &DraftQuery) -> DraftFacts {
        let rows = &self.rows;
        let holders = self.holders_of(company, None, &query.keys);
        let holds = |contact: &&Contact| {
            contact.company == company
                && (query.identifiers.contains(&contact.identifier)
                    || contact.phone.as_ref().is_some_and(|phone| query.phones.contains(phone))
                    || holders.contains(&contact.id))
        };
        let holder =
            rows.all::<Contact>().filter(holds).min_by_key(|held| (held.created_at, held.id));
        let email_holder = rows.all::<Contact>().find(|contact| {
            contact.company == company && query.email.is_some() && contact.email == query.email
        });
        let is_asked_for = |organization: &Organization| match &query.organization {
            None => false,
            Some(OrganizationKey::Cnpj(cnpj)) => organization.cnpj == *cnpj,
            Some(OrganizationKey::Id(id)) => organization.id == *id,
        };
        let organization = rows
            .all_stored::<Organization>()
            .find(|organization| organization.company == company && is_asked_for(organization));
        let in_list = |list| {
            let contact = query.contact?;
            rows.entry(&RowKey::ListMember { company, list, contact }).map(|_| list)
        };
        let tagged = query.contact.map(|contact| self.tags_of(company, contact));
        DraftFacts {
            contact: query.contact.and_then(|id| rows.get(&RowKey::Contact { company, id })),
            member_of: query.lists.iter().filter_map(|list| in_list(*list)).collect(),
            tagged: tagged.into_iter().flatten().map(|tag| tag.id).collect(),
            holder: holder.map(|contact| contact.id),
            email_holder: email_holder.map(|contact| contact.id),
            organization,
            lists: query
                .lists
                .iter()
                .filter_map(|id| rows.get(&RowKey::List { company, id: *id }))
                .collect(),
            fields: self.sorted_stored(
                |field: &CustomField| {
                    field.company == company
                        && (query.fields.contains(&field.id) || query.slugs.contains(&field.slug))
                },
                |field| field.id,
            ),
            tags: query
                .tags
                .iter()
                .filter_map(|id| rows.get(&RowKey::Tag { company, id: *id }))
                .collect(),
            member: query
                .member
                .is_some_and(|id| rows.entry(&RowKey::Member { company, id }).is_some()),
            close_reason: query
                .close_reason
                .is_some_and(|id| rows.entry(&RowKey::CloseReason { company, id }).is_some()),
            connection: query
                .connection
                .and_then(|id| rows.get(&RowKey::Connection { company, id })),
            alias_taken: query.alias.clone().is_some_and(|(platform, key)| {
                rows.entry(&RowKey::Alias { company, platform, key }).is_some()
            }),
            export_frontier: self.frontiers.get(&company).copied(),
        }
    }
}

#[async_trait]
impl ContactReads for MemoryStore {
    async fn contact_record(
        &self,
        company: CompanyId,
        id: ContactId,
    ) -> Result<Option<(ContactRecord, Vec<CustomField>)>, StoreError> {
        let state = self.state();
        let Some(contact) = state.rows.get::<Contact>(&RowKey::Contact { company, id }) else {
            return Ok(None);
        };
        let assigned_to = contact
            .assigned_to_member_id
            .and_then(|id| state.rows.get::<Member>(&RowKey::Member { company, id }));
        let mut record = state.record(contact, false);
        record.related.assigned_to = assigned_to.map(Stored::into_value);
        record.related.lists = state.lists_of(company, id);
        record.related.conversations = state.conversations_of(company, id);
        let memory = state.rows.get::<LeadMemory>(&RowKey::LeadMemory { company, contact: id });
        record.related.lead_memory = memory.map(Stored::into_value);
        Ok(Some((record, state.fields_of(company))))
    }

    async fn contact_by_identifier(
        &self,
        company: CompanyId,
        platform: &Platform,
        identifier: &Identifier,
    ) -> Result<Option<Stored<Contact>>, StoreError> {
        let state = self.state();
        Ok(state.rows.all_stored::<Contact>().find(|contact| {
            contact.company == company
                && contact.source_platform == *platform
                && contact.identifier == *identifier
        }))
    }

    async fn contact_page(
        &self,
        company: CompanyId,
        filter: &ContactFilter,
        page: PageRequest,
        clicks: bool,
    ) -> Result<ContactSlice, StoreError> {
        let state = self.state();
        let mut contacts = state.passing(company, filter);
        let total = contacts.len();
        // `None` is less than every time, so it is last in descending order.
        contacts.sort_by_key(|contact| (Reverse(contact.last_message_at), contact.id));
        let before = usize::try_from(page.offset()).unwrap_or(usize::MAX);
        let contacts = contacts.into_iter().skip(before).take(page.limit as usize).collect();
        Ok(state.slice(company, contacts, total, clicks))
    }

    async fn contact_export(
        &self,
        company: CompanyId,
        filter: &ContactFilter,
        after: Option<ExportPosition>,
        limit: u32,
        clicks: bool,
    ) -> Result<ContactSlice, StoreError> {
        let mut state = self.state();
        let mut contacts = state.passing(company, filter);
        let total = contacts.len();
        contacts.sort_by_key(|contact| ExportPosition::of(contact));
        contacts.retain(|contact| after.is_none_or(|after| ExportPosition::of(contact) > after));
        let more = contacts.len() > limit as usize;
        contacts.truncate(limit as usize);
        if let Some(last) = contacts.last().filter(|_| more) {
            let frontier = state.frontiers.entry(company).or_insert(last.created_at);
            *frontier = last.created_at.max(*frontier);
        }
        let slice = state.slice(company, contacts, total, clicks);
        Ok(ContactSlice { more, ..slice })
    }

    async fn draft_facts(
        &self,
        company: CompanyId,
        query: &DraftQuery,
    ) -> Result<DraftFacts, StoreError> {
        Ok(self.state().draft_facts(company, query))
    }
}
