//! Contacts: their rows, how they are written, and the reads of one contact.

use recado_core::Timestamp;
use recado_core::contacts::{
    Address, Birthday, Contact, ContactTag, Cpf, CrmStatus, Email, Identifier, InboxStatus, Phone,
    Platform, PostalCode, Priority, Profile,
};
use recado_core::ids::{
    CloseReasonId, CompanyId, ConnectionId, ContactId, MemberId, OrganizationId, StageId, TagId,
};
use recado_core::store::{CommitError, Conflict, RowKey, Stored, Version};
use rusqlite::{Connection, OptionalExtension, params_from_iter};

use crate::cell::{Cell, Columns};
use crate::contact_facets;
use crate::error::{ReadResult, commit_error};
use crate::table::{Table, insert_error, placeholders, read_stored, statements, update_changed};
use crate::writer::{Transaction, read_error};

impl Table for ContactTag {
    statements!(unversioned "contact_tags", ["company_id", "contact_id", "tag_id"], []);

    fn values(&self) -> Vec<Cell<'_>> {
        vec![self.company.into(), self.contact.into(), self.tag.into()]
    }

    fn read(columns: &mut Columns<'_, '_>) -> ReadResult<Self> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            contact: columns.id(ContactId::new)?,
            tag: columns.id(TagId::new)?,
        })
    }
}

impl Table for Contact {
    statements!(
        "contacts",
        ["company_id", "id"],
        [
            "source_platform",
            "identifier",
            "phone",
            "email",
            "shared_email",
            "name",
            "wa_profile_name",
            "wa_push_name",
            "display_name",
            "avatar_url",
            "observation",
            "inbox_status",
            "priority",
            "crm_status",
            "is_ai_enabled",
            "external_ai_enabled",
            "ai_paused_until",
            "opted_out_at",
            "opt_out_backfilled",
            "opted_in_at",
            "is_archived",
            "is_pinned",
            "is_muted",
            "is_blocked",
            "is_group",
            "is_simulated",
            "external_chat_id",
            "first_message_at",
            "last_message_at",
            "last_inbound_at",
            "last_read_at",
            "last_closed_at",
            "last_close_reason_id",
            "street",
            "street_number",
            "complement",
            "neighborhood",
            "city",
            "state",
            "postal_code",
            "country",
            "birthday",
            "cpf",
            "rg",
            "genero",
            "estado_civil",
            "profissao",
            "cargo",
            "organization_id",
            "pipeline_stage_id",
            "assigned_to_member_id",
            "last_connection_id",
            "custom_fields",
            "created_at",
            "updated_at",
        ]
    );

