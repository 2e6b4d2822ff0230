//! What the text of a migration says: what it is for, which tables it works on, and whether
//! programs of the schema before it can go on running (R248, R249).

use std::collections::BTreeMap;

/// A migration begins with this comment if it only expands the schema (R248): programs that know
/// the schema before it run on the one after it.
pub const EXPANDS: &str = "-- expands: ";

/// What a migration does to the rows that a table has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TableWork {
    /// Reads them, to make an index.
    Index,
    /// Writes them anew.
    Rewrite,
}

/// A table that a migration works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedTable {
    /// Its name.
    pub name: String,
    /// What is done to its rows.
    pub work: TableWork,
    /// Its size, with its indexes.
    pub bytes: u64,
}

/// A migration that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedMigration {
    /// Its number.
    pub number: u32,
    /// What it does, in a sentence.
    pub summary: String,
    /// Whether programs that know the schema before it run on.
    pub expands: bool,
    /// The tables that it works on and that have rows.
    pub tables: Vec<PlannedTable>,
}

/// What a migration of a database would do (R249).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MigrationPlan {
    /// The last migration that the database has; 0 for none.
    pub found: u32,
    /// The last one that this program knows.
    pub known: u32,
    /// What is missing, in order.
    pub pending: Vec<PlannedMigration>,
    /// The size of the database.
    pub bytes: u64,
}

/// How many bytes a second are written anew, and read for an index, at the least. Measured were 27
/// and 280 MB/s (the slower store each, two busy cores); the rest is for slower disks.
const REWRITTEN_A_SECOND: u64 = 8 << 20;
const INDEXED_A_SECOND: u64 = 30 << 20;

impl MigrationPlan {
    /// A plan for a database with these tables; `size` gives the size of a table, if it is there.
    pub fn new<'a>(
        found: u32,
        known: u32,
        pending: impl IntoIterator<Item = (u32, &'a str)>,
        bytes: u64,
        mut size: impl FnMut(&str) -> Option<u64>,
    ) -> Self {
        let planned = |(number, sql): (u32, &str)| PlannedMigration {
            number,
            summary: summary(sql),
            expands: expands(sql),
            tables: worked_on(sql)
                .into_iter()
                .filter_map(|(name, work)| {
                    let bytes = size(&name).filter(|bytes| *bytes > 0)?;
                    Some(PlannedTable { name, work, bytes })
                })
                .collect(),
        };
        Self { found, known, pending: pending.into_iter().map(planned).collect(), bytes }
    }

    fn bytes_of(&self, work: TableWork) -> u64 {
        let tables = self.pending.iter().flat_map(|migration| &migration.tables);
        tables.filter(|table| table.work == work).map(|table| table.bytes).sum()
    }

    /// How many seconds it takes at most, roughly.
    pub fn seconds(&self) -> u64 {
        let work = self.bytes_of(TableWork::Rewrite).div_ceil(REWRITTEN_A_SECOND)
            + self.bytes_of(TableWork::Index).div_ceil(INDEXED_A_SECOND);
        if self.pending.is_empty() { 0 } else { work.max(1) }
    }

    /// How much disk it needs at most while it runs. What is written anew is there three times: as
    /// it was, as it will be, and in the log. An index is at most as large as its table, and is in
    /// the log too.
    pub fn disk(&self) -> u64 {
        2 * self.bytes_of(TableWork::Rewrite) + 2 * self.bytes_of(TableWork::Index)
    }
}

/// Whether programs that know the schema before it run on (R248).
pub fn expands(sql: &str) -> bool {
    sql.starts_with(EXPANDS)
}

/// The first sentence of the comment that a migration begins with, else what it works on.
pub fn summary(sql: &str) -> String {
    let lines = sql.lines().map_while(|line| line.trim().strip_prefix("--"));
    let comment = lines.map(str::trim).collect::<Vec<_>>().join(" ");
    let comment = comment.strip_prefix(EXPANDS.trim_start_matches('-').trim()).unwrap_or(&comment);
    let first = comment.trim().split(". ").next().unwrap_or_default().trim_end_matches('.');
    if !first.is_empty() {
        return first.to_owned();
    }
    let mut tables: Vec<String> = worked_on(sql).into_keys().collect();
    tables.extend(made(sql));
    tables.dedup();
    format!("tables: {}", tables.join(", "))
}

