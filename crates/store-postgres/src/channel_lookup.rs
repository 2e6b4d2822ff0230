//! Contacts by their names on a channel, looked up for several callers by one statement.

use recado_core::contacts::{ChannelKey, Contact};
use recado_core::conversations::{ChannelContact, ChannelQuery, Conversation};
use recado_core::ids::CompanyId;
use recado_core::store::StoreError;
use recado_store_sql::Layout;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::columns::Columns;
use crate::param::{Param, params};
use crate::pool::Pool;
use crate::session::rows;
use crate::shared_calls::SharedCall;
use crate::table::columns_of;

/// The most names of a query that is answered together with others. A larger one, or one that may
/// find any number of contacts, would keep them waiting.
const FEW: usize = 16;

/// A query for contacts of a company.
pub(crate) struct ChannelLookup {
    company: CompanyId,
    query: ChannelQuery,
}

impl ChannelLookup {
    pub(crate) fn new(company: CompanyId, query: ChannelQuery) -> Self {
        Self { company, query }
    }

    /// Whether it is answered together with others (R440).
    pub(crate) fn is_shared(&self) -> bool {
        let ChannelQuery { ids, identifiers, keys, phones, chats, per_phone, platform: _ } =
            &self.query;
        let names = ids.len() + identifiers.len() + keys.len() + phones.len() + chats.len();
        names <= FEW && (phones.is_empty() || per_phone.is_some())
    }

    /// The contacts that it finds, by a statement of its own.
    pub(crate) async fn answer_alone(self, pool: &Pool) -> Result<Vec<ChannelContact>, StoreError> {
        let shape = Shape::of(&self.query);
        match shape.is_empty() {
            true => Ok(Vec::new()),
            false => Ok(look_up(pool, shape, &[&self]).await?.into_iter().flatten().collect()),
        }
    }
}

/// Queries of one shape are one statement. Few shapes occur, so each is planned once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Shape {
    ids: bool,
    identifiers: bool,
    keys: bool,
    phones: bool,
    chats: bool,
    on_channel: bool,
    bounded: bool,
}

impl Shape {
    fn of(query: &ChannelQuery) -> Self {
        let (identifiers, keys) = (!query.identifiers.is_empty(), !query.keys.is_empty());
        let phones = !query.phones.is_empty();
        Self {
            ids: !query.ids.is_empty(),
            identifiers,
            keys,
            phones,
            chats: !query.chats.is_empty(),
            on_channel: query.platform.is_some() && (identifiers || keys),
            bounded: query.per_phone.is_some() && phones,
        }
    }

    const fn is_empty(self) -> bool {
        !(self.ids || self.identifiers || self.keys || self.phones || self.chats)
    }
}

impl SharedCall for ChannelLookup {
    /// A failure because of names is the caller's own: nobody fails because of those that another
    /// one asks for.
    type Answer = Result<Vec<ChannelContact>, StoreError>;

    async fn answer_all(pool: &Pool, calls: Vec<Self>) -> Result<Vec<Self::Answer>, StoreError> {
        let mut order: Vec<(Shape, usize)> =
            calls.iter().enumerate().map(|(at, call)| (Shape::of(&call.query), at)).collect();
        order.sort_unstable();
        let mut answers: Vec<Self::Answer> = calls.iter().map(|_| Ok(Vec::new())).collect();
        for group in order.chunk_by(|(one, _), (other, _)| one == other) {
            let Some((shape, _)) = group.first().copied() else { continue };
            if shape.is_empty() {
                continue;
            }
            let asked: Vec<&Self> = group.iter().filter_map(|(_, at)| calls.get(*at)).collect();
            let found = match look_up(pool, shape, &asked).await {
                Ok(found) => found.into_iter().map(Ok).collect(),
                // One of the names may be what cannot be looked up. A database that does not answer
                // is not asked once for each of them.
                Err(StoreError::Corrupt(_)) if asked.len() > 1 => {
                    one_by_one(pool, shape, &asked).await
                }
                Err(StoreError::Corrupt(what)) => vec![Err(StoreError::Corrupt(what))],
                Err(error) => return Err(error),
            };
            for ((_, at), found) in group.iter().zip(found) {
                if let Some(answer) = answers.get_mut(*at) {
                    *answer = found;
                }
            }
        }
        Ok(answers)
    }
}

