//! How messages are written, with the texts that searches look in (X17, R301).

use std::borrow::Cow;
use std::sync::LazyLock;

use recado_core::messages::Message;
use recado_core::store::{Record, Version};
use recado_store_sql::{Layout, Sealer, signed};

use crate::commit::CommitStep;
use crate::param::{Param, bind_sealed};
use crate::table::{Sql, named, update_many};

/// The number of a message's own parameters. The first three are company, id and `created_at`.
const COLUMNS: usize = Message::TABLE.columns.len();

/// Texts have a table of their own, written by the same statement (R303). The parameters of texts
/// come after those of all messages.
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
    let insert_many =
        sql.insert_many.iter().map(|(rows, insert)| (*rows, with_texts(*rows, insert)));
    let insert_many = insert_many.collect();
    let columns: Vec<&str> =
        Message::TABLE.columns.iter().map(|column| named("messages", column)).collect();
    let update_many = update_many("messages", 2, &columns, "search_text", BESIDE);
    Sql { insert: with_texts(1, &sql.insert), insert_many, update, update_many, ..sql }
});

/// Writes the texts of several messages that have changed.
const BESIDE: &str = "searched AS (INSERT INTO message_texts AS t \
(company_id, created_at, message_id, search_text) \
SELECT u.company_id, u.created_at, u.id, u.search_text FROM u WHERE NOT EXISTS (\
SELECT FROM message_texts s WHERE s.company_id = u.company_id AND s.created_at = u.created_at \
AND s.message_id = u.id AND s.search_text = u.search_text OFFSET 0) \
ON CONFLICT (company_id, created_at, message_id) DO UPDATE SET search_text = excluded.search_text), ";

/// A statement that inserts messages, with their texts.
fn with_texts(rows: usize, insert: &str) -> String {
    let row = |row: usize| {
        let at = row * COLUMNS;
        format!("(${}, ${}, ${}, ${})", at + 1, at + 3, at + 2, rows * COLUMNS + row + 1)
    };
    let texts: Vec<String> = (0..rows).map(row).collect();
    format!(
        "WITH searched AS (INSERT INTO message_texts \
         (company_id, created_at, message_id, search_text) VALUES {}) {insert}",
        texts.join(", ")
    )
}

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
    fn a_text_has_the_place_of_its_message() {
        assert_eq!(Message::TABLE.columns[..3], ["company_id", "id", "created_at"]);
        assert!(Message::TABLE.derived.is_empty());
        let two = with_texts(2, "I");
        let (second, texts) = (COLUMNS, 2 * COLUMNS);
        let rows = format!(
            "VALUES ($1, $3, $2, ${}), (${}, ${}, ${}, ${})) I",
            texts + 1,
            second + 1,
            second + 3,
            second + 2,
            texts + 2
        );
        assert!(two.ends_with(&rows), "{two}");
    }
}
