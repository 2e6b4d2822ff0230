//! `recado migrate`

use std::path::Path;

use clap::Args;
use recado_core::deliveries::Shards;
use recado_store_sqlite::{MigrationPlan, PlannedMigration, TableWork};
use serde_json::{Value, json};

use super::{CommandError, output};
use crate::options::{DatabaseLocation, Options};
use crate::wiring;

/// What is shown after the options.
pub(super) const HELP: &str = "\
Examples:
  recado migrate --check --database sqlite:recado.db
  recado migrate
  recado migrate --database postgres://recado@db.example.org/recado
  recado migrate --database postgres://recado@db.example.org/recado --shards 256

It takes the options of `recado serve`.";

/// What `migrate` takes.
#[derive(Debug, Args)]
pub struct MigrateArgs {
    /// Says what would be done, how long it takes and how much disk it needs; writes nothing
    #[arg(long)]
    check: bool,

    /// How many shards a new Postgres has, for many processes: 64, 128, 256, 512 or 1024 (R464)
    #[arg(long, value_name = "NUMBER", value_parser = shards, conflicts_with = "check")]
    shards: Option<Shards>,
}

fn shards(text: &str) -> Result<Shards, &'static str> {
    let count = text.parse().ok().and_then(Shards::new);
    count.ok_or("must be 64, 128, 256, 512 or 1024")
}

pub(super) async fn run(
    json: bool,
    options: &Options,
    args: MigrateArgs,
) -> Result<(), CommandError> {
    if args.check {
        let plan = wiring::migration_plan(options).await?;
        let free = match &options.database {
            DatabaseLocation::Sqlite(path) => free_disk(path),
            DatabaseLocation::Postgres(_) => None,
        };
        show(options, plan, free, json);
        return Ok(());
    }
    let is_file = matches!(options.database, DatabaseLocation::Sqlite(_));
    if is_file && args.shards.is_some_and(|shards| shards != Shards::USUAL) {
        return Err(CommandError::Usage(
            "--shards is for a Postgres that many processes will share: a SQLite file has 64"
                .to_owned(),
        ));
    }
    let shards = wiring::migrate(options, args.shards).await?.count();
    let database = format!("{:?}", options.database);
    match json {
        true => output::json(&json!({"database": database, "migrated": true, "shards": shards})),
        false => {
            output::line(format_args!("{database} has the current schema and {shards} shards"));
        }
    }
    Ok(())
}

fn show(options: &Options, plan: Option<MigrationPlan>, free: Option<u64>, json: bool) {
    let database = format!("{:?}", options.database);
    if json {
        return output::json(&as_json(&database, plan.as_ref(), free));
    }
    for line in lines(&database, plan.as_ref(), free) {
        output::line(line);
    }
}

/// What `--check --json` prints.
fn as_json(database: &str, plan: Option<&MigrationPlan>, free: Option<u64>) -> Value {
    let Some(plan) = plan else {
        return json!({ "database": database, "exists": false, "up_to_date": false });
    };
    let table = |of: &PlannedMigration| -> Vec<Value> {
        let tables = of.tables.iter().map(
            |table| json!({ "name": table.name, "bytes": table.bytes, "work": work(table.work) }),
        );
        tables.collect()
    };
    let migrations: Vec<Value> = plan
        .pending
        .iter()
        .map(|one| {
            json!({
                "number": one.number, "summary": one.summary, "expands": one.expands,
                "tables": table(one),
            })
        })
        .collect();
    json!({
        "database": database, "exists": true, "up_to_date": plan.pending.is_empty(),
        "found": plan.found, "newest": plan.known, "migrations": migrations,
        "bytes": plan.bytes, "seconds": plan.seconds(), "disk_needed": plan.disk(),
        "disk_free": free, "stop_older_processes": stops_older(plan),
    })
}

/// Whether processes of the release before have to be stopped before it (R248, R373).
fn stops_older(plan: &MigrationPlan) -> bool {
    plan.pending.iter().any(|one| !one.expands)
}

