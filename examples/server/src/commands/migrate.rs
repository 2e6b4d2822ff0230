//! `recado migrate`

use serde_json::json;

use super::{CommandError, output};
use crate::options::Options;
use crate::wiring;

pub(super) const HELP: &str = "\
Examples:
  recado migrate
  recado migrate --database postgres://recado@db.example.org/recado

It takes the options of `recado serve`.";

pub(super) async fn run(json: bool, options: &Options) -> Result<(), CommandError> {
    wiring::open(options, true).await?.closer.close().await;
    let database = format!("{:?}", options.database);
    match json {
        true => output::json(&json!({"database": database, "migrated": true})),
        false => output::line(format_args!("{database} has the current schema")),
    }
    Ok(())
}
