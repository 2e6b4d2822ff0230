//! What the schema says of each kind of row: what it refers to, with what it goes, and which of its
//! values are unique.

use std::any::Any;

use recado_core::access::KeyHash;
use recado_core::contacts::{Email, Identifier, Platform};
use recado_core::ids::{CampaignId, CompanyId, ContactId};
use recado_core::inbound::EndpointSlug;
use recado_core::links::LinkCode;
use recado_core::messages::RefTarget;
use recado_core::organizations::Cnpj;
use recado_core::store::{Row, RowKey, RowKind, UniqueKey};
use uuid::Uuid;

macro_rules! companies {
    ($($(#[$doc:meta])* $Name:ident($Record:ty) {
        $first:ident: $Type:ty $(= $($from:ident).+)? $(, $($rest:tt)*)?
    } $version:ident;)+) => {
        /// The company of a row: the first part of its key, unless that is something else.
        fn company_of(key: &RowKey) -> Option<CompanyId> {
            let first: &dyn Any = match key {
                $(RowKey::$Name { $first, .. } => $first,)+
            };
            first.downcast_ref().copied()
        }
    };
}
recado_core::for_each_row!(companies);

/// The rows that must be there for this one to be there: its company, and what else it names.
pub(super) fn refers_to(row: &Row) -> Vec<RowKey> {
    // Deliveries outlive nothing that they name by reference: what they need is kept for them.
    if matches!(row, Row::Company(_) | Row::Delivery(_)) {
        return Vec::new();
    }
    let company = company_of(&row.key()).map(|company| RowKey::Company { company });
    company.into_iter().chain(names(row)).collect()
}

