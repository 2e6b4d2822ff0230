//! Indexes that are made once all rows are there: that is faster than adding to them row by row.

use rusqlite::params;

use crate::database::Connection;
use crate::error::ReadResult;

/// The statements that make the indexes, and what the planner is to believe of all tables, which
/// SQLite forgets with an index.
pub(super) struct DroppedIndexes {
    statements: Vec<String>,
    statistics: Vec<(String, Option<String>, Option<String>)>,
}

/// Drops all indexes but those of constraints.
pub(super) fn drop_all(conn: &Connection) -> ReadResult<DroppedIndexes> {
    let statistics = conn
        .prepare("SELECT tbl, idx, stat FROM sqlite_stat1")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<ReadResult<_>>()?;
    let indexes: Vec<(String, String)> = conn
        .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<ReadResult<_>>()?;
    for (name, _) in &indexes {
        conn.execute_batch(&format!("DROP INDEX {name}"))?;
    }
    Ok(DroppedIndexes { statements: indexes.into_iter().map(|(_, sql)| sql).collect(), statistics })
}

impl DroppedIndexes {
    /// Makes the indexes as they were.
    pub(super) fn make_again(self, conn: &Connection) -> ReadResult<()> {
        for statement in &self.statements {
            conn.execute_batch(statement)?;
        }
        conn.execute("DELETE FROM sqlite_stat1", [])?;
        let mut insert =
            conn.prepare("INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?1, ?2, ?3)")?;
        for (table, index, statistic) in &self.statistics {
            insert.execute(params![table, index, statistic])?;
        }
        conn.execute_batch("ANALYZE sqlite_schema")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans;

    /// The schema and what the planner believes.
    fn all(conn: &Connection) -> Vec<(String, Option<String>)> {
        let query = "SELECT name, sql FROM sqlite_schema \
                     UNION ALL SELECT coalesce(idx, tbl), stat FROM sqlite_stat1 ORDER BY 1, 2";
        let mut statement = conn.prepare(query).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.collect::<ReadResult<_>>().unwrap()
    }

    /// R259.
    #[test]
    fn indexes_are_made_again_as_they_were() {
        let conn = plans::database();
        let before = all(&conn);
        let dropped = drop_all(&conn).unwrap();
        assert!(dropped.statements.len() > 30 && all(&conn).len() < before.len());
        dropped.make_again(&conn).unwrap();
        assert_eq!(all(&conn), before);
    }
}