/// What `--check` prints (R249).
fn lines(database: &str, plan: Option<&MigrationPlan>, free: Option<u64>) -> Vec<String> {
    let Some(plan) = plan else {
        return vec![format!("{database} does not exist: `recado migrate` would make it")];
    };
    if plan.pending.is_empty() {
        return vec![format!("nothing to do: {database} has migration {}", plan.found)];
    }
    let (count, found, known) = (plan.pending.len(), plan.found, plan.known);
    let mut lines = vec![format!("{count} to apply: {database} has migration {found} of {known}")];
    for one in &plan.pending {
        let kind = if one.expands { ", expands" } else { ", needs older processes stopped" };
        lines.push(format!("  {:>4}  {}{kind}", one.number, one.summary));
        for table in &one.tables {
            lines.push(format!(
                "        {} {} ({})",
                work(table.work),
                table.name,
                size(table.bytes)
            ));
        }
    }
    lines.push(format!(
        "time: up to about {} s; the database has {}",
        plan.seconds(),
        size(plan.bytes)
    ));
    let free = free
        .map_or("; look at the server's".to_owned(), |free| format!(", {} is free", size(free)));
    lines.push(format!("disk: up to about {} while it runs{free}", size(plan.disk())));
    if stops_older(plan) {
        lines.push(
            "processes of the release before cannot run on it afterwards: stop them first".into(),
        );
    }
    lines
}

const fn work(work: TableWork) -> &'static str {
    match work {
        TableWork::Index => "indexes",
        TableWork::Rewrite => "rewrites",
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_048_576 => format!("{} KiB", bytes.div_ceil(1024)),
        1_048_576..1_073_741_824 => format!("{} MiB", bytes.div_ceil(1 << 20)),
        _ => format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)),
    }
}

/// What is free on the disk of a file; `None` where that is not known.
fn free_disk(path: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let disk = rustix::fs::statvfs(folder.unwrap_or(Path::new("."))).ok()?;
        disk.f_bavail.checked_mul(disk.f_frsize)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(sql: &'static str) -> MigrationPlan {
        MigrationPlan::new(3, 4, [(4, sql)], 20 << 20, |_| Some(10 << 20))
    }

    /// R249.
    #[test]
    fn a_check_says_what_how_long_and_how_much() {
        let plan = plan("-- Counts clicks. More.\nUPDATE links SET clicks = 0;");
        let lines = lines("db", Some(&plan), Some(3 << 30)).join("\n");
        for part in [
            "1 to apply",
            "3 of 4",
            "Counts clicks, needs older processes stopped",
            "rewrites links (10 MiB)",
            "2 s",
            "20 MiB while it runs",
            "3.0 GiB is free",
            "stop them first",
        ] {
            assert!(lines.contains(part), "{part}: {lines}");
        }
        let json = as_json("db", Some(&plan), None);
        assert_eq!((&json["up_to_date"], &json["seconds"]), (&json!(false), &json!(2)));
        assert_eq!(json["migrations"][0]["tables"][0]["name"], "links");
        assert_eq!(json["stop_older_processes"], true);
    }

    /// R248, R249.
    #[test]
    fn an_expansion_is_no_reason_to_stop_anything() {
        let plan = plan("-- expands: notes\nALTER TABLE links ADD COLUMN note text;");
        let lines = lines("db", Some(&plan), None).join("\n");
        assert!(lines.contains("notes, expands") && !lines.contains("stop"), "{lines}");
        assert_eq!(as_json("db", Some(&plan), None)["stop_older_processes"], false);
    }

    /// R249.
    #[test]
    fn nothing_to_do_and_nothing_there_are_said() {
        let nothing = MigrationPlan::new(4, 4, [], 1, |_| None);
        assert_eq!(lines("db", Some(&nothing), None), ["nothing to do: db has migration 4"]);
        assert!(lines("db", None, None)[0].contains("would make it"));
        assert_eq!(as_json("db", None, None)["exists"], false);
    }
}
