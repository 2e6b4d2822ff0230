//! Tests of the console in a real Chromium, and of what only HTTP shows of it. They run on SQLite,
//! as pages do not see the store; on both where a page hears of what others do.
//!
//! Each test has browsers with empty profiles. `RECADO_UPDATE_SCREENSHOTS=1` also writes the
//! pictures of the documentation.
//!
//! One file for each area: [`every_page`] asks of each page of the console what is asked of all,
//! and needs no change for a new page, but for the kind of a new record in its path ([`routes`]).

mod campaign;
mod checks;
mod conversation;
mod desk;
mod every_page;
mod guarded;
mod harness;
mod hostile;
mod import;
mod office;
mod pairing;
#[path = "../e2e/matrix/records.rs"]
mod records;
mod routes;
mod sign_in;
mod visitor;
mod walk;
mod webhook;