/// Makes each look-up by itself.
async fn one_by_one(
    pool: &Pool,
    shape: Shape,
    calls: &[&ChannelLookup],
) -> Vec<Result<Vec<ChannelContact>, StoreError>> {
    let mut answers = Vec::with_capacity(calls.len());
    for call in calls {
        let found = look_up(pool, shape, &[*call]).await;
        answers.push(found.map(|found| found.into_iter().flatten().collect()));
    }
    answers
}

/// The contacts of each query; all have this shape.
async fn look_up(
    pool: &Pool,
    shape: Shape,
    calls: &[&ChannelLookup],
) -> Result<Vec<Vec<ChannelContact>>, StoreError> {
    let (sql, params) = statement(shape, calls);
    let found = rows(pool, sql, params).await?;
    let mut answers = calls.iter().map(|_| Vec::new()).collect::<Vec<_>>();
    for row in &found {
        let number: i32 = row.try_get(0).map_err(StoreError::corrupt)?;
        let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        let answer = at.and_then(|at| answers.get_mut(at));
        read(row, answer.ok_or_else(|| StoreError::corrupt("contacts of no query"))?)?;
    }
    Ok(answers)
}

/// The statement that finds the contacts of queries: one row for each of their conversations. Each
/// contact and its conversations are looked up by themselves, so that indexes are used whatever the
/// planner's estimates are.
fn statement(shape: Shape, calls: &[&ChannelLookup]) -> (String, Vec<Param>) {
    let (named, params) = named(shape, calls);
    let sql = format!(
        "WITH named AS MATERIALIZED ({named}) SELECT named.number, {contact}, \
         ARRAY(SELECT a.key FROM (SELECT key FROM aliases \
         WHERE company_id = c.company_id AND contact_id = c.id OFFSET 0) AS a ORDER BY a.key), \
         {conversation} \
         FROM named CROSS JOIN LATERAL (SELECT * FROM contacts \
         WHERE company_id = ($1::uuid[])[named.number] AND id = named.id OFFSET 0) AS c \
         LEFT JOIN LATERAL (SELECT * FROM conversations \
         WHERE company_id = c.company_id AND contact_id = c.id OFFSET 0) AS v ON true \
         ORDER BY named.number, c.created_at, c.id, v.connection_id",
        contact = columns_of::<Contact>("c"),
        conversation = columns_of::<Conversation>("v"),
    );
    (sql, params)
}

#[cfg(test)]
impl ChannelLookup {
    /// The statement of this look-up.
    pub(crate) fn sql(&self) -> String {
        statement(Shape::of(&self.query), &[self]).0
    }
}

/// The look-ups of queries, as pairs of the query's number and a contact's id. Each value is looked
/// up by itself.
fn named(shape: Shape, calls: &[&ChannelLookup]) -> (String, Vec<Param>) {
    let companies: Vec<Uuid> = calls.iter().map(|call| call.company.uuid()).collect();
    let mut params = params![companies];
    let on_channel = if shape.on_channel {
        let platform =
            |call: &&ChannelLookup| call.query.platform.as_ref().map(|p| p.as_str().to_owned());
        params.push(Param::of(calls.iter().map(platform).collect::<Vec<Option<String>>>()));
        format!(" AND source_platform = (${}::text[])[wanted.number]", params.len())
    } else {
        String::new()
    };
    let by_phone = if shape.bounded {
        let most = |call: &&ChannelLookup| call.query.per_phone.map(i64::from);
        params.push(Param::of(calls.iter().map(most).collect::<Vec<Option<i64>>>()));
        bound_by_phone(params.len())
    } else {
        by_column("id", "contacts.phone", "")
    };
    let mut parts = Parts { calls, params, sql: Vec::new() };
    if shape.ids {
        parts.add(&by_column("id", "contacts.id", ""), "uuid", |query| {
            query.ids.iter().map(|id| id.uuid()).collect()
        });
    }
    let texts = |texts: Vec<&str>| texts.into_iter().map(str::to_owned).collect::<Vec<String>>();
    if shape.identifiers {
        parts.add(&by_column("id", "contacts.identifier", &on_channel), "text", |query| {
            texts(query.identifiers.iter().map(|name| name.as_str()).collect())
        });
    }
    if shape.keys {
        parts.add(&by_column("contact_id", "aliases.key", &on_channel), "text", |query| {
            texts(query.keys.iter().map(|key| key.as_str()).collect())
        });
    }
    if shape.phones {
        parts.add(&by_phone, "text", |query| {
            texts(query.phones.iter().map(|phone| phone.as_str()).collect())
        });
    }
    if shape.chats {
        parts.add(&by_column("id", "contacts.external_chat_id", ""), "text", |query| {
            texts(query.chats.iter().map(|code| code.as_str()).collect())
        });
    }
    (parts.sql.join(" UNION "), parts.params)
}

