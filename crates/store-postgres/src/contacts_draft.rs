//! The records that a body which creates or changes a contact refers to: a few look-ups in one
//! snapshot and one round trip.

use std::sync::LazyLock;

use recado_core::Timestamp;
use recado_core::connections::Connection;
use recado_core::contacts::{DraftFacts, DraftQuery, OrganizationKey};
use recado_core::custom_fields::CustomField;
use recado_core::ids::{CompanyId, ContactId};
use recado_core::lists::List;
use recado_core::organizations::Organization;
use recado_core::store::StoreError;
use recado_core::tags::Tag;
use recado_store_sql::{Field, Sealer};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::PostgresStore;
use crate::columns::Columns;
use crate::param::{Param, params};
use crate::session::{Statement, all_stored, first_sealed, first_stored, snapshot};
use crate::table::{Table, columns_of};

const HOLDER: &str = "\
SELECT held.id FROM (\
SELECT id, created_at FROM contacts WHERE company_id = $1 AND phone = ANY($2) \
UNION ALL \
SELECT id, created_at FROM contacts WHERE company_id = $1 AND identifier = ANY($3) \
UNION ALL \
SELECT c.id, c.created_at FROM aliases a JOIN contacts c ON c.company_id = $1 \
AND c.id = a.contact_id WHERE a.company_id = $1 AND a.key = ANY($4)) AS held \
ORDER BY held.created_at, held.id LIMIT 1";

/// The definitions with the ids `$2` and those with the slugs `$3`, each once. Each is looked up
/// separately, because a company can have very many.
pub(crate) static FIELDS: LazyLock<String> = LazyLock::new(|| {
    let by = |column: &str, wanted: &str| {
        format!(
            "SELECT {} FROM unnest({wanted}) AS wanted (value) \
             CROSS JOIN LATERAL (SELECT * FROM custom_fields WHERE company_id = $1 \
             AND {column} = wanted.value OFFSET 0) AS f",
            columns_of::<CustomField>("f"),
        )
    };
    format!("{} UNION {}", by("id", "$2::uuid[]"), by("slug", "$3::text[]"))
});

/// Reads the rows of one look-up.
type Take = Box<dyn FnOnce(&[Row], &mut DraftFacts) -> Result<(), StoreError> + Send>;

/// Look-ups that are sent together.
#[derive(Default)]
struct LookupBatch {
    statements: Vec<Statement>,
    takes: Vec<Take>,
    /// The keys of secrets that are read.
    sealer: Sealer,
}

impl LookupBatch {
    fn ask(
        &mut self,
        sql: impl Into<std::borrow::Cow<'static, str>>,
        params: Vec<Param>,
        take: impl FnOnce(&[Row], &mut DraftFacts) -> Result<(), StoreError> + Send + 'static,
    ) {
        self.statements.push(Statement::new(sql, params));
        self.takes.push(Box::new(take));
    }
}

/// The statement for the records of a company with given ids.
fn named<T: Table>() -> String {
    format!("{} WHERE company_id = $1 AND id = ANY($2)", T::sql().select)
}

/// The id in the first row, if there is one.
fn first_id<T: Field>(rows: &[Row]) -> Result<Option<T>, StoreError> {
    rows.first().map(|row| Columns::new(row).get()).transpose()
}

fn ids<T: Field>(rows: &[Row]) -> Result<Vec<T>, StoreError> {
    rows.iter().map(|row| Columns::new(row).get()).collect()
}

impl PostgresStore {
    pub(crate) async fn facts(
        &self,
        company: CompanyId,
        query: &DraftQuery,
    ) -> Result<DraftFacts, StoreError> {
        let sealer = self.pool.sealer().clone();
        let LookupBatch { statements, takes, .. } = lookups(company.uuid(), query, sealer);
        let found = snapshot(&self.pool, statements).await?;
        let mut facts = DraftFacts::default();
        for (rows, take) in found.iter().zip(takes) {
            take(rows, &mut facts)?;
        }
        Ok(facts)
    }
}

fn lookups(company: Uuid, query: &DraftQuery, sealer: Sealer) -> LookupBatch {
    let mut ask = LookupBatch { sealer, ..LookupBatch::default() };
    let frontier = "SELECT created_at FROM export_frontiers WHERE company_id = $1";
    ask.ask(frontier, params![company], |rows, facts| {
        let millis = rows.first().map(|row| Columns::new(row).get::<i64>()).transpose()?;
        facts.export_frontier = millis.map(Timestamp::from_millis);
        Ok(())
    });
    ask_holders(&mut ask, company, query);
    ask_of_contact(&mut ask, company, query);
    ask_named(&mut ask, company, query);
    ask
}