/// The tables whose rows a migration works on, with the most that it does to each.
pub fn worked_on(sql: &str) -> BTreeMap<String, TableWork> {
    let mut found: BTreeMap<String, TableWork> = BTreeMap::new();
    let mut add = |name: &str, work| {
        let known = found.entry(name.to_ascii_lowercase()).or_insert(work);
        *known = (*known).max(work);
    };
    for words in statements(sql) {
        let upper: Vec<String> = words.iter().map(|word| word.to_ascii_uppercase()).collect();
        let upper: Vec<&str> = upper.iter().map(String::as_str).collect();
        let after = |word: &str| {
            let at = upper.iter().position(|known| *known == word)?;
            words.get(at + 1).copied()
        };
        match upper.as_slice() {
            ["UPDATE", ..] => add(words[1], TableWork::Rewrite),
            ["DELETE", "FROM", ..] => add(words[2], TableWork::Rewrite),
            // What is copied has the size of what it is copied from.
            ["INSERT", "INTO", ..] => {
                if let Some(from) = after("FROM") {
                    add(from, TableWork::Rewrite);
                }
            }
            ["CREATE", "INDEX", ..] | ["CREATE", "UNIQUE", "INDEX", ..] => {
                if let Some(of) = after("ON") {
                    add(of, TableWork::Index);
                }
            }
            ["ALTER", "TABLE", ..] if upper.contains(&"TYPE") || drops_column(&upper) => {
                add(words[2], TableWork::Rewrite);
            }
            ["ALTER", "TABLE", ..] if upper.contains(&"PRIMARY") || upper.contains(&"UNIQUE") => {
                add(words[2], TableWork::Index);
            }
            _ => {}
        }
    }
    found
}

/// Whether a change of a table drops a column. A constraint, a default and the demand of a value
/// are dropped without a look at the rows.
fn drops_column(words: &[&str]) -> bool {
    let others = ["CONSTRAINT", "DEFAULT", "NOT"];
    words.windows(2).any(|pair| matches!(pair, ["DROP", what] if !others.contains(what)))
}

/// What a column that an expansion adds may not be. Values of the last ones are made by the
/// database, also for the rows that are there, so the table is written anew.
const REFUSED_OF_COLUMNS: [&str; 15] = [
    "DROP",
    "RENAME",
    "TYPE",
    "UNIQUE",
    "PRIMARY",
    "CHECK",
    "REFERENCES",
    "GENERATED",
    "AS",
    "SERIAL",
    "SMALLSERIAL",
    "BIGSERIAL",
    "SERIAL2",
    "SERIAL4",
    "SERIAL8",
];

/// The first statement that a migration which expands the schema may not hold (R248), by its first
/// words. It may make tables and indexes, and add columns that may be null or have a default.
///
/// R248.
pub fn forbidden_in_expansion(sql: &str) -> Option<String> {
    let added = added_without_default(sql);
    statements(sql).into_iter().find_map(|words| {
        let upper: Vec<String> = words.iter().map(|word| word.to_ascii_uppercase()).collect();
        let upper: Vec<&str> = upper.iter().map(String::as_str).collect();
        let has = |word: &str| upper.contains(&word);
        let allowed = match upper.as_slice() {
            ["CREATE", "TABLE" | "INDEX", ..] => true,
            // It could refuse what programs of the schema before it write, unless they leave its
            // columns null.
            ["CREATE", "UNIQUE", "INDEX", _, "ON", table, columns @ ..] => {
                let mut columns = columns.iter().take_while(|word| **word != "WHERE").peekable();
                let is_added = |of: &&str| {
                    added.iter().any(|(table_of, column)| table_of == table && column == of)
                };
                columns.peek().is_some() && columns.all(is_added)
            }
            ["ALTER", "TABLE", _, "ADD", "COLUMN", ..] => {
                !REFUSED_OF_COLUMNS.iter().any(|word| has(word)) && (!has("NOT") || has("DEFAULT"))
            }
            // Of SQLite: what its planner knows.
            ["INSERT", "INTO", "SQLITE_STAT1", ..] | ["ANALYZE", ..] => true,
            _ => false,
        };
        (!allowed).then(|| words.iter().take(4).copied().collect::<Vec<_>>().join(" "))
    })
}

