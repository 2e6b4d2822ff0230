//! Updates of the activity of rows: what messages change of a contact, and reports of a message
//! (R466). Any number of rows of a table is one statement with an array for each column.

use std::sync::LazyLock;

use recado_core::contacts::Contact;
use recado_core::messages::Message;
use recado_core::store::{Row, RowKey, Version};
use recado_store_sql::{Layout, TableDef, signed};
use uuid::Uuid;

use crate::commit::CommitStep;
use crate::param::{Param, bind_activity, params};
use crate::table::named;

/// The type of a column.
#[derive(Clone, Copy)]
enum ColumnType {
    BigInt,
    Text,
    Uuid,
}

impl ColumnType {
    /// The type of a column of the activity of a table.
    fn of(column: &str) -> Self {
        match column {
            "first_message_at" | "last_message_at" | "last_inbound_at" | "stamped_at" => {
                Self::BigInt
            }
            "last_connection_id" | "sender_id" => Self::Uuid,
            _ => Self::Text,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::BigInt => "bigint",
            Self::Text => "text",
            Self::Uuid => "uuid",
        }
    }

    /// Values of a column as one parameter; `None` if one of them is of another type.
    fn array(self, values: impl Iterator<Item = Option<Param>>) -> Option<Param> {
        Some(match self {
            Self::BigInt => Param::of(values.map(as_int).collect::<Option<Vec<Option<i64>>>>()?),
            Self::Text => Param::of(values.map(as_text).collect::<Option<Vec<Option<String>>>>()?),
            Self::Uuid => Param::of(values.map(as_id).collect::<Option<Vec<Option<Uuid>>>>()?),
        })
    }
}

fn as_int(value: Option<Param>) -> Option<Option<i64>> {
    match value? {
        Param::Int(number) => Some(Some(number)),
        Param::Null => Some(None),
        _ => None,
    }
}

fn as_text(value: Option<Param>) -> Option<Option<String>> {
    match value? {
        Param::Text(text) => Some(Some(text.into_owned())),
        Param::Null => Some(None),
        _ => None,
    }
}

fn as_id(value: Option<Param>) -> Option<Option<Uuid>> {
    match value? {
        Param::Id(id) => Some(Some(id)),
        Param::Null => Some(None),
        _ => None,
    }
}

/// The statement for rows of one table, and the types of its columns.
struct ActivityUpdate {
    sql: String,
    columns: Vec<ColumnType>,
}

impl ActivityUpdate {
    /// Updates rows in the order of the parameters: all of them or none. Fails if one of them has
    /// another version.
    ///
    /// The conditions on the key make the planner look up one row after the other, whatever it
    /// estimates of the table.
    fn of(table: TableDef) -> Self {
        let names: Vec<&str> =
            table.activity_columns().map(|column| named(table.name, column)).collect();
        let columns: Vec<ColumnType> = names.iter().map(|name| ColumnType::of(name)).collect();
        let set: String = names.iter().map(|name| format!("{name} = u.{name}, ")).collect();
        let arrays: String =
            (4..).zip(&columns).map(|(at, kind)| format!(", ${at}::{}[]", kind.name())).collect();
        let sql = format!(
            "WITH changed AS (UPDATE {table} t SET {set}version = u.expected_version + 1 \
             FROM unnest($1::uuid[], $2::uuid[], $3::bigint[]{arrays}) \
             AS u (company_id, id, expected_version, {names}) \
             WHERE t.company_id = ANY(ARRAY[u.company_id]) AND t.id = ANY(ARRAY[u.id]) \
             AND t.version = u.expected_version RETURNING 1) \
             SELECT 1 / CASE WHEN count(*) = cardinality($1::uuid[]) THEN 1 ELSE 0 END FROM changed",
            table = table.name,
            names = names.join(", "),
        );
        Self { sql, columns }
    }
}

static CONTACTS: LazyLock<ActivityUpdate> = LazyLock::new(|| ActivityUpdate::of(Contact::TABLE));
static MESSAGES: LazyLock<ActivityUpdate> = LazyLock::new(|| ActivityUpdate::of(Message::TABLE));

/// The statement for a row of this kind, its company and id, and its activity.
fn parts(row: &Row) -> Option<(&'static ActivityUpdate, [Uuid; 2], Vec<Param>)> {
    match row {
        Row::Contact(contact) => {
            let key = [contact.company.uuid(), contact.id.uuid()];
            Some((&CONTACTS, key, bind_activity(contact)))
        }
        Row::Message(message) => {
            let key = [message.company.uuid(), message.id.uuid()];
            Some((&MESSAGES, key, bind_activity(message)))
        }
        _ => None,
    }
}

/// One step that updates the activity of rows of one kind. `None` if they have to be replaced as a
/// whole: the kind has no activity, or a value is of another type than its column.
pub(crate) fn update(rows: &[(Row, Version)]) -> Option<CommitStep> {
    let (first, ..) = parts(&rows.first()?.0)?;
    let (mut companies, mut ids, mut versions) = (Vec::new(), Vec::new(), Vec::new());
    let mut expected: Vec<(RowKey, Option<Version>)> = Vec::with_capacity(rows.len());
    let mut values: Vec<std::vec::IntoIter<Param>> = Vec::with_capacity(rows.len());
    for (row, read_at) in rows {
        let (_, [company, id], activity) = parts(row)?;
        companies.push(company);
        ids.push(id);
        versions.push(signed(read_at.number()));
        expected.push((row.key(), Some(*read_at)));
        values.push(activity.into_iter());
    }
    let mut params = params![companies, ids, versions];
    for column in &first.columns {
        params.push(column.array(values.iter_mut().map(Iterator::next))?);
    }
    Some(CommitStep::of_rows(first.sql.as_str(), params, expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_column_of_the_activity_has_its_array() {
        let contacts = "UPDATE contacts t SET first_message_at = u.first_message_at, \
            last_message_at = u.last_message_at, last_inbound_at = u.last_inbound_at, \
            last_connection_id = u.last_connection_id, version = u.expected_version + 1 \
            FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[], \
            $6::bigint[], $7::uuid[]) AS u (";
        assert!(CONTACTS.sql.contains(contacts), "{}", CONTACTS.sql);
        let messages = "($1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::bigint[], \
            $6::uuid[], $7::text[], $8::text[], $9::text[], $10::text[]) \
            AS u (company_id, id, expected_version, status, stamped_at, sender_id, error_type, \
            error_code, error_message, provider_id) ";
        assert!(MESSAGES.sql.contains(messages), "{}", MESSAGES.sql);
    }
}
