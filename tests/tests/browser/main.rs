//! Tests of the console in a real Chromium, on both stores.
//!
//! Each test has a browser with an empty profile. `RECADO_UPDATE_SCREENSHOTS=1` also writes the
//! pictures of the documentation.

mod checks;
mod harness;