fn ask_holders(ask: &mut LookupBatch, company: Uuid, query: &DraftQuery) {
    let named = !query.identifiers.is_empty() || !query.keys.is_empty();
    if !query.phones.is_empty() || named {
        let phones: Vec<String> =
            query.phones.iter().map(|phone| phone.as_str().to_owned()).collect();
        let identifiers: Vec<String> =
            query.identifiers.iter().map(|identifier| identifier.as_str().to_owned()).collect();
        let keys: Vec<String> = query.keys.iter().map(|key| key.as_str().to_owned()).collect();
        ask.ask(HOLDER, params![company, phones, identifiers, keys], |rows, facts| {
            facts.holder = first_id(rows)?;
            Ok(())
        });
    }
    if let Some((platform, key)) = &query.alias {
        let sql = "SELECT FROM aliases WHERE company_id = $1 AND source_platform = $2 AND key = $3";
        let params = params![company, platform.as_str().to_owned(), key.as_str().to_owned()];
        ask.ask(sql, params, |rows, facts| {
            facts.alias_taken = !rows.is_empty();
            Ok(())
        });
    }
    if let Some(email) = &query.email {
        let sql = "SELECT id FROM contacts WHERE company_id = $1 AND email = $2";
        ask.ask(sql, params![company, email.as_str().to_owned()], |rows, facts| {
            facts.email_holder = first_id(rows)?;
            Ok(())
        });
    }
}

fn ask_of_contact(ask: &mut LookupBatch, company: Uuid, query: &DraftQuery) {
    let Some(contact) = query.contact.map(ContactId::uuid) else { return };
    let get = recado_core::contacts::Contact::sql().get.as_str();
    ask.ask(get, params![company, contact], |rows, facts| {
        facts.contact = first_stored(rows)?;
        Ok(())
    });
    let tagged = "SELECT t.id FROM contact_tags ct \
                  JOIN tags t ON t.company_id = ct.company_id AND t.id = ct.tag_id \
                  WHERE ct.company_id = $1 AND ct.contact_id = $2 ORDER BY t.created_at, t.id";
    ask.ask(tagged, params![company, contact], |rows, facts| {
        facts.tagged = ids(rows)?;
        Ok(())
    });
    if !query.lists.is_empty() {
        let sql = "SELECT w.id FROM unnest($3::uuid[]) WITH ORDINALITY AS w (id, place) \
                   JOIN list_members m ON m.company_id = $1 AND m.list_id = w.id \
                   AND m.contact_id = $2 ORDER BY w.place";
        let lists: Vec<Uuid> = query.lists.iter().map(|id| id.uuid()).collect();
        ask.ask(sql, params![company, contact, lists], |rows, facts| {
            facts.member_of = ids(rows)?;
            Ok(())
        });
    }
}

fn ask_named(ask: &mut LookupBatch, company: Uuid, query: &DraftQuery) {
    if let Some(key) = &query.organization {
        let (column, params) = match key {
            OrganizationKey::Cnpj(cnpj) => ("cnpj", params![company, cnpj.as_str().to_owned()]),
            OrganizationKey::Id(id) => ("id", params![company, id.uuid()]),
        };
        let select = &Organization::sql().select;
        let sql = format!("{select} WHERE company_id = $1 AND {column} = $2");
        ask.ask(sql, params, |rows, facts| {
            facts.organization = first_stored(rows)?;
            Ok(())
        });
    }
    if !query.lists.is_empty() {
        let wanted: Vec<Uuid> = query.lists.iter().map(|id| id.uuid()).collect();
        ask.ask(named::<List>(), params![company, wanted], |rows, facts| {
            facts.lists = all_stored(rows)?;
            Ok(())
        });
    }
    if !query.fields.is_empty() || !query.slugs.is_empty() {
        let wanted: Vec<Uuid> = query.fields.iter().map(|id| id.uuid()).collect();
        let params = params![company, wanted, query.slugs.clone()];
        ask.ask(FIELDS.as_str(), params, |rows, facts| {
            facts.fields = all_stored(rows)?;
            Ok(())
        });
    }
    if !query.tags.is_empty() {
        let wanted: Vec<Uuid> = query.tags.iter().map(|id| id.uuid()).collect();
        ask.ask(named::<Tag>(), params![company, wanted], |rows, facts| {
            facts.tags = all_stored(rows)?;
            Ok(())
        });
    }
    if let Some(member) = query.member {
        let sql = "SELECT FROM members WHERE company_id = $1 AND id = $2";
        ask.ask(sql, params![company, member.uuid()], |rows, facts| {
            facts.member = !rows.is_empty();
            Ok(())
        });
    }
    if let Some(connection) = query.connection {
        let get = Connection::sql().get.as_str();
        let sealer = ask.sealer.clone();
        ask.ask(get, params![company, connection.uuid()], move |rows, facts| {
            facts.connection = first_sealed(rows, &sealer)?;
            Ok(())
        });
    }
    if let Some(reason) = query.close_reason {
        let sql = "SELECT FROM close_reasons WHERE company_id = $1 AND id = $2";
        ask.ask(sql, params![company, reason.uuid()], |rows, facts| {
            facts.close_reason = !rows.is_empty();
            Ok(())
        });
    }
}