/// What a row refers to beside its company.
fn names(row: &Row) -> Vec<RowKey> {
    match row {
        // A campaign outlives its template, its list and its connection, and a window and a
        // recipient name their message without referring to it.
        Row::DispatchWindow(window) => {
            vec![RowKey::Contact { company: window.company, id: window.contact }]
        }
        Row::Recipient(recipient) => {
            let own = recipient.company;
            let campaign = RowKey::Campaign { company: own, id: recipient.campaign };
            let contact = recipient.contact.map(|id| RowKey::Contact { company: own, id });
            [Some(campaign), contact].into_iter().flatten().collect()
        }
        Row::Stage(stage) => vec![RowKey::Pipeline { company: stage.company, id: stage.pipeline }],
        Row::Contact(contact) => {
            let own = contact.company;
            let organization = contact.organization_id;
            let stage = contact.pipeline_stage_id;
            let member = contact.assigned_to_member_id;
            let reason = contact.last_close_reason_id;
            [
                organization.map(|id| RowKey::Organization { company: own, id }),
                stage.map(|id| RowKey::Stage { company: own, id }),
                member.map(|id| RowKey::Member { company: own, id }),
                reason.map(|id| RowKey::CloseReason { company: own, id }),
            ]
            .into_iter()
            .flatten()
            .collect()
        }
        Row::ContactTag(tag) => vec![
            RowKey::Contact { company: tag.company, id: tag.contact },
            RowKey::Tag { company: tag.company, id: tag.tag },
        ],
        Row::ListMember(member) => vec![
            RowKey::List { company: member.company, id: member.list },
            RowKey::Contact { company: member.company, id: member.contact },
        ],
        Row::Deal(deal) => {
            let own = deal.company;
            let contact = RowKey::Contact { company: own, id: deal.contact_id };
            let stage = deal.stage_id.map(|id| RowKey::Stage { company: own, id });
            [Some(contact), stage].into_iter().flatten().collect()
        }
        Row::Document(document) => {
            vec![RowKey::Contact { company: document.company, id: document.contact_id }]
        }
        Row::Link(link) => {
            vec![RowKey::Contact { company: link.company, id: link.contact }]
        }
        Row::Click(click) => vec![
            RowKey::Link { company: click.company, id: click.link },
            RowKey::Contact { company: click.company, id: click.contact },
        ],
        Row::Group(group) => {
            vec![RowKey::Connection { company: group.company, id: group.connection }]
        }
        Row::UnknownKind(kind) => {
            vec![RowKey::Connection { company: kind.company, id: kind.connection }]
        }
        Row::Alias(alias) => vec![RowKey::Contact { company: alias.company, id: alias.contact }],
        Row::Conversation(conversation) => vec![
            RowKey::Contact { company: conversation.company, id: conversation.contact },
            RowKey::Connection { company: conversation.company, id: conversation.connection },
        ],
        Row::Message(message) => vec![
            RowKey::Contact { company: message.company, id: message.contact },
            RowKey::Connection { company: message.company, id: message.connection },
        ],
        Row::MessageRef(reference) => {
            let own = reference.company;
            let message = match &reference.target {
                RefTarget::Message(id) => Some(RowKey::Message { company: own, id: *id }),
                RefTarget::Report { .. } | RefTarget::Forgotten { .. } => None,
            };
            let connection = RowKey::Connection { company: own, id: reference.connection };
            [Some(connection), message].into_iter().flatten().collect()
        }
        Row::LeadMemory(memory) => {
            vec![RowKey::Contact { company: memory.company, id: memory.contact }]
        }
        Row::LedgerLine(line) => {
            let contact = line.contact.map(|id| RowKey::Contact { company: line.company, id });
            contact.into_iter().collect()
        }
        Row::RememberedCall(call) => {
            let contact = call.contact.map(|id| RowKey::Contact { company: call.company, id });
            contact.into_iter().collect()
        }
        Row::Template(template) => {
            let own = template.company;
            let connection = template.connection.map(|id| RowKey::Connection { company: own, id });
            connection.into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// What becomes of a row when one that it refers to is deleted.
#[derive(Debug, PartialEq)]
pub(super) enum OnDelete {
    /// It is deleted too.
    Delete,
    /// It is replaced by this row, at its version.
    Replace(Box<Row>),
    /// It prevents the deletion.
    Restrict,
}

/// What becomes of a row when `deleted`, to which it refers, is deleted.
pub(super) fn on_delete(row: &Row, deleted: RowKind) -> OnDelete {
    let goes = match row {
        Row::ContactTag(_) => matches!(deleted, RowKind::Contact | RowKind::Tag),
        Row::ListMember(_) => matches!(deleted, RowKind::Contact | RowKind::List),
        Row::Click(_) => matches!(deleted, RowKind::Contact | RowKind::Link),
        Row::Deal(_)
        | Row::Link(_)
        | Row::Alias(_)
        | Row::Conversation(_)
        | Row::Message(_)
        | Row::LeadMemory(_)
        | Row::DispatchWindow(_)
        | Row::RememberedCall(_) => deleted == RowKind::Contact,
        Row::MessageRef(_) => matches!(deleted, RowKind::Message | RowKind::Connection),
        Row::Group(_) | Row::UnknownKind(_) => deleted == RowKind::Connection,
        Row::LedgerLine(line) if deleted == RowKind::Contact => {
            let mut line = line.clone();
            line.contact = None;
            return OnDelete::Replace(Box::new(line.into()));
        }
        Row::Recipient(recipient) if deleted == RowKind::Contact => {
            let mut recipient = recipient.clone();
            recipient.contact = None;
            return OnDelete::Replace(Box::new(recipient.into()));
        }
        Row::Recipient(_) => deleted == RowKind::Campaign,
        _ => false,
    };
    if goes { OnDelete::Delete } else { OnDelete::Restrict }
}

/// A value that no two rows may have.
#[derive(Debug, PartialEq)]
pub(super) enum Unique<'a> {
    ContactIdentifier(CompanyId, &'a Platform, &'a Identifier),
    ContactEmail(CompanyId, &'a Email),
    CustomFieldSlug(CompanyId, &'a str),
    OrganizationCnpj(CompanyId, &'a Cnpj),
    KeyHash(&'a KeyHash),
    LinkCode(&'a LinkCode),
    JobSubject(CompanyId, &'static str, Uuid),
    TemplateToken(Uuid),
    EndpointSlug(&'a EndpointSlug),
    Recipient(CompanyId, CampaignId, ContactId),
}

impl Unique<'_> {
    /// The key that it is a value of.
    pub(super) fn key(&self) -> UniqueKey {
        match self {
            Self::ContactIdentifier(..) => UniqueKey::ContactIdentifier,
            Self::ContactEmail(..) => UniqueKey::ContactEmail,
            Self::CustomFieldSlug(..) => UniqueKey::CustomFieldSlug,
            Self::OrganizationCnpj(..) => UniqueKey::OrganizationCnpj,
            Self::KeyHash(..) => UniqueKey::KeyHash,
            Self::LinkCode(..) => UniqueKey::LinkCode,
            Self::JobSubject(..) => UniqueKey::JobSubject,
            Self::TemplateToken(..) => UniqueKey::TemplateToken,
            Self::EndpointSlug(..) => UniqueKey::EndpointSlug,
            Self::Recipient(..) => UniqueKey::Recipient,
        }
    }
}

/// The values of a row that no other row may have.
pub(super) fn unique(row: &Row) -> Vec<Unique<'_>> {
    match row {
        Row::Contact(contact) => {
            let (platform, identifier) = (&contact.source_platform, &contact.identifier);
            let email = contact.email.as_ref();
            let email = email.map(|email| Unique::ContactEmail(contact.company, email));
            let identifier = Unique::ContactIdentifier(contact.company, platform, identifier);
            [Some(identifier), email].into_iter().flatten().collect()
        }
        Row::CustomField(field) => vec![Unique::CustomFieldSlug(field.company, &field.slug)],
        Row::Organization(organization) => {
            vec![Unique::OrganizationCnpj(organization.company, &organization.cnpj)]
        }
        Row::ApiKey(key) => vec![Unique::KeyHash(&key.hash)],
        Row::Link(link) => vec![Unique::LinkCode(&link.code)],
        Row::Template(template) => vec![Unique::TemplateToken(template.token)],
        Row::InboundEndpoint(endpoint) => vec![Unique::EndpointSlug(&endpoint.slug)],
        Row::Recipient(recipient) => {
            let (company, campaign) = (recipient.company, recipient.campaign);
            let contact = recipient.contact;
            contact.map(|id| Unique::Recipient(company, campaign, id)).into_iter().collect()
        }
        Row::Job(job) => vec![Unique::JobSubject(job.company, job.kind.name(), job.kind.subject())],
        _ => Vec::new(),
    }
}