    fn values(&self) -> Vec<Cell<'_>> {
        let Address { street, street_number, complement, neighborhood, .. } = &self.address;
        let Address { city, state, postal_code, country, .. } = &self.address;
        let Profile { birthday, cpf, rg, genero, estado_civil, profissao, cargo } = &self.profile;
        let custom_fields =
            serde_json::to_string(&self.custom_fields).expect("texts by id are plain data");
        vec![
            self.company.into(),
            self.id.into(),
            self.source_platform.as_str().into(),
            self.identifier.as_str().into(),
            self.phone.as_ref().map(Phone::as_str).into(),
            self.email.as_ref().map(Email::as_str).into(),
            self.shared_email.as_ref().map(Email::as_str).into(),
            (&self.name).into(),
            self.wa_profile_name.as_ref().into(),
            self.wa_push_name.as_ref().into(),
            (&self.display_name).into(),
            self.avatar_url.as_ref().into(),
            self.observation.as_ref().into(),
            self.inbox_status.as_str().into(),
            self.priority.as_str().into(),
            self.crm_status.as_str().into(),
            self.is_ai_enabled.into(),
            self.external_ai_enabled.into(),
            self.ai_paused_until.into(),
            self.opted_out_at.into(),
            self.opt_out_backfilled.into(),
            self.opted_in_at.into(),
            self.is_archived.into(),
            self.is_pinned.into(),
            self.is_muted.into(),
            self.is_blocked.into(),
            self.is_group.into(),
            self.is_simulated.into(),
            self.external_chat_id.as_ref().into(),
            self.first_message_at.into(),
            self.last_message_at.into(),
            self.last_inbound_at.into(),
            self.last_read_at.into(),
            self.last_closed_at.into(),
            self.last_close_reason_id.into(),
            street.as_ref().into(),
            street_number.as_ref().into(),
            complement.as_ref().into(),
            neighborhood.as_ref().into(),
            city.as_ref().into(),
            state.as_ref().into(),
            postal_code.as_ref().map(PostalCode::as_str).into(),
            country.as_ref().into(),
            birthday.map_or(Cell::Null, |birthday| Cell::Owned(birthday.to_string())),
            cpf.as_ref().map(Cpf::as_str).into(),
            rg.as_ref().into(),
            genero.as_ref().into(),
            estado_civil.as_ref().into(),
            profissao.as_ref().into(),
            cargo.as_ref().into(),
            self.organization_id.into(),
            self.pipeline_stage_id.into(),
            self.assigned_to_member_id.into(),
            self.last_connection_id.into(),
            Cell::Owned(custom_fields),
            self.created_at.into(),
            self.updated_at.into(),
        ]
    }

    fn read(columns: &mut Columns<'_, '_>) -> ReadResult<Self> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(ContactId::new)?,
            source_platform: columns.word(Platform::parse)?,
            identifier: columns.word(Identifier::parse)?,
            phone: columns.opt_stored(Phone::from_stored)?,
            email: columns.opt_stored(Email::from_stored)?,
            shared_email: columns.opt_stored(Email::from_stored)?,
            name: columns.text()?,
            wa_profile_name: columns.opt_text()?,
            wa_push_name: columns.opt_text()?,
            display_name: columns.text()?,
            avatar_url: columns.opt_text()?,
            observation: columns.opt_text()?,
            inbox_status: columns.word(InboxStatus::parse)?,
            priority: columns.word(Priority::parse)?,
            crm_status: columns.word(CrmStatus::parse)?,
            is_ai_enabled: columns.flag()?,
            external_ai_enabled: columns.flag()?,
            ai_paused_until: columns.opt_time()?,
            opted_out_at: columns.opt_time()?,
            opt_out_backfilled: columns.flag()?,
            opted_in_at: columns.opt_time()?,
            is_archived: columns.flag()?,
            is_pinned: columns.flag()?,
            is_muted: columns.flag()?,
            is_blocked: columns.flag()?,
            is_group: columns.flag()?,
            is_simulated: columns.flag()?,
            external_chat_id: columns.opt_text()?,
            first_message_at: columns.opt_time()?,
            last_message_at: columns.opt_time()?,
            last_inbound_at: columns.opt_time()?,
            last_read_at: columns.opt_time()?,
            last_closed_at: columns.opt_time()?,
            last_close_reason_id: columns.opt_id(CloseReasonId::new)?,
            address: Address {
                street: columns.opt_text()?,
                street_number: columns.opt_text()?,
                complement: columns.opt_text()?,
                neighborhood: columns.opt_text()?,
                city: columns.opt_text()?,
                state: columns.opt_text()?,
                postal_code: columns.opt_stored(PostalCode::from_stored)?,
                country: columns.opt_text()?,
            },
            profile: Profile {
                birthday: columns.opt_stored(Birthday::from_stored)?,
                cpf: columns.opt_stored(Cpf::from_stored)?,
                rg: columns.opt_text()?,
                genero: columns.opt_text()?,
                estado_civil: columns.opt_text()?,
                profissao: columns.opt_text()?,
                cargo: columns.opt_text()?,
            },
            organization_id: columns.opt_id(OrganizationId::new)?,
            pipeline_stage_id: columns.opt_id(StageId::new)?,
            assigned_to_member_id: columns.opt_id(MemberId::new)?,
            last_connection_id: columns.opt_id(ConnectionId::new)?,
            custom_fields: columns.json()?,
            created_at: columns.time()?,
            updated_at: columns.time()?,
        })
    }
}

/// The place of a contact in the table and in the search index. Those of one company are
/// neighbours: `no` of the company above, a number from 1 below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Seq(pub(crate) i64);

/// Bits of the number below.
const SEQ_BITS: u32 = 36;

/// The places of a company's contacts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeqRange {
    pub(crate) first: i64,
    pub(crate) last: i64,
}

impl SeqRange {
    fn of_company(no: i64) -> Self {
        let first = no << SEQ_BITS;
        Self { first, last: first + (1 << SEQ_BITS) - 1 }
    }

    /// The range of a company, if there is that company.
    pub(crate) fn find(conn: &Connection, company: CompanyId) -> ReadResult<Option<Self>> {
        let no = conn
            .prepare_cached("SELECT no FROM companies WHERE id = ?1")?
            .query_row([Cell::from(company)], |row| row.get(0))
            .optional()?;
        Ok(no.map(Self::of_company))
    }

    fn next_free(self, conn: &Connection) -> ReadResult<Seq> {
        let query = "SELECT seq FROM contacts WHERE seq BETWEEN ?1 AND ?2 \
                     ORDER BY seq DESC LIMIT 1";
        let last: Option<i64> = conn
            .prepare_cached(query)?
            .query_row([self.first, self.last], |row| row.get(0))
            .optional()?;
        Ok(Seq(last.unwrap_or(self.first) + 1))
    }
}