/// The columns that a migration adds without a default, each with its table, in capitals: programs
/// that do not know them leave them null.
fn added_without_default(sql: &str) -> Vec<(String, String)> {
    let added = statements(sql).into_iter().filter_map(|words| {
        let words: Vec<String> = words.iter().map(|word| word.to_ascii_uppercase()).collect();
        match words.as_slice() {
            [alter, table, of, add, column, name, rest @ ..]
                if [alter, table, add, column] == ["ALTER", "TABLE", "ADD", "COLUMN"]
                    && !rest.iter().any(|word| word == "DEFAULT") =>
            {
                Some((of.clone(), name.clone()))
            }
            _ => None,
        }
    });
    added.collect()
}

/// The tables that a migration makes.
fn made(sql: &str) -> Vec<String> {
    let made = statements(sql).into_iter().filter_map(|words| match words.as_slice() {
        [create, table, name, ..]
            if create.eq_ignore_ascii_case("CREATE") && table.eq_ignore_ascii_case("TABLE") =>
        {
            Some((*name).to_owned())
        }
        _ => None,
    });
    made.collect()
}

/// The words of each statement, without comments and texts. What a function or trigger does later
/// is left out.
fn statements(sql: &str) -> Vec<Vec<&str>> {
    let (mut all, mut words) = (Vec::new(), Vec::new());
    let mut rest = sql;
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    while let Some(first) = rest.chars().next() {
        let skip =
            |mark: &str| rest[mark.len()..].find(mark).map_or(rest.len(), |at| at + 2 * mark.len());
        let length = if rest.starts_with("--") {
            rest.find('\n').unwrap_or(rest.len())
        } else if first == '\'' {
            skip("'")
        } else if rest.starts_with("$$") {
            skip("$$")
        } else if is_word(first) {
            let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            words.push(&rest[..length]);
            length
        } else {
            // A trigger of SQLite holds statements of its own, and ends with END.
            let is = |at: usize, word: &str| {
                words.get(at).is_some_and(|known: &&str| known.eq_ignore_ascii_case(word))
            };
            let within = is(0, "CREATE")
                && (is(1, "TRIGGER") || is(2, "TRIGGER"))
                && words.iter().any(|word| word.eq_ignore_ascii_case("BEGIN"))
                && !words.last().is_some_and(|word| word.eq_ignore_ascii_case("END"));
            if first == ';' && !within && !words.is_empty() {
                all.push(std::mem::take(&mut words));
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    if !words.is_empty() {
        all.push(words);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQL: &str = "-- What is counted; of each. And more.\n\
        CREATE TABLE n (a int);\nUPDATE a SET x = 'UPDATE z; ';\n\
        CREATE TRIGGER t AFTER DELETE ON q BEGIN\n DELETE FROM r; UPDATE s SET x = 1; END;\n\
        CREATE FUNCTION f() AS $$ UPDATE y; $$;\nCREATE UNIQUE INDEX i ON b (c) WHERE d;\n\
        INSERT INTO n SELECT * FROM c;\nINSERT INTO n VALUES (1);\nALTER TABLE d ADD COLUMN x int;\n\
        CREATE INDEX j ON a (x);\nDELETE FROM e;\nALTER TABLE f DROP CONSTRAINT k;\n\
        ALTER TABLE g DROP CONSTRAINT k, ADD PRIMARY KEY (x);\nALTER TABLE h DROP COLUMN x;\n\
        ALTER TABLE l ALTER COLUMN x DROP NOT NULL;";

    /// R249.
    #[test]
    fn the_tables_that_a_migration_works_on_are_read_from_it() {
        let found: Vec<_> = worked_on(SQL).into_iter().collect();
        let named = |name: &str, work| (name.to_owned(), work);
        assert_eq!(
            found,
            [
                named("a", TableWork::Rewrite),
                named("b", TableWork::Index),
                named("c", TableWork::Rewrite),
                named("e", TableWork::Rewrite),
                named("g", TableWork::Index),
                named("h", TableWork::Rewrite),
            ]
        );
        assert_eq!(summary(SQL), "What is counted; of each");
        assert_eq!(summary("CREATE TABLE n (a int);"), "tables: n");
    }

    /// R248.
    #[test]
    fn a_migration_that_expands_says_so_first() {
        let sql = "-- expands: a column for notes. More.\nALTER TABLE a ADD COLUMN n text;";
        assert!(expands(sql) && !expands(SQL) && !expands("\n-- expands: x"));
        assert_eq!(summary(sql), "a column for notes");
    }

    /// R248.
    #[test]
    fn an_expansion_takes_nothing_away_and_demands_nothing_new() {
        for sql in [
            "CREATE TABLE a (x int NOT NULL UNIQUE);",
            "CREATE INDEX i ON a (x); ALTER TABLE a ADD COLUMN y text;",
            "ALTER TABLE a ADD COLUMN y int NOT NULL DEFAULT 0;",
            "ALTER TABLE a ADD COLUMN b bytea; CREATE UNIQUE INDEX c ON a (b) WHERE b IS NOT NULL",
            "ALTER TABLE a ADD COLUMN b int; ALTER TABLE a ADD COLUMN c int; \
             CREATE UNIQUE INDEX d ON A (b, c)",
        ] {
            assert_eq!(forbidden_in_expansion(sql), None, "{sql}");
        }
        for sql in [
            "DROP TABLE a;",
            "ALTER TABLE a DROP COLUMN y;",
            "ALTER TABLE a RENAME COLUMN x TO y;",
            "ALTER TABLE a ADD COLUMN y int NOT NULL;",
            "ALTER TABLE a ADD COLUMN y int CHECK (y > 0);",
            "CREATE UNIQUE INDEX i ON a (x);",
            "UPDATE a SET x = 1;",
            "CREATE TABLE b (x int); DELETE FROM a;",
            "ALTER TABLE a ADD COLUMN b text DEFAULT 'x'; CREATE UNIQUE INDEX c ON a (b)",
            "ALTER TABLE a ADD COLUMN b bytea; CREATE UNIQUE INDEX c ON a (b, d)",
            "ALTER TABLE a ADD COLUMN y int PRIMARY KEY;",
        ] {
            assert!(forbidden_in_expansion(sql).is_some(), "{sql}");
        }
    }

    /// R248: what older programs write to the other table has values in that column.
    #[test]
    fn a_unique_index_is_over_added_columns_of_its_own_table() {
        let adds = "ALTER TABLE a ADD COLUMN b bytea;";
        let of = |table: &str| format!("{adds} CREATE UNIQUE INDEX c ON {table} (b)");
        assert_eq!(forbidden_in_expansion(&of("a")), None);
        assert_eq!(forbidden_in_expansion(&of("z")).as_deref(), Some("CREATE UNIQUE INDEX c"));
    }

    /// R248: what older programs write has the default, and the second such row would be refused.
    #[test]
    fn a_unique_index_is_over_columns_that_were_added_without_a_default() {
        for default in ["DEFAULT 0", "NOT NULL DEFAULT ''"] {
            let sql = format!(
                "ALTER TABLE a ADD COLUMN b text {default}; ALTER TABLE z ADD COLUMN b text; \
                 CREATE UNIQUE INDEX c ON a (b)"
            );
            let refused = forbidden_in_expansion(&sql);
            assert_eq!(refused.as_deref(), Some("CREATE UNIQUE INDEX c"), "{sql}");
        }
    }

    /// R248: the database fills such a column for the rows that are there.
    #[test]
    fn an_expansion_adds_no_column_whose_values_the_database_makes() {
        for column in [
            "int GENERATED ALWAYS AS (x + 1) STORED",
            "int GENERATED BY DEFAULT AS IDENTITY",
            "int AS (x + 1)",
            "serial",
            "SERIAL",
            "bigserial",
            "smallserial",
            "serial8",
        ] {
            let sql = format!("ALTER TABLE a ADD COLUMN y {column};");
            assert!(forbidden_in_expansion(&sql).is_some(), "{sql}");
            let unique = format!("{sql} CREATE UNIQUE INDEX c ON a (y)");
            assert!(forbidden_in_expansion(&unique).is_some(), "{unique}");
        }
    }

    /// R249.
    #[test]
    fn time_and_disk_follow_from_the_sizes_of_the_tables() {
        let size = |name: &str| Some(if name == "a" { 80 << 20 } else { 0 });
        let plan = MigrationPlan::new(1, 2, [(2, SQL)], 100 << 20, size);
        assert_eq!(plan.pending[0].tables.len(), 1);
        assert_eq!((plan.seconds(), plan.disk()), (10, 160 << 20));
        let nothing = MigrationPlan::new(2, 2, [], 100 << 20, size);
        assert_eq!((nothing.seconds(), nothing.disk()), (0, 0));
    }
}
