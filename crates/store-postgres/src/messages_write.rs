//! How messages are written, with the texts that searches look in (X17, R301).

use std::borrow::Cow;
use std::sync::LazyLock;

use recado_core::messages::Message;
use recado_core::store::{Record, Version};
use recado_store_sql::{Layout, Sealer, signed};

use crate::commit::CommitStep;
use crate::param::{Param, bind_sealed};
use crate::table::{Sql, insert_many, named, update_many};

/// The number of a message's own parameters. The first three are company, id and `created_at`.
const COLUMNS: usize = Message::TABLE.columns.len();

/// Texts have a table of their own, written by the same statement (R303). The parameter of a text
/// comes after those of its message.
static SQL: LazyLock<Sql> = LazyLock::new(|| {
    let sql = Sql::of(Message::TABLE);
    let text = COLUMNS + 1;
    let version = text + 1;
    // A message whose text another transaction is making has its own one afterwards (R302).
    let searched = format!(
        "WITH searched AS (INSERT INTO message_texts AS t \
         (company_id, created_at, message_id, search_text) \
         SELECT $1::uuid, $3::bigint, $2::uuid, ${text}::text WHERE NOT EXISTS (\
         SELECT FROM message_texts s WHERE s.company_id = $1 AND s.created_at = $3 \
         AND s.message_id = $2 AND s.search_text = ${text}) \
         ON CONFLICT (company_id, created_at, message_id) \
         DO UPDATE SET search_text = excluded.search_text), "
    );
    let update = sql
        .update
        .replace(&format!("version = ${text}"), &format!("version = ${version}"))
        .replacen("WITH ", &searched, 1);
    let insert = format!(
        "WITH searched AS (INSERT INTO message_texts \
         (company_id, created_at, message_id, search_text) VALUES ($1, $3, $2, ${text})) {}",
        sql.insert
    );
    let columns: Vec<&str> =
        Message::TABLE.columns.iter().map(|column| named("messages", column)).collect();
    let insert_many = insert_many(&Message::TABLE, &columns, "search_text", NEW);
    let update_many = update_many("messages", 2, &columns, "search_text", CHANGED);
    Sql { insert, insert_many, update, update_many, ..sql }
});

/// Writes the texts of several new messages.
const NEW: &str = ", searched AS (INSERT INTO message_texts \
(company_id, created_at, message_id, search_text) \
SELECT company_id, created_at, id, search_text FROM u)";

/// Writes the texts of several messages that have changed.
const CHANGED: &str = ", searched AS (INSERT INTO message_texts AS t \
(company_id, created_at, message_id, search_text) \
SELECT u.company_id, u.created_at, u.id, u.search_text FROM u WHERE NOT EXISTS (\
SELECT FROM message_texts s WHERE s.company_id = u.company_id AND s.created_at = u.created_at \
AND s.message_id = u.id AND s.search_text = u.search_text OFFSET 0) \
ON CONFLICT (company_id, created_at, message_id) DO UPDATE SET search_text = excluded.search_text)";

/// The text of a message as a parameter.
pub(crate) fn text(message: &Message) -> Param {
    Param::Text(Cow::Owned(message.search_text().as_str().to_owned()))
}

/// The statements of messages.
pub(crate) fn sql() -> &'static Sql {
    &SQL
}

/// Replaces a message if it has the version it was read at.
pub(crate) fn update(message: &Message, read_at: Version, sealer: &Sealer) -> CommitStep {
    let mut params = bind_sealed(message, sealer);
    params.push(text(message));
    params.push(Param::Int(signed(read_at.number())));
    CommitStep::new(&SQL.update, params, Some(message.row_key()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_columns_of_a_message_are_those_of_its_text() {
        assert_eq!(Message::TABLE.columns[..3], ["company_id", "id", "created_at"]);
        assert!(Message::TABLE.derived.is_empty());
    }
}