/// What the listing by last message compares, ascending.
fn recency(contact: &Contact) -> Cell<'static> {
    Cell::Int(contact.last_message_at.map_or(i64::MAX, |at| -at.millis()))
}

/// Inserts a contact, counts it and indexes its search text.
pub(crate) fn insert(tx: &mut Transaction<'_>, contact: &Contact) -> Result<(), CommitError> {
    let range = SeqRange::find(tx.conn, contact.company).map_err(read_error)?;
    let Some(range) = range else { return Err(Conflict::Reference.into()) };
    let seq = range.next_free(tx.conn).map_err(read_error)?;
    let facet = contact_facets::add(tx.conn, contact).map_err(read_error)?;
    let mut values = contact.values();
    values.extend([Cell::Int(seq.0), Cell::Int(facet.0), recency(contact)]);
    tx.conn
        .prepare_cached(&INSERT)
        .and_then(|mut statement| statement.execute(params_from_iter(values)))
        .map_err(|error| insert_error(tx.conn, contact, error))?;
    tx.search.added(seq, contact.search_text());
    Ok(())
}

static INSERT: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| {
    let columns = &Contact::statements().columns;
    format!(
        "INSERT INTO contacts ({}, seq, facet_id, recency, version) VALUES ({}, 1)",
        columns.join(", "),
        placeholders(columns.len() + 3)
    )
});

/// A contact as it is before a change, with what is derived from it.
struct Before {
    seq: Seq,
    facet: contact_facets::FacetId,
    contact: Stored<Contact>,
}

/// Reads the contact that is to be changed; one that has moved on is stale.
fn before(
    conn: &Connection,
    company: CompanyId,
    id: ContactId,
    read_at: Version,
) -> Result<Before, CommitError> {
    static SELECT: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| {
        let columns = Contact::statements().qualified("c");
        format!(
            "SELECT {columns}, c.seq, c.facet_id FROM contacts AS c \
             WHERE c.company_id = ?1 AND c.id = ?2"
        )
    });
    let key: [Cell<'_>; 2] = [company.into(), id.into()];
    let found = conn
        .prepare_cached(&SELECT)
        .and_then(|mut statement| {
            let read = |row: &rusqlite::Row<'_>| {
                let contact = read_stored(row)?;
                let mut derived = Columns::from(row, Contact::statements().columns.len() + 1);
                let seq = Seq(derived.number()?);
                let facet = contact_facets::FacetId(derived.number()?);
                Ok(Before { seq, facet, contact })
            };
            statement.query_row(params_from_iter(&key), read).optional()
        })
        .map_err(read_error)?;
    found
        .filter(|before| before.contact.version() == read_at)
        .ok_or_else(|| Conflict::Stale(RowKey::Contact { company, id }).into())
}

/// Replaces a contact; its count and its search text only when they change.
pub(crate) fn update(
    tx: &mut Transaction<'_>,
    contact: &Contact,
    read_at: Version,
) -> Result<(), CommitError> {
    let before = before(tx.conn, contact.company, contact.id, read_at)?;
    let old = before.contact.value();
    let mut facet = before.facet;
    if old.facets() != contact.facets() {
        contact_facets::remove(tx.conn, facet).map_err(read_error)?;
        facet = contact_facets::add(tx.conn, contact).map_err(read_error)?;
    }

    let mut derived = Vec::new();
    if facet != before.facet {
        derived.push(("facet_id", Cell::Int(facet.0)));
    }
    if old.last_message_at != contact.last_message_at {
        derived.push(("recency", recency(contact)));
    }
    update_changed(tx.conn, before.seq.0, (old, contact), derived)?;
    let text = contact.search_text();
    if text != old.search_text() {
        tx.search.changed(before.seq, text);
    }
    Ok(())
}

/// Deletes a contact with what goes with it, its count and its search text.
pub(crate) fn delete(
    tx: &mut Transaction<'_>,
    company: CompanyId,
    id: ContactId,
    read_at: Version,
) -> Result<(), CommitError> {
    let before = before(tx.conn, company, id, read_at)?;
    tx.conn
        .prepare_cached("DELETE FROM contacts WHERE seq = ?1")
        .and_then(|mut statement| statement.execute([before.seq.0]))
        .map_err(commit_error)?;
    contact_facets::remove(tx.conn, before.facet).map_err(read_error)?;
    tx.search.removed(before.seq);
    Ok(())
}

/// How far exports of the company have read (D25).
pub(crate) fn export_frontier(
    conn: &Connection,
    company: CompanyId,
) -> ReadResult<Option<Timestamp>> {
    conn.prepare_cached("SELECT created_at FROM export_frontiers WHERE company_id = ?1")?
        .query_row([Cell::from(company)], |row| Columns::new(row).time())
        .optional()
}