/// The look-ups by each kind of name, with their parameters.
struct Parts<'c> {
    calls: &'c [&'c ChannelLookup],
    params: Vec<Param>,
    sql: Vec<String>,
}

impl Parts<'_> {
    /// Adds the look-ups by the values that the queries have of one kind.
    fn add<V>(&mut self, of_value: &str, kind: &str, values: impl Fn(&ChannelQuery) -> Vec<V>)
    where
        Vec<V>: ToSql + Send + Sync + 'static,
    {
        let (mut numbers, mut wanted) = (Vec::new(), Vec::new());
        for (number, call) in (1_i32..).zip(self.calls) {
            let values = values(&call.query);
            numbers.resize(numbers.len() + values.len(), number);
            wanted.extend(values);
        }
        self.params.extend(params![numbers, wanted]);
        let last = self.params.len();
        self.sql.push(format!(
            "SELECT wanted.number, named.id \
             FROM unnest(${}::int[], ${last}::{kind}[]) AS wanted (number, value) \
             CROSS JOIN LATERAL ({of_value}) AS named",
            last - 1
        ));
    }
}

/// The company of a wanted value.
const COMPANY: &str = "($1::uuid[])[wanted.number]";

/// The contacts that have the wanted value in a column of a table.
fn by_column(id: &str, of: &str, and: &str) -> String {
    let (table, column) = of.split_once('.').unwrap_or_default();
    format!(
        "SELECT {id} AS id FROM {table} \
         WHERE company_id = {COMPANY} AND {column} = wanted.value{and} OFFSET 0"
    )
}

/// The contacts that have the wanted phone, of each channel as many as a parameter says: those that
/// asked to stop first.
fn bound_by_phone(parameter: usize) -> String {
    format!(
        "SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY source_platform \
         ORDER BY opted_out_at IS NULL, created_at, id) AS place \
         FROM contacts WHERE company_id = {COMPANY} AND phone = wanted.value) AS numbered \
         WHERE place <= (${parameter}::bigint[])[wanted.number]"
    )
}

/// The number of columns of a contact, with its version and its aliases.
const CONTACT: usize = Contact::TABLE.columns.len() + 2;

/// Adds a row to the contacts of its query.
fn read(row: &Row, contacts: &mut Vec<ChannelContact>) -> Result<(), StoreError> {
    let id: Uuid = row.try_get(2).map_err(StoreError::corrupt)?;
    let mut columns = Columns::new(row);
    columns.skip(1);
    if contacts.last().is_none_or(|last| last.contact.id.uuid() != id) {
        let contact = columns.stored()?;
        let keys: Vec<String> = columns.raw()?;
        contacts.push(ChannelContact {
            contact,
            aliases: keys.into_iter().map(ChannelKey::from_stored).collect(),
            conversations: Vec::new(),
        });
    } else {
        columns.skip(CONTACT);
    }
    if let (true, Some(last)) = (columns.is_present()?, contacts.last_mut()) {
        last.conversations.push(columns.stored()?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use recado_core::contacts::{Phone, Region};
    use recado_core::ids::ContactId;

    use super::*;

    fn is_shared(query: ChannelQuery) -> bool {
        ChannelLookup::new(CompanyId::new(Uuid::nil()), query).is_shared()
    }

    /// R440.
    #[test]
    fn a_query_that_may_find_many_contacts_keeps_no_other_one_waiting() {
        let phone = Phone::parse("+5534991230001", &Region::br()).expect("a phone");
        let of_phone = ChannelQuery::of_phone(&phone);
        assert!(!is_shared(of_phone.clone()), "any number of contacts has the phone");
        assert!(is_shared(ChannelQuery { per_phone: Some(2), ..of_phone }));
        let of_ids = |count| ChannelQuery {
            ids: vec![ContactId::new(Uuid::nil()); count],
            ..ChannelQuery::default()
        };
        assert!(is_shared(of_ids(FEW)));
        assert!(!is_shared(of_ids(FEW + 1)));
    }
}
